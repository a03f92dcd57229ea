// The floors, as arms: "limit-stream-..." read every byte of a slot's weights; "limit-peak-bf16",
// "limit-peak-f32" and "limit-peak-int8" do as many multiply-adds as a dispatch, from registers:
// the second stands for weights of f16 and f32, which no bf16 product holds, the last for
// activations that are rounded to 8 bits, whose products are integers. Each pays the same
// hand-over to its threads in every dispatch as our kernels do, since a dispatch that depends on
// the one before (the next layer's x) cannot do without (docs/kernels/limits.md).
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm_table.h"
#include "kernels/cpu/limits.h"
#include "kernels/thread_pool.h"
#include "module_support.h"

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
  const PeakKernel* f32_peak = nullptr;
  const PeakKernel* int8_peak = nullptr;
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

  void bind(std::uint32_t slot, const void* weights) {
    slots.at(slot) = static_cast<const std::byte*>(weights);
  }

  void set_rows(std::uint32_t rows) { problem.rows = rows; }

  bool enqueue(std::uint32_t slot, const void*, void*) noexcept {
    if (stream != nullptr) {
      read_weights(slots[slot]);
    } else {
      multiply();
    }
    return true;
  }

  bool fence() noexcept { return true; }  // the pool's run() returns when all threads are done

  void describe(tare_dispatch_record& record) const {
    if (stream != nullptr) {
      describe(record, "stream", *stream);
    } else {
      describe(record, "peak", *peak);
    }
  }

 private:
  void read_weights(const std::byte* weights) {
    const std::uint64_t bytes = tare::formats::layout_of(problem).total_bytes;
    pool->run([&](std::uint32_t thread) {
      const Slice lines = slice_of(bytes / kLine, pool->threads(), thread);
      const bool last = thread + 1 == pool->threads();
      const std::uint64_t end = last ? bytes : lines.last * kLine;
      const std::uint64_t value =
          stream->read(weights + lines.first * kLine, end - lines.first * kLine);
      consumed.fetch_xor(value, std::memory_order_relaxed);
    });
  }

  void multiply() {
    const std::uint64_t multiply_adds = problem.k * problem.n * problem.rows;
    pool->run([&](std::uint32_t thread) {
      const Slice slice = slice_of(multiply_adds, pool->threads(), thread);
      const float value = peak->run(slice.last - slice.first);
      consumed.fetch_add(value > 0 ? 1 : 0, std::memory_order_relaxed);
    });
  }

  template <typename Kernel>
  void describe(tare_dispatch_record& record, std::string_view family, const Kernel& kernel) const {
    tare::modules::fill(
        record,
        {fmt::format("{}:{}", family, kernel.name), kernel.isa, kernel.idea, "Tare " TARE_VERSION},
        pool->threads());
  }
};

namespace {

using tare::modules::fenced;

void start_pool(const tare_services& services) {
  Opened& state = opened();
  if (state.pool == nullptr)
    state.pool = std::make_unique<ThreadPool>(services.threads, ThreadPool::Placement::kPinned);
}

int open_stream(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { start_pool(*services); });
}

// A peak: where open() keeps the fastest kernel of which list, and whose products they are.
struct PeakKind {
  const PeakKernel* Opened::*fastest;
  std::span<const PeakKernel> (*kernels)();
  bool (*multiplies)(const tare_problem& problem);
  const char* products;
};
// Products that bf16's instructions do not take.
bool has_wide_factors(const tare_problem& problem) {
  return problem.weights == TARE_F16 || problem.weights == TARE_F32 ||
         problem.activations == TARE_F32;
}
constexpr PeakKind kBf16Peak{&Opened::peak, tare::kernels::peak_kernels,
                             [](const tare_problem& problem) {
                               return problem.activations == TARE_BF16 &&
                                      !has_wide_factors(problem);
                             },
                             "bf16"};
constexpr PeakKind kF32Peak{&Opened::f32_peak, tare::kernels::f32_peak_kernels,
                            [](const tare_problem& problem) { return has_wide_factors(problem); },
                            "f16 or f32"};
