#include "ledger.h"

#include <fmt/format.h>

#include "formats/weight_format.h"

namespace tare::llama {

std::string text_of(const tare_problem& problem) {
  return fmt::format("{} {}x{}, {} row{}", formats::type_name(problem.weights), problem.k,
                     problem.n, problem.rows, problem.rows == 1 ? "" : "s");
}

void Ledger::served(const tare_problem& problem) {
  const std::lock_guard lock(mutex_);
  ++products_;
  ++served_[{problem.weights, problem.k, problem.n, problem.rows}];
}

void Ledger::left(const std::string& matrix, const std::string& what, const std::string& why) {
  const std::lock_guard lock(mutex_);
  left_[{what, why}].insert(matrix);
}

void Ledger::packed(std::uint64_t file_bytes, std::uint64_t packed_bytes, double seconds) {
  const std::lock_guard lock(mutex_);
  ++matrices_;
  file_bytes_ += file_bytes;
  packed_bytes_ += packed_bytes;
  seconds_ += seconds;
}

void Ledger::laid_out_for_ggml(std::uint64_t bytes, double seconds) {
  const std::lock_guard lock(mutex_);
  ++ggml_matrices_;
  ggml_bytes_ += bytes;
  ggml_seconds_ += seconds;
}

std::string Ledger::text(bool details) const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format(
      "tare: {} products served; {} matrices packed beside the model's: {:.1f} MB for {:.1f} MB, "
      "{:.2f} s\n",
      products_, matrices_, static_cast<double>(packed_bytes_) / 1e6,
      static_cast<double>(file_bytes_) / 1e6, seconds_);
  if (ggml_matrices_ > 0)
    text += fmt::format(
        "tare: {} matrices also in ggml's own layout, for the row counts that are left: {:.1f} MB, "
        "{:.2f} s\n",
        ggml_matrices_, static_cast<double>(ggml_bytes_) / 1e6, ggml_seconds_);
  if (!details) return text;
  for (const auto& [shape, count] : served_) {
    const auto& [type, k, n, rows] = shape;
    const tare_problem problem{.k = k,
                               .n = n,
                               .rows = static_cast<std::uint32_t>(rows),
                               .weights = static_cast<std::uint32_t>(type),
                               .activations = 0,
                               .output = 0,
                               .accumulator = 0,
                               .bias = 0};
    text += fmt::format("tare:   served {} times: {}\n", count, text_of(problem));
  }
  for (const auto& [kind, matrices] : left_)
    text += fmt::format("tare:   left {} matrices: {}: {}\n", matrices.size(), kind.what, kind.why);
  return text;
}

}  // namespace tare::llama
