// MLX on its CPU device: matmul(x, W^T) in bf16, as mlx.nn.Linear writes it, and quantized_matmul
// of affine 4- and 8-bit weights, as mlx.nn.QuantizedLinear does (mlx_weights.h). MLX is lazy:
// enqueue adds a node to the graph and fence evaluates all that are pending, in one eval, then
// copies the newest result of each y out. Weights become MLX's own arrays in bind(), in memory of
// MLX's allocator: its CPU allocator takes no foreign pointers (make_buffer returns null in 0.32.4,
// and the array constructor copies), and its memory starts 8 bytes past an alignment boundary.
//
// quantized_matmul sums in the type of x: in bf16 that was 8 to 11 bf16 steps off (k = 768, one
// row), which is not the problem asked for; so x, scales and biases are handed over as f32 here,
// and y is rounded once.
//
// Its f16 product rounds y to f16, which is another problem: refused. Of f32 weights x goes in as
// f32, and y is rounded once; where x and y are f32 as well, nothing is converted.
//
// What is in MLX's way here: its SIMD layer knows Apple and NEON only, so bf16 on x86-64 is a
// scalar loop (simd_gemm<bfloat16, float>), and it runs on the one thread of the stream while the
// caller waits (seen in a debugger).
#include <mlx/array.h>
#include <mlx/device.h>
#include <mlx/ops.h>
#include <mlx/stream.h>
#include <mlx/transforms.h>
#include <mlx/version.h>

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arm_table.h"
#include "formats/decode.h"
#include "mlx_weights.h"
#include "module_support.h"

namespace {

using tare::modules::fenced;
using tare::modules::is_all_f32;
using tare::modules::MlxAffine;

namespace mx = mlx::core;

// An MLX array of its own that holds a copy of [rows, columns] values.
template <typename Value = mx::bfloat16_t>
mx::array copied(const void* values, std::uint64_t rows, std::uint64_t columns) {
  const mx::Shape shape = {static_cast<mx::ShapeElem>(rows), static_cast<mx::ShapeElem>(columns)};
  return mx::array(static_cast<const Value*>(values), shape,
                   static_cast<mx::Dtype>(mx::TypeToDtype<Value>()));
}

mx::array copied_codes(const tare_problem& problem, const MlxAffine& affine, const std::byte* codes,
                       std::uint64_t bytes) {
  const std::vector<std::uint32_t> words = tare::modules::mlx_codes(affine, codes, bytes);
  const mx::Shape shape = {static_cast<mx::ShapeElem>(problem.n),
                           static_cast<mx::ShapeElem>(words.size() / problem.n)};
  return mx::array(words.data(), shape, mx::uint32);
}

// The weights of one slot: W^T as a view, or the three arrays of quantized_matmul; and what is
// added.
struct Weights {
  mx::array matrix;
  std::optional<mx::array> scales, biases, output_bias;

  static Weights plain(const tare_problem& problem, const void* weights) {
    mx::array view =
        mx::transpose(problem.weights == TARE_F32 ? copied<float>(weights, problem.n, problem.k)
                                                  : copied(weights, problem.n, problem.k));
    view.eval();  // a view: no copy, and no node left to evaluate in the first dispatch
    return {std::move(view), {}, {}, {}};
  }

  static Weights quantised(const tare_problem& problem, const void* weights) {
    const MlxAffine affine = tare::modules::mlx_affine_of(problem.weights);
    const auto layout = tare::formats::layout_of(problem);
    const auto* bytes = static_cast<const std::byte*>(weights);
    const auto plane = [&](std::uint64_t at) {
      const mx::array own = affine.f16_scales
                                ? copied<mx::float16_t>(bytes + at, problem.n, layout.groups)
                                : copied(bytes + at, problem.n, layout.groups);
      return mx::astype(own, mx::float32);
    };
    mx::array scales = plane(layout.scales);
    const auto biases_of = [&] {
      if (!affine.has_biases) return mx::multiply(scales, mx::array(affine.bias_in_scales()));
      if (!affine.has_zeros) return plane(layout.biases);
      const auto zeros = copied<std::uint8_t>(bytes + layout.biases, problem.n, layout.groups);
      return mx::multiply(mx::negative(scales), mx::astype(zeros, mx::float32));
    };
    mx::array biases = biases_of();
    mx::eval(scales, biases);
    return {copied_codes(problem, affine, bytes, problem.n * layout.code_row),
            std::move(scales),
            std::move(biases),
            {}};
  }

  // In the type that the sum is made in: bf16 beside bf16 weights, f32 beside all others.
  void add_bias(const tare_problem& problem, const void* weights) {
    if (problem.bias == 0) return;
    const std::vector<float> bias = tare::formats::bias_of(problem, weights);
    const mx::array wide(bias.data(), {static_cast<mx::ShapeElem>(bias.size())}, mx::float32);
    output_bias = problem.weights == TARE_BF16 ? mx::astype(wide, mx::bfloat16) : wide;
    output_bias->eval();
  }
};

struct Input {
  const void* x;
  mx::array array;
};
struct Output {
  void* y;
  std::size_t newest;  // index into the pending results
};

}  // namespace

