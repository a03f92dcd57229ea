// cuBLASLt as two arms: "cublaslt" runs the first algorithm that its heuristic offers, as most
// programs do; "cublaslt-best" the fastest of an exhaustive search (cublaslt_search.h), which is
// the incumbent worth beating.
#include <cublasLt.h>

#include <memory>
#include <optional>
#include <string>

#include "cublaslt_search.h"
#include "device_arm_table.h"
#include "device_executor.h"

namespace {

using tare::modules::CublasLtChoice;
using tare::modules::CublasLtProblem;
using tare::modules::DeviceDispatch;
using tare::modules::DeviceMemory;
using tare::modules::require;

enum class Pick { kHeuristic, kFastest };

constexpr std::size_t kAlignment = 256;  // bytes, of every slot: what cuBLASLt takes for granted

}  // namespace

struct tare_executor final : tare::modules::DeviceExecutor {
  tare_executor(const tare_problem& problem, std::uint32_t slots, Pick pick_)
      : DeviceExecutor(problem),
        pick(pick_),
        bytes(tare::formats::layout_of(problem).total_bytes),
        slot_bytes((bytes + kAlignment - 1) / kAlignment * kAlignment),
        ring(slots * slot_bytes),
        workspace(tare::modules::kCublasLtWorkspace) {
    set_rows(problem.rows);
  }

  void bind(std::uint32_t slot, const void* weights) const {
    require(cudaMemcpy(ring.data() + slot * slot_bytes, weights, bytes, cudaMemcpyHostToDevice),
            "copying weights to the device");
  }

  void set_rows(std::uint32_t rows) {
    problem_.rows = rows;
    lt = std::make_unique<CublasLtProblem>(problem_);
    choice = pick == Pick::kFastest ? tare::modules::fastest_choice(problem_)
                                    : tare::modules::heuristic_choice(*lt);
  }

  void describe(tare_dispatch_record& record) const {
    const std::string how =
        pick == Pick::kHeuristic
            ? std::string("the heuristic's first")
            : fmt::format("best of {} timed: {:.3g} us, the heuristic's first {:.3g} us",
                          choice.timed, 1e6 * choice.seconds, 1e6 * choice.heuristic_seconds);
    tare::modules::fill(record,
                        {choice.words, isa_of(tare::modules::opened_device()), how,
                         "cuBLASLt " + tare::modules::cublaslt_version()},
                        0U);
  }

  // cuBLASLt starts its kernels as it does: nothing of programmatic launches can be asked of it.
  void record(std::span<const DeviceDispatch> dispatches, bool, cudaStream_t stream) override {
    for (const DeviceDispatch& dispatch : dispatches)
      require(lt->run(choice.algorithm, ring.data() + dispatch.slot * slot_bytes, dispatch.x,
                      dispatch.y, workspace.data(), stream),
              "cublasLtMatmul");
  }

  Pick pick;
  std::size_t bytes, slot_bytes;  // of weights, and what lies behind them
  DeviceMemory ring, workspace;
  std::unique_ptr<CublasLtProblem> lt;
  CublasLtChoice choice;
};

namespace {

using tare::modules::fenced;

int open_library(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    tare::modules::cublaslt();
    tare::modules::open_device([] { return cudaSuccess; });
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    tare::modules::require_bf16(*problem, "cuBLASLt", std::uint64_t{1} << 31U, {TARE_BF16});
    // 257x67 with 8 rows on an H200: outputs up to 0.52 of a step off, so rounded twice.
    if (problem->bias != 0 && (problem->k % 8 != 0 || problem->n % 8 != 0))
      tare::fail(tare::Blame::kArm,
                 "cuBLASLt rounds before it adds a bias where k or n is no multiple of 8, as of "
                 "{}x{}: another problem than a sum rounded once",
                 problem->k, problem->n);
    tare::modules::heuristic_choice(CublasLtProblem(*problem));
  });
}

template <Pick kPick>
int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(*problem, slots, kPick); });
}

const char* version() {
  static const std::string text = [] {
    try {
      return tare::modules::cublaslt_version();
    } catch (const std::exception&) {
      return std::string();
    }
  }();
  return text.c_str();
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  using tare::modules::device_arm_table;
  static const tare_device_arm first = device_arm_table<tare_executor>(
      {0U, "cublaslt", "cuBLASLt", version()}, {open_library, supports, prepare<Pick::kHeuristic>});
  static const tare_device_arm best =
      device_arm_table<tare_executor>({0U, "cublaslt-best", "cuBLASLt best", version()},
                                      {open_library, supports, prepare<Pick::kFastest>});
  if (index == 0) return &first.arm;
  return index == 1 ? &best.arm : nullptr;
}
