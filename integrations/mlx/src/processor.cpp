// Matrices on the processor: the kernels of src/kernels/cpu, run by a pool whose first thread is
// the thread of MLX's stream.
#include <mlx/allocator.h>
#include <mlx/backend/cpu/encoder.h>
#include <mlx/scheduler.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <mutex>

#include "base/error.h"
#include "device/huge_arena.h"
#include "formats/weight_format.h"
#include "kernels/cpu/paths.h"
#include "kernels/grouped_packing.h"
#include "kernels/identity.h"
#include "kernels/packing.h"
#include "kernels/panel_arms.h"
#include "kernels/panel_projection.h"
#include "kernels/thread_pool.h"
#include "matrix.h"

namespace tare::in_mlx {
namespace {

using kernels::Bf16;
using kernels::Slice;
using kernels::slice_of;

constexpr std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

// Calls `task` on the thread of MLX's CPU stream, and returns when it is done.
template <typename Task>
void on_stream(const Task& task) {
  std::promise<void> done;
  mx::scheduler::enqueue(mx::default_stream(mx::Device::cpu), [&] {
    try {
      task();
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  done.get_future().get();
}

// The threads and the memory that all matrices of a process share: on the same (huge) pages, and
// with threads pinned, as in the arm host that weighed.
class Team {
 public:
  explicit Team(std::uint32_t threads) {
    on_stream([&] {
      pool_ =
          std::make_unique<kernels::ThreadPool>(threads, kernels::ThreadPool::Placement::kPinned);
    });
  }
  ~Team() { device::huge_arena().release(scratch_); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::uint32_t threads() const { return pool_->threads(); }

  std::byte* allocate(std::size_t bytes) {
    void* memory = device::huge_arena().allocate(bytes);
    if (memory == nullptr) fail(Blame::kMachine, "no memory for {} bytes of packed weights", bytes);
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) { device::huge_arena().release(memory); }

  // One caller at a time: MLX may evaluate several streams, each on a thread of its own. `task`:
  // of the scratch (at least so many bytes, 64-byte aligned) and the pool.
  template <typename Task>
  void use(std::size_t scratch_bytes, const Task& task) {
    const std::lock_guard lock(mutex_);
    if (scratch_bytes > scratch_bytes_) {
      release(scratch_);
      scratch_ = nullptr;
      scratch_ = allocate(scratch_bytes);
      scratch_bytes_ = scratch_bytes;
    }
    task(scratch_, *pool_);
  }

 private:
  std::unique_ptr<kernels::ThreadPool> pool_;
  std::mutex mutex_;
  std::byte* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

// One dispatch, as its task on the stream sees it.
struct Dispatch {
  const Bf16* x = nullptr;
  Bf16* y = nullptr;
  const Bf16* bias = nullptr;
  std::uint64_t rows = 0;
};

class ProcessorMatrix : public Matrix, public std::enable_shared_from_this<ProcessorMatrix> {
 public:
  ~ProcessorMatrix() override { team_->release(packed_); }

  void evaluate(const std::vector<mx::array>& operands, mx::array& y,
                const mx::Stream& stream) const override {
    if (stream.device != mx::Device::cpu)
      fail(Blame::kInput, "a matrix packed for the processor was evaluated on a GPU");
    y.set_data(mx::allocator::malloc(y.nbytes()));
    auto& encoder = mx::cpu::get_command_encoder(stream);
    for (const mx::array& operand : operands) encoder.set_input_array(operand);
    encoder.set_output_array(y);
    encoder.add_temporary(operands[0]);
    const auto data = [](const mx::array& array) {
      return reinterpret_cast<const Bf16*>(array.data<mx::bfloat16_t>());
    };
    const Dispatch dispatch{data(operands[0]), reinterpret_cast<Bf16*>(y.data<mx::bfloat16_t>()),
                            operands.size() > 1 ? data(operands[1]) : nullptr,
                            operands[0].size() / k_};
    encoder.dispatch([self = shared_from_this(), dispatch] { self->run(dispatch); });
  }

 protected:
  ProcessorMatrix(std::shared_ptr<Team> team, std::uint64_t k, std::uint64_t n, std::size_t packed)
      : Matrix(k, n), team_(std::move(team)), packed_(team_->allocate(packed)) {
    bytes_ = packed;
  }
  virtual void run(const Dispatch& dispatch) const = 0;

  // pack(first, last) of panels, side by side.
  template <typename Pack>
  void pack_panels_of(std::uint64_t panels, const Pack& pack) {
    on_stream([&] {
      team_->use(0, [&](std::byte*, kernels::ThreadPool& pool) {
        pool.run([&](std::uint32_t thread) {
          const Slice slice = slice_of(panels, pool.threads(), thread);
          pack(slice.first, slice.last);
        });
      });
    });
  }

  std::shared_ptr<Team> team_;
  std::byte* packed_;
};

class PanelMatrix final : public ProcessorMatrix {
 public:
  PanelMatrix(std::shared_ptr<Team> team, const kernels::PanelArm& arm,
              const kernels::PanelPath& path, const Weights& weights)
      : ProcessorMatrix(std::move(team), weights.k, weights.n,
                        kernels::PackedShape{weights.k, weights.n}.bytes()),
        arm_(arm),
        path_(path) {
    if (arm.order(k_, 1).even_first && k_ % 2 != 0)
      fail(Blame::kInput, "the kernel of '{}' takes an even k, and this one is {}", arm.name, k_);
    const auto* values = reinterpret_cast<const Bf16*>(weights.weight.data<mx::bfloat16_t>());
    const kernels::PackedShape shape{k_, n_};
    pack_panels_of(shape.panels(), [&](std::uint64_t first, std::uint64_t last) {
      kernels::pack_panels(shape, values, first, last,
                           reinterpret_cast<kernels::Bf16Pair*>(packed_),
                           arm_.order(k_, 1).even_first);
    });
  }
  bool takes_bias() const override { return true; }

 private:
  void run(const Dispatch& dispatch) const override {
    const kernels::PackedShape shape{k_, n_};
    const kernels::SumOrder order = arm_.order(k_, static_cast<std::uint32_t>(dispatch.rows));
    const std::size_t of_path =
        whole_pages(path_.scratch_bytes(shape.pairs(), dispatch.rows, order.lanes));
    const std::size_t of_x = order.even_first ? whole_pages(dispatch.rows * k_ * sizeof(Bf16)) : 0;
    const std::size_t each = of_path + of_x;
    const std::size_t wide =
        dispatch.bias == nullptr ? 0 : whole_pages(dispatch.rows * n_ * sizeof(float));
    team_->use(wide + each * team_->threads(), [&](std::byte* scratch, kernels::ThreadPool& pool) {
      auto* sums = dispatch.bias == nullptr ? nullptr : reinterpret_cast<float*>(scratch);
      pool.run([&](std::uint32_t thread) {
        const Slice slice = slice_of(shape.panels(), pool.threads(), thread);
        if (slice.first == slice.last) return;
        std::byte* own = scratch + wide + thread * each;
        const Bf16* x = dispatch.x;
        if (order.even_first) {
          auto* swapped = reinterpret_cast<Bf16*>(own + of_path);
          kernels::swap_pairs(x, dispatch.rows * k_ / 2, swapped);
          x = swapped;
        }
        kernels::PanelTask task = kernels::task_in(order);
        task.weights = reinterpret_cast<const kernels::Bf16Pair*>(packed_);
        task.x = x;
        task.y = dispatch.y;
        task.wide_y = sums;
        task.scratch = own;
        task.k = k_;
        task.n = n_;
        task.rows = dispatch.rows;
        task.pairs = shape.pairs();
        task.first_panel = slice.first;
        task.last_panel = slice.last;
        path_.run(task);
        if (sums != nullptr) add_bias(dispatch, sums, slice);
      });
    });
  }

  // Of the thread's own outputs: one rounding, of the sum and the bias, as MLX's addmm.
  // MLX keeps what is subnormal then.
  void add_bias(const Dispatch& dispatch, const float* sums, const Slice& panels) const {
    const std::uint64_t first = panels.first * kernels::kPanelOutputs;
    const std::uint64_t last = std::min(n_, panels.last * kernels::kPanelOutputs);
    for (std::uint64_t row = 0; row < dispatch.rows; ++row)
      for (std::uint64_t i = first; i < last; ++i)
        dispatch.y[row * n_ + i] =
            kernels::narrow_unflushed(sums[row * n_ + i] + kernels::widen(dispatch.bias[i]));
  }

  const kernels::PanelArm& arm_;
  const kernels::PanelPath& path_;
};

// W as tare/arm.h lays it out: codes, scales, biases, each from a multiple of 64 bytes on.
std::vector<std::byte> planes_of(const Weights& weights) {
  const auto layout = formats::layout_of(formats::format_of(weights.type), weights.k, weights.n);
  std::vector<std::byte> planes(layout.total_bytes);
  const auto put = [&](std::uint64_t at, const mx::array& array) {
    std::memcpy(planes.data() + at, array.data<void>(), array.nbytes());
  };
  put(0, weights.weight);
  put(layout.scales, weights.scales.value());
  put(layout.biases, weights.biases.value());
  return planes;
}

class GroupedMatrix final : public ProcessorMatrix {
 public:
  GroupedMatrix(std::shared_ptr<Team> team, const kernels::GroupedPath& path,
                const kernels::GroupedShape& shape, const Weights& weights)
      : ProcessorMatrix(std::move(team), weights.k, weights.n, shape.bytes()),
        shape_(shape),
        path_(path) {
    const std::vector<std::byte> planes = planes_of(weights);
    pack_panels_of(shape_.panels(), [&](std::uint64_t first, std::uint64_t last) {
      kernels::pack_grouped(shape_, weights.type, planes.data(), first, last, packed_);
    });
  }
  bool takes_bias() const override { return false; }  // MLX rounds between the two, too

 private:
  void run(const Dispatch& dispatch) const override {
    const std::size_t each = whole_pages(path_.scratch_bytes(shape_, dispatch.rows));
    team_->use(each * team_->threads(), [&](std::byte* scratch, kernels::ThreadPool& pool) {
      pool.run([&](std::uint32_t thread) {
        const Slice slice = slice_of(shape_.panels(), pool.threads(), thread);
        if (slice.first == slice.last) return;
        path_.run({.shape = shape_,
                   .weights = packed_,
                   .x = dispatch.x,
                   .y = dispatch.y,
                   .scratch = scratch + thread * each,
                   .rows = dispatch.rows,
                   .first_panel = slice.first,
                   .last_panel = slice.last});
      });
    });
  }

  kernels::GroupedShape shape_;
  const kernels::GroupedPath& path_;
};

class ProcessorEngine final : public Engine {
 public:
  explicit ProcessorEngine(std::uint32_t threads) : team_(std::make_shared<Team>(threads)) {}

  std::string library() const override { return kernels::library_text(TARE_VERSION); }

  bool has(const std::string& arm, std::uint32_t type) const override {
    if (type == TARE_BF16) return kernels::panel_arm(arm) != nullptr;
    return arm == "tare-grouped" && kernels::is_grouped(type, TARE_BF16);
  }

  std::shared_ptr<const Matrix> pack(const std::string& arm, const Weights& weights) override {
    if (!has(arm, weights.type))
      fail(Blame::kInput, "there is no kernel of '{}' for {} weights here", arm,
           formats::type_name(weights.type));
    if (weights.type == TARE_BF16)
      return std::make_shared<PanelMatrix>(team_, *kernels::panel_arm(arm), panel_, weights);
    return std::make_shared<GroupedMatrix>(
        team_, grouped_, kernels::grouped_shape(weights.type, TARE_BF16, weights.k, weights.n),
        weights);
  }

 private:
  std::shared_ptr<Team> team_;
  // Measured once a process: which is fastest is a matter of the processor.
  const kernels::PanelPath& panel_ = kernels::choose_panel_path("");
  const kernels::GroupedPath& grouped_ = kernels::choose_grouped_path("");
};

}  // namespace

std::shared_ptr<Engine> make_processor_engine(std::uint32_t threads) {
  return std::make_shared<ProcessorEngine>(threads);
}

}  // namespace tare::in_mlx
