// Our own CPU kernels for quantised weights as an arm, "tare-grouped" (docs/kernels/grouped.md):
// with bf16 activations, and with activations that are rounded to 8 bits; with or without a bias.
//
// TARE_CPU_ISA=portable|avx2|avx512|avx512bf16 makes it run that path; unset, it runs the one that
// is fastest here. All paths give the same bits.
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "arm_table.h"
#include "kernels/cpu/paths.h"
#include "kernels/grouped_packing.h"
#include "kernels/grouped_projection.h"
#include "kernels/identity.h"

namespace {

using tare::kernels::Bf16;
using tare::kernels::GroupedPath;
using tare::kernels::GroupedProjection;
using tare::kernels::GroupedShape;
using tare::kernels::ThreadPool;

// What open() makes and every executor uses; the ABI has no place to hand it from call to call.
struct Opened {
  tare::kernels::Memory memory;
  const GroupedPath* grouped = nullptr;
  const GroupedPath* rounded = nullptr;
  std::unique_ptr<ThreadPool> pool;
};
Opened& opened() {
  static Opened state;
  return state;
}

}  // namespace

struct tare_executor {
  GroupedProjection projection;

  void bind(std::uint32_t slot, const void* weights) { projection.bind(slot, weights); }

  void set_rows(std::uint32_t rows) { projection.set_rows(rows); }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    projection.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
    return true;
  }

  bool fence() noexcept { return true; }  // enqueue returns when y is written

  void describe(tare_dispatch_record& record) const {
    const GroupedPath& path = projection.path();
    const GroupedShape& shape = projection.shape();
    const std::string configuration =
        fmt::format("packed [n/64][k/{}]: scales{}, {}-bit codes [{}][64][2]{}; tile {}",
                    2 * shape.group_pairs, shape.biased ? ", biases" : "", shape.bits,
                    shape.group_pairs, shape.bias == 0 ? "" : "; bias", path.tile);
    tare::modules::fill(record,
                        {fmt::format("tare-grouped:{}", path.name), path.isa, configuration,
                         tare::kernels::library_text(TARE_VERSION)},
                        projection.threads());
  }
};

namespace {

using tare::Blame;
using tare::fail;
using tare::modules::fenced;

int open(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    const char* named = std::getenv("TARE_CPU_ISA");
    const std::string wanted = named == nullptr ? "" : named;
    Opened& state = opened();
    state.memory = {.allocate = services->allocate, .release = services->release};
    state.grouped = &tare::kernels::choose_grouped_path(wanted);
    state.rounded = &tare::kernels::choose_rounded_path(wanted);
    if (state.pool == nullptr)
      state.pool = std::make_unique<ThreadPool>(services->threads, ThreadPool::Placement::kPinned);
  });
}

void require_supported(const tare_problem& problem) {
  constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
  tare::modules::require_common(problem, "tare_grouped", kNoLimit, tare::modules::kAnyBias);
  if (tare::kernels::is_grouped(problem.weights, problem.activations)) return;
  fail(Blame::kArm, "the tare_grouped module does not know {} weights with {} activations",
       tare::modules::type_name(problem.weights), tare::modules::type_name(problem.activations));
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_supported(*problem); });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    const Opened& state = opened();
    const GroupedShape shape = tare::kernels::grouped_shape(problem->weights, problem->activations,
                                                            problem->k, problem->n, problem->bias);
    *executor = new tare_executor{GroupedProjection(
        problem->weights, shape, problem->rows, slots,
        shape.rounds_x ? *state.rounded : *state.grouped, *state.pool, state.memory)};
  });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm grouped = tare::modules::arm_table<tare_executor>(
      {0u, "tare-grouped", "Tare grouped", TARE_VERSION}, {open, supports, prepare});
  return index == 0 ? &grouped : nullptr;
}
