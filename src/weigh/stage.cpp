#include "weigh/stage.h"

#include <algorithm>
#include <vector>

#include "formats/weight_format.h"
#include "prove/compare.h"

namespace tare::weigh {
namespace {

constexpr std::uint32_t kInputs = 8;       // distinct activations that the slots share
constexpr std::uint32_t kMostOutputs = 8;  // outputs kept of a region, for checking
constexpr std::uint64_t kMostOutputBytes =
    64 << 20;  // fewer are kept of outputs larger than this together
constexpr std::uint64_t kPage = 4096;

std::uint64_t input_stride(const tare_problem& problem) {
  const std::uint64_t bytes = problem.rows * problem.k * formats::value_bytes(problem.activations);
  return (bytes + kPage - 1) / kPage * kPage;
}

std::uint64_t output_bytes(const tare_problem& problem) {
  return problem.rows * problem.n * formats::value_bytes(problem.output);
}

std::uint32_t output_count(const tare_problem& problem) {
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostOutputBytes / output_bytes(problem), 1, kMostOutputs));
}

// The outputs, and after them the last one as it was when a region ended.
prove::GuardedArea layout_of(const tare_problem& problem) {
  return prove::GuardedArea(
      std::vector<std::size_t>(output_count(problem) + 1, output_bytes(problem)));
}

template <typename Size>
std::uint64_t most(std::span<const tare_problem> problems, Size&& size) {
  std::uint64_t bytes = kPage;
  for (const tare_problem& problem : problems)
    bytes = std::max<std::uint64_t>(bytes, size(problem));
  return bytes;
}

}  // namespace

Stage::Stage(std::span<const tare_problem> problems)
    : inputs_(arms::SharedMemory::create(
          "tare-inputs",
          kInputs * most(problems, [](const tare_problem& p) { return input_stride(p); }))),
      outputs_(arms::SharedMemory::create("tare-outputs", most(problems, [](const tare_problem& p) {
                                            return layout_of(p).total_bytes();
                                          }))) {
  inputs_.forbid_new_writers();
}

void Stage::set_problem(const tare_problem& problem, std::uint64_t seed) {
  lay_out(problem);
  fill_inputs(seed);
}

void Stage::lay_out(const tare_problem& problem) {
  problem_ = problem;
  output_count_ = output_count(problem);
  layout_ = layout_of(problem);
  layout_.write_guards(output_area());
}

void Stage::fill_inputs(std::uint64_t seed) {
  for (std::uint32_t i = 0; i < kInputs; ++i) prove::fill_activations(seed, i, writable_input(i));
}

std::uint64_t Stage::input_of(std::uint64_t slot) {
  return slot % kInputs;
}

prove::ConstElements Stage::input(std::uint64_t slot) const {
  return {problem_.activations,
          static_cast<const std::byte*>(inputs_.data()) + input_of(slot) * input_stride(problem_),
          problem_.rows * problem_.k};
}

prove::Elements Stage::writable_input(std::uint64_t slot) {
  const prove::ConstElements x = input(slot);
  return {x.type(), const_cast<std::byte*>(x.data()), x.size()};
}

prove::Elements Stage::output(std::uint32_t index) {
  return {problem_.output, layout_.output(output_area(), index).data(), problem_.rows * problem_.n};
}

prove::Elements Stage::kept_output() {
  return output(output_count_);
}

arms::RegionRequest Stage::addresses() const {
  arms::RegionRequest request;
  request.inputs = kInputs;
  request.input_stride = input_stride(problem_);
  request.outputs = output_count_;
  request.output_offset = layout_.offset(0);
  request.output_stride = layout_.offset(1) - layout_.offset(0);
  request.y_bytes = output_bytes(problem_);
  request.kept_offset = layout_.offset(output_count_);
  request.input_bytes = kInputs * request.input_stride;
  request.output_bytes = layout_.total_bytes();
  request.device_flags = device_flags_;
  return request;
}

void Stage::spoil_outputs() {
  ++spoiled_;
  for (std::uint32_t i = 0; i <= output_count_; ++i) {
    const auto y = output(i);
    prove::poison(y.subspan((spoiled_ * 977) % y.size(), 1), static_cast<int>(spoiled_ % 2));
  }
}

std::optional<std::string> Stage::take_breach() {
  const auto breach = layout_.check_guards(output_area());
  if (!breach) return std::nullopt;
  layout_.write_guards(output_area());
  return prove::to_string(*breach);
}

std::span<std::byte> Stage::output_area() const {
  return {static_cast<std::byte*>(outputs_.data()), outputs_.size()};
}

}  // namespace tare::weigh
