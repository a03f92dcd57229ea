// The floors of a GPU, as arms: "limit-stream-..." read every byte of the weights,
// "limit-peak-bf16" does the multiply-adds from registers. One launch does the work of a whole
// region, so that no launch is in the figure: a kernel that hides its launches entirely still
// cannot be faster (docs/kernels/cuda-limits.md).
#include <array>
#include <string>
#include <utility>

#include "device_arm_table.h"
#include "device_executor.h"
#include "kernels/cuda/peak.h"
#include "kernels/cuda/slab.h"
#include "kernels/cuda/stream.h"

namespace {

using tare::kernels::cuda::multiply_add_peak;
using tare::kernels::cuda::stream_kernels;
using tare::kernels::cuda::StreamKernel;
using tare::kernels::cuda::StreamWork;
using tare::modules::DeviceDispatch;
using tare::modules::DeviceMemory;
using tare::modules::require;

constexpr std::uint64_t kLoad = 16;  // bytes

// Of weights of any type, as they are handed over.
std::uint64_t weight_bytes(const tare_problem& problem) {
  return tare::formats::layout_of(tare::formats::format_of(problem.weights), problem.k, problem.n)
      .total_bytes;
}

std::uint64_t slot_bytes(const tare_problem& problem) {
  return (weight_bytes(problem) + kLoad - 1) / kLoad * kLoad;
}

}  // namespace

struct tare_executor final : tare::modules::DeviceExecutor {
  tare_executor(const tare_problem& problem, std::uint32_t slots_, const StreamKernel* kernel)
      : DeviceExecutor(problem), slots(slots_), stream_kernel(kernel), sink(sizeof(std::uint32_t)) {
    if (stream_kernel != nullptr) ring = DeviceMemory(slots * slot_bytes(problem));
  }

  void bind(std::uint32_t slot, const void* weights) const {
    if (stream_kernel == nullptr) return;
    require(cudaMemcpy(ring.data() + slot * slot_bytes(problem_), weights, weight_bytes(problem_),
                       cudaMemcpyHostToDevice),
            "copying weights to the device");
  }
  void set_rows(std::uint32_t rows) { problem_.rows = rows; }

  void describe(tare_dispatch_record& record) const {
    const bool reads = stream_kernel != nullptr;
    const std::string isa = isa_of(tare::modules::opened_device());
    const std::string kernel =
        reads ? fmt::format("stream:{}", stream_kernel->name) : "peak:mma.m16n8k16";
    tare::modules::fill(
        record,
        {kernel, isa, reads ? stream_kernel->idea : "8 independent sums a warp, from registers",
         "Tare " TARE_VERSION},
        0U);
  }

  // Dispatches of a region rotate through the slots one after the other.
  void record(std::span<const DeviceDispatch> dispatches, bool, cudaStream_t stream) override {
    const unsigned processors = tare::modules::opened_device().processors;
    const std::uint64_t count = dispatches.size();
    if (stream_kernel == nullptr) {
      const std::uint64_t each = problem_.k * problem_.n * problem_.rows;
      require(multiply_add_peak(count * each, processors, sink.data(), stream),
              "launching the peak kernel");
      return;
    }
    const StreamWork work{ring.data(), slot_bytes(problem_), dispatches.front().slot, slots,
                          count,       sink.data()};
    require(stream_kernel->run(work, processors, stream), "launching a stream kernel");
  }

  std::uint32_t slots;
  const StreamKernel* stream_kernel;  // null: multiply-adds
  DeviceMemory ring, sink;
};

namespace {

using tare::modules::fenced;

int open_limits(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    tare::modules::open_device([] { return tare::kernels::cuda::slab_support().error; });
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::require_common(*problem, "limit_cuda"); });
}

int prepare(const tare_problem& problem, uint32_t slots, const StreamKernel* stream,
            tare_executor** executor, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(problem, slots, stream); });
}

int prepare_peak(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  return prepare(*problem, slots, nullptr, executor, why, why_size);
}

// The ABI's functions do not say which arm they are called for: one instance of them for every
// stream kernel.
template <std::size_t kIndex>
int prepare_stream(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                   size_t why_size) {
  return prepare(*problem, slots, &stream_kernels()[kIndex], executor, why, why_size);
}

constexpr std::size_t kMostStreams = 8;

class Arms {
 public:
  Arms() : Arms(std::make_index_sequence<kMostStreams>{}) {}
  const tare_arm* at(std::size_t index) const {
    if (index == 0) return &peak_.arm;
    return index <= stream_kernels().size() ? &streams_[index - 1].arm : nullptr;
  }

 private:
  template <std::size_t... kIndex>
  explicit Arms(std::index_sequence<kIndex...>)
      : names_{("limit-stream-" + name_of(kIndex))...},
        titles_{("stream " + name_of(kIndex))...},
        peak_(table("limit-peak-bf16", "bf16 peak", prepare_peak)),
        streams_{
            table(names_[kIndex].c_str(), titles_[kIndex].c_str(), prepare_stream<kIndex>)...} {}

  static tare_device_arm table(const char* name, const char* title,
                               decltype(tare_arm::prepare) prepare_arm) {
    return tare::modules::device_arm_table<tare_executor>(
        {TARE_IS_LIMIT, name, title, TARE_VERSION}, {open_limits, supports, prepare_arm});
  }
  static std::string name_of(std::size_t index) {
    return index < stream_kernels().size() ? stream_kernels()[index].name : "";
  }

  std::array<std::string, kMostStreams> names_, titles_;
  tare_device_arm peak_;
  std::array<tare_device_arm, kMostStreams> streams_;
};

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const Arms arms;
  return arms.at(index);
}