struct tare_executor {
  tare_executor(const tare_problem& problem_, std::uint32_t slots)
      : problem(problem_), affine(tare::modules::mlx_affine_of(problem_.weights)), ring(slots) {}

  void bind(std::uint32_t slot, const void* weights) {
    ring.at(slot) =
        affine.group == 0 ? Weights::plain(problem, weights) : Weights::quantised(problem, weights);
    ring.at(slot)->add_bias(problem, weights);
  }

  // Of a bias as mlx.nn.Linear writes it.
  static mx::array plain_product(const mx::array& x, const Weights& weights) {
    if (!weights.output_bias) return mx::matmul(x, weights.matrix);
    return mx::addmm(*weights.output_bias, x, weights.matrix);
  }

  // As mlx.nn.QuantizedLinear.
  mx::array quantised_product(const mx::array& x, const Weights& weights) const {
    const mx::array y = mx::quantized_matmul(x, weights.matrix, *weights.scales, weights.biases,
                                             true, affine.group, affine.bits);
    return weights.output_bias ? mx::add(y, *weights.output_bias) : y;
  }

  mx::array product(const mx::array& x, const Weights& weights) const {
    if (problem.weights == TARE_BF16 || is_all_f32(problem)) return plain_product(x, weights);
    const mx::array wide = mx::astype(x, mx::float32);
    return mx::astype(
        affine.group == 0 ? plain_product(wide, weights) : quantised_product(wide, weights),
        mx::bfloat16);
  }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    return fenced([&] {
             results.push_back(product(input(x), ring.at(slot).value()));
             remember(y, results.size() - 1);
           }) == 0;
  }

  // Dispatches before one fence that share x share its array, as in a program where x is an array
  // already.
  const mx::array& input(const void* x) {
    for (const Input& known : inputs) {
      if (known.x == x) return known.array;
    }
    inputs.push_back({x, is_all_f32(problem) ? copied<float>(x, problem.rows, problem.k)
                                             : copied(x, problem.rows, problem.k)});
    return inputs.back().array;
  }

  void remember(void* y, std::size_t result) {
    for (Output& known : outputs) {
      if (known.y == y) {
        known.newest = result;
        return;
      }
    }
    outputs.push_back({y, result});
  }

  // Whatever happens, nothing of this region may reach the next: an x buffer may hold other values
  // by then.
  bool fence() noexcept {
    const bool done = fenced([&] { evaluate(); }) == 0;
    forget();
    return done;
  }

  void evaluate() {
    mx::eval(results);
    for (const Output& output : outputs) {
      const mx::array& result = results[output.newest];
      std::memcpy(output.y, result.data<void>(), result.nbytes());
    }
  }

  void forget() noexcept {
    results.clear();
    inputs.clear();
    outputs.clear();
  }

  void set_rows(std::uint32_t rows) {
    forget();
    problem.rows = rows;
  }

  std::string kernel() const {
    const bool biased = problem.bias != 0;
    if (affine.group != 0)
      return fmt::format("quantized_matmul{}, f32 sums", biased ? ", add" : "");
    return fmt::format("{}{}", biased ? "addmm" : "matmul",
                       problem.weights == TARE_F32 ? " f32: cblas_sgemm"
                                                   : ": simd_gemm bf16, f32 sums, 16x16 blocks");
  }

  void describe(tare_dispatch_record& record) const {
    const std::string name = fmt::format("MLX {}", mx::version());
    tare::modules::fill(record,
                        {kernel(), "x86-64 baseline",
                         "lazy: graph in enqueue, one eval in fence; CPU device, default stream; "
                         "one compute thread",
                         name},
                        1u);
  }

  tare_problem problem;
  MlxAffine affine;
  std::vector<std::optional<Weights>> ring;
  std::vector<mx::array> results;  // one a dispatch since the last fence
  std::vector<Input> inputs;
  std::vector<Output> outputs;
};

namespace {

int open_library(const tare_services*, char* why, size_t why_size) {
  return fenced(why, why_size, [] {
    // No thread count to set: MLX evaluates a stream on one thread of its own, and its CPU bf16
    // product runs there.
    mx::set_default_device(mx::Device::cpu);
  });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    constexpr auto kMost = std::numeric_limits<mx::ShapeElem>::max();
    if (is_all_f32(*problem)) return tare::modules::require_sizes(*problem, "MLX", kMost);
    if (problem->weights == TARE_F32)
      return tare::modules::require_plain(*problem, "MLX", {TARE_F32}, kMost,
                                          tare::modules::kAnyBias);
    // Of bf16 x and a bias of another type addmm() would go another way, in f32.
    const bool plain = problem->weights == TARE_BF16;
    tare::modules::require_mlx_types(
        *problem, kMost, plain ? tare::modules::Biases{TARE_BF16} : tare::modules::kAnyBias);
  });
}

int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new tare_executor(*problem, slots); });
}

}  // namespace

const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm arm = tare::modules::arm_table<tare_executor>(
      {0u, "mlx", "MLX", mx::version()}, {open_library, supports, prepare});
  return index == 0 ? &arm : nullptr;
}