constexpr PeakKind kInt8Peak{
    &Opened::int8_peak, tare::kernels::int8_peak_kernels,
    [](const tare_problem& problem) { return problem.activations == TARE_BF16_AS_INT8; },
    "bf16-as-int8"};

template <const PeakKind& kind>
int open_peak(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    start_pool(*services);
    const PeakKernel*& fastest = opened().*kind.fastest;
    if (fastest == nullptr) fastest = &tare::kernels::fastest_peak(kind.kernels());
  });
}

int prepare(const tare_problem& problem, uint32_t slots, const StreamKernel* stream,
            const PeakKernel* peak, tare_executor** executor, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    *executor = new tare_executor{.problem = problem,
                                  .slots = std::vector<const std::byte*>(slots),
                                  .stream = stream,
                                  .peak = peak,
                                  .pool = opened().pool.get()};
  });
}

// The ABI's functions do not say which arm they are called for: one instance of them for every
// stream kernel.
constexpr std::size_t kMostStreams = 16;

// Bytes are read alike, whatever they mean.
void require_known(const tare_problem& problem) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  tare::formats::format_of(problem.weights);
  if (tare::modules::has_f32_values(problem)) {
    return tare::modules::require_sizes(problem, "limit", kMost, tare::modules::kAnyBias);
  }
  tare::modules::require_common(problem, "limit", kMost, tare::modules::kAnyBias);
  if (problem.activations != TARE_BF16 && problem.activations != TARE_BF16_AS_INT8) {
    tare::fail(tare::Blame::kArm,
               "the limit module knows bf16 activations, and f32 ones with f32 outputs; the "
               "problem has {}",
               tare::modules::type_name(problem.activations));
  }
}

template <std::size_t Index>
int supports_stream(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    require_known(*problem);
    const StreamKernel& kernel = tare::kernels::stream_kernels()[Index];
    if (!kernel.runs_here())
      tare::fail(tare::Blame::kMachine, "this processor has no {}", kernel.isa);
    if (tare::kernels::is_outclassed(kernel)) {
      tare::fail(tare::Blame::kMachine, "{} reads slower than the vectors that this processor has",
                 kernel.isa);
    }
  });
}

template <std::size_t Index>
int prepare_stream(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  return prepare(*problem, slots, &tare::kernels::stream_kernels()[Index], nullptr, executor, why,
                 why_size);
}

template <const PeakKind& kind>
int supports_peak(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    require_known(*problem);
    if (!kind.multiplies(*problem)) {
      tare::fail(tare::Blame::kArm, "this peak is that of {} products; the problem has {} by {}",
                 kind.products, tare::modules::type_name(problem->activations),
                 tare::modules::type_name(problem->weights));
    }
  });
}

template <const PeakKind& kind>
int prepare_peak(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  return prepare(*problem, slots, nullptr, opened().*kind.fastest, executor, why, why_size);
}

constexpr std::uint32_t kFlags = TARE_IS_LIMIT | TARE_READS_WEIGHTS_IN_PLACE;

template <const PeakKind& kind>
tare_arm peak_arm(const char* name, const char* title) {
  return tare::modules::arm_table<tare_executor>(
      {kFlags, name, title, TARE_VERSION},
      {open_peak<kind>, supports_peak<kind>, prepare_peak<kind>});
}

template <std::size_t Index>
tare_arm stream_arm(const char* name, const char* title) {
  return tare::modules::arm_table<tare_executor>(
      {kFlags, name, title, TARE_VERSION},
      {open_stream, supports_stream<Index>, prepare_stream<Index>});
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
  static const std::array<tare_arm, 3> peaks = {
      peak_arm<kBf16Peak>("limit-peak-bf16", "bf16 peak"),
      peak_arm<kF32Peak>("limit-peak-f32", "f32 peak"),
      peak_arm<kInt8Peak>("limit-peak-int8", "int8 peak")};
  static const StreamArms streams;
  return index < peaks.size() ? &peaks[index] : streams.at(index - peaks.size());
}
