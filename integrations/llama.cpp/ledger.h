// What was served, what was left to ggml and why, and what packing cost: what a person reads at the
// end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "tare/arm.h"

namespace tare::llama {

// "q8_0 640x262144, 1 row".
std::string text_of(const tare_problem& problem);

// Thread safe.
class Ledger {
 public:
  // One product was computed. Counts, and leaves words for the end: it is called a hundred times a
  // token.
  void served(const tare_problem& problem);
  // ggml asked whether a product would be taken, and it was not. It asks several times a graph, so
  // matrices are counted, not questions; ggml does not tell what it runs itself.
  void left(const std::string& matrix, const std::string& what, const std::string& why);
  void packed(std::uint64_t file_bytes, std::uint64_t packed_bytes, double seconds);
  // A matrix of which some row counts are left was put into a layout of ggml's own, too.
  void laid_out_for_ggml(std::uint64_t bytes, double seconds);

  // One line, and with `details` one for each kind of product. '\n' at the end of each.
  std::string text(bool details) const;

 private:
  struct Kind {
    std::string what, why;
    auto operator<=>(const Kind&) const = default;
  };
  mutable std::mutex mutex_;
  using Shape = std::array<std::uint64_t, 4>;  // type, k, n, rows
  std::map<Shape, std::uint64_t> served_;
  std::map<Kind, std::set<std::string>> left_;
  std::uint64_t products_ = 0;
  std::uint64_t matrices_ = 0, file_bytes_ = 0, packed_bytes_ = 0;
  std::uint64_t ggml_matrices_ = 0, ggml_bytes_ = 0;
  double seconds_ = 0, ggml_seconds_ = 0;
};

}  // namespace tare::llama
