// The floors, as arms: "limit-stream-..." read every byte of a slot's weights, "limit-peak-bf16"
// does as many multiply-adds as a dispatch, from registers. Each pays the same hand-over to its
// threads in every dispatch as our kernels do, since a dispatch that depends on the one before (the
// next layer's x) cannot do without (docs/kernels/limits.md).
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/limits.h"
#include "kernels/thread_pool.h"
#include "modules/own.h"

namespace {

using tare::kernels::PeakKernel;
using tare::kernels::Slice;
using tare::kernels::slice_of;
using tare::kernels::StreamKernel;
using tare::kernels::ThreadPool;

constexpr std::uint64_t kLine = 64;

// What open() makes and every executor uses; the ABI has no place to hand it from call to call.
struct Opened {
  std::unique_ptr<ThreadPool> pool;
  const PeakKernel* peak = nullptr;
};
Opened& opened() {
  static Opened state;
  return state;
}

}  // namespace

struct tare_executor {
  tare_problem problem;
  std::vector<const std::byte*> slots;
  const StreamKernel* stream;  // or
  const PeakKernel* peak;
  ThreadPool* pool;
  std::atomic<std::uint64_t> consumed{0};  // where results go, so that none can be left out
};

namespace {

using tare::modules::guarded;

void read_weights(tare_executor& executor, const std::byte* weights) {
  const std::uint64_t bytes = executor.problem.n * executor.problem.k * 2;
  executor.pool->run([&](std::uint32_t thread) {
    const Slice lines = slice_of(bytes / kLine, executor.pool->threads(), thread);
    const bool last = thread + 1 == executor.pool->threads();
    const std::uint64_t end = last ? bytes : lines.last * kLine;
    const std::uint64_t value =
        executor.stream->read(weights + lines.first * kLine, end - lines.first * kLine);
    executor.consumed.fetch_xor(value, std::memory_order_relaxed);
  });
}

void multiply(tare_executor& executor) {
  const std::uint64_t multiply_adds =
      executor.problem.k * executor.problem.n * executor.problem.rows;
  executor.pool->run([&](std::uint32_t thread) {
    const Slice slice = slice_of(multiply_adds, executor.pool->threads(), thread);
    const float value = executor.peak->run(slice.last - slice.first);
    executor.consumed.fetch_add(value > 0 ? 1 : 0, std::memory_order_relaxed);
  });
}

int open_limits(const tare_services* services, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    Opened& state = opened();
    if (state.pool == nullptr)
      state.pool = std::make_unique<ThreadPool>(services->threads, ThreadPool::Placement::kPinned);
  });
}

int open_peak(const tare_services* services, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    Opened& state = opened();
    if (state.pool == nullptr)
      state.pool = std::make_unique<ThreadPool>(services->threads, ThreadPool::Placement::kPinned);
    if (state.peak == nullptr) state.peak = &tare::kernels::fastest_peak();
  });
}

int prepare(const tare_problem& problem, uint32_t slots, const StreamKernel* stream,
            const PeakKernel* peak, tare_executor** executor, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    *executor = new tare_executor{.problem = problem,
                                  .slots = std::vector<const std::byte*>(slots),
                                  .stream = stream,
                                  .peak = peak,
                                  .pool = opened().pool.get()};
  });
}

int bind(tare_executor* executor, uint32_t slot, const void* weights, char* why, size_t why_size) {
  return guarded(why, why_size,
                 [&] { executor->slots.at(slot) = static_cast<const std::byte*>(weights); });
}

int set_rows(tare_executor* executor, uint32_t rows, char*, size_t) {
  executor->problem.rows = rows;
  return 0;
}

int enqueue_stream(tare_executor* executor, uint32_t slot, const void*, void*) {
  read_weights(*executor, executor->slots[slot]);
  return 0;
}

int enqueue_peak(tare_executor* executor, uint32_t, const void*, void*) {
  multiply(*executor);
  return 0;
}

int fence(tare_executor*) {
  return 0;
}

int dispatched(tare_executor* executor, tare_dispatch_record* record) {
  *record = {};
  const bool reads = executor->stream != nullptr;
  tare::modules::say(record->kernel, "{}:{}", reads ? "stream" : "peak",
                     reads ? executor->stream->name : executor->peak->name);
  tare::modules::say(record->isa, "{}", reads ? executor->stream->isa : executor->peak->isa);
  tare::modules::say(record->configuration, "{}",
                     reads ? executor->stream->idea : executor->peak->idea);
  tare::modules::say(record->library, "Tare {}", TARE_VERSION);
  record->threads = executor->pool->threads();
  return 0;
}

void destroy(tare_executor* executor) {
  delete executor;
}

// The ABI's functions do not say which arm they are called for: one instance of them for every
// stream kernel.
constexpr std::size_t kMostStreams = 16;

template <std::size_t Index>
int supports_stream(const tare_problem* problem, char* why, size_t why_size) {
  return guarded(why, why_size, [&] {
    tare::modules::require_bf16(*problem);
    const StreamKernel& kernel = tare::kernels::stream_kernels()[Index];
    if (!kernel.runs_here())
      tare::fail(tare::Blame::kMachine, "this processor has no {}", kernel.isa);
  });
}

template <std::size_t Index>
int prepare_stream(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  return prepare(*problem, slots, &tare::kernels::stream_kernels()[Index], nullptr, executor, why,
                 why_size);
}

int supports_peak(const tare_problem* problem, char* why, size_t why_size) {
  return guarded(why, why_size, [&] { tare::modules::require_bf16(*problem); });
}

int prepare_peak(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  return prepare(*problem, slots, nullptr, opened().peak, executor, why, why_size);
}

constexpr tare_arm kPeak{.abi = TARE_ARM_ABI,
                         .flags = TARE_IS_LIMIT | TARE_READS_WEIGHTS_IN_PLACE,
                         .name = "limit-peak-bf16",
                         .title = "bf16 peak",
                         .version = TARE_VERSION,
                         .open = open_peak,
                         .supports = supports_peak,
                         .prepare = prepare_peak,
                         .bind = bind,
                         .set_rows = set_rows,
                         .enqueue = enqueue_peak,
                         .fence = fence,
                         .dispatched = dispatched,
                         .destroy = destroy};

template <std::size_t Index>
tare_arm stream_arm(const char* name, const char* title) {
  tare_arm arm = kPeak;
  arm.name = name;
  arm.title = title;
  arm.open = open_limits;
  arm.supports = supports_stream<Index>;
  arm.prepare = prepare_stream<Index>;
  arm.enqueue = enqueue_stream;
  return arm;
}

// The stream arms, with the names that they point to.
class StreamArms {
 public:
  StreamArms() : StreamArms(std::make_index_sequence<kMostStreams>{}) {}
  const tare_arm* at(std::size_t index) const {
    return index < tare::kernels::stream_kernels().size() ? &arms_[index] : nullptr;
  }

 private:
  template <std::size_t... Index>
  explicit StreamArms(std::index_sequence<Index...>)
      : names_{("limit-stream-" + name_of(Index))...},
        titles_{("stream " + name_of(Index))...},
        arms_{stream_arm<Index>(names_[Index].c_str(), titles_[Index].c_str())...} {}

  static std::string name_of(std::size_t index) {
    const auto kernels = tare::kernels::stream_kernels();
    return index < kernels.size() ? kernels[index].name : "";
  }

  std::array<std::string, kMostStreams> names_;
  std::array<std::string, kMostStreams> titles_;
  std::array<tare_arm, kMostStreams> arms_;
};

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const StreamArms streams;
  return index == 0 ? &kPeak : streams.at(index - 1);
}
