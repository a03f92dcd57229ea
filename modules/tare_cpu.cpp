// Our own CPU kernels as arms: the bit-exact panel kernel (docs/kernels/panel.md) in the order of
// oneDNN 2.6's bf16 matmul ("tare-panel", which takes f16 and f32 weights too, in the order of its
// f32 one) and of its inner product ("tare-panel-onednn-ip"), in that of oneDNN 3.13's matmul
// ("tare-panel-onednn3"), of ggml's ("tare-panel-ggml") and of MLX's ("tare-panel-mlx"); the dot
// kernel, which has ggml's by itself ("tare-dot-ggml"); and the panel kernel on AMX's tiles, whose
// order is their own ("tare-amx").
//
// TARE_CPU_ISA=portable|avx2|avx512|avx512bf16 makes it run that path; unset, it runs the one that
// is fastest here. All paths give the same bits.
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>

#include "arm_table.h"
#include "kernels/dot_projection.h"
#include "kernels/identity.h"
#include "kernels/panel_arms.h"
#include "panel_module.h"

namespace {

using tare::kernels::Bf16;
using tare::kernels::kDotArm;
using tare::kernels::kPanelArms;
using tare::kernels::PanelArm;
using tare::kernels::PanelPath;
using tare::kernels::PanelProjection;

enum : std::size_t { kAsOneDnn, kAsGgml, kAsOneDnn3, kAsMlx, kAsOneDnnIp };  // of kPanelArms

// The instruction's own order, whatever a SumOrder says: kernels/cpu/amx_panel.h.
constexpr PanelArm kAmxArm{
    "tare-amx", [](std::uint64_t, std::uint32_t) { return tare::kernels::SumOrder{128}; }};

std::string wanted_path() {
  const char* wanted = std::getenv("TARE_CPU_ISA");
  return wanted == nullptr ? "" : wanted;
}

}  // namespace

// One of the kernels below. enqueue() returns when y is written.
struct tare_executor {
  tare_executor() = default;
  virtual ~tare_executor() = default;
  tare_executor(const tare_executor&) = delete;
  tare_executor& operator=(const tare_executor&) = delete;

  virtual void bind(std::uint32_t slot, const void* weights) = 0;
  virtual void set_rows(std::uint32_t rows) = 0;
  virtual bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept = 0;
  virtual void describe(tare_dispatch_record& record) const = 0;
  bool fence() noexcept { return true; }
};

namespace {

class PanelExecutor final : public tare_executor {
 public:
  PanelExecutor(const tare_problem& problem, std::uint32_t slots, const PanelArm& arm,
                const PanelPath& path)
      : projection_(tare::modules::panel_projection(problem, slots,
                                                    order_of(arm, problem, problem.rows), path)),
        problem_(problem),
        arm_(arm) {}

  void bind(std::uint32_t slot, const void* weights) override { projection_.bind(slot, weights); }
  void set_rows(std::uint32_t rows) override {
    projection_.set_rows(rows, order_of(arm_, problem_, rows));
  }
  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept override {
    if (problem_.activations == TARE_F32)
      projection_.run(slot, static_cast<const float*>(x), static_cast<float*>(y));
    else
      projection_.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
    return true;
  }
  void describe(tare_dispatch_record& record) const override {
    const PanelPath& path = projection_.path();
    const std::string configuration =
        fmt::format("packed {}{}; sums of {} in {}; tile {}",
                    problem_.weights == TARE_BF16 ? "[n/32][k/2][32][2]" : "[n/32][k][32]",
                    problem_.bias == 0 ? "" : ", bias", projection_.order().chunk,
                    projection_.order().lanes, path.tile);
    tare::modules::fill(record,
                        {fmt::format("{}:{}", arm_.name, path.name), path.isa, configuration,
                         tare::kernels::library_text(TARE_VERSION)},
                        projection_.threads());
  }

 private:
  static tare::kernels::SumOrder order_of(const PanelArm& arm, const tare_problem& problem,
                                          std::uint32_t rows) {
    return problem.weights == TARE_BF16 ? arm.order(problem.k, rows)
                                        : tare::kernels::float_order(problem.k, problem.weights);
  }

  PanelProjection projection_;
  tare_problem problem_;
  const PanelArm& arm_;
};

class DotExecutor final : public tare_executor {
 public:
  DotExecutor(const tare_problem& problem, std::uint32_t slots)
      : projection_({problem.k, problem.n, problem.bias}, problem.rows, slots,
                    tare::kernels::dot_kernel(), *tare::modules::panel_state().pool,
                    tare::modules::panel_state().memory) {}

  void bind(std::uint32_t slot, const void* weights) override {
    projection_.bind(slot, static_cast<const Bf16*>(weights));
  }
  void set_rows(std::uint32_t rows) override { projection_.set_rows(rows); }
  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept override {
    projection_.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
    return true;
  }
  void describe(tare_dispatch_record& record) const override {
    tare::modules::fill(
        record,
        {fmt::format("{}:avx512bf16", kDotArm), "AVX-512 BF16",
         "packed [n/8][k/32][8][32]; 8 outputs; 3 rows", tare::kernels::library_text(TARE_VERSION)},
        projection_.threads());
  }

 private:
  tare::kernels::DotProjection projection_;
};

}  // namespace

namespace {

using tare::modules::fenced;

constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kWholeBlock = 128;  // of a SumOrder's chunk

void require_bf16(const tare_problem& problem) {
  tare::modules::require_bf16(problem, "tare_cpu", kNoLimit, tare::modules::kAnyBias);
}

int open(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::open_panel(*services, wanted_path()); });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    const bool wide = problem->weights == TARE_F16 || problem->weights == TARE_F32;
    if (wide && tare::modules::has_f32_values(*problem))
      return tare::modules::require_sizes(*problem, "tare_cpu", kNoLimit);
    tare::modules::require_plain(*problem, "tare_cpu", {TARE_BF16, TARE_F16, TARE_F32}, kNoLimit,
                                 tare::modules::kAnyBias);
  });
}

int supports_onednn3_order(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { require_bf16(*problem); });
}

int supports_amx(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    require_bf16(*problem);
    tare::kernels::amx_panel_path();
  });
}

int supports_onednn_ip_order(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    require_bf16(*problem);
    const std::uint64_t chunk = tare::kernels::onednn_ip_order(problem->k, problem->rows).chunk;
    if (problem->k % 16 != 0)
      tare::fail(tare::Blame::kArm,
                 "the order of oneDNN's inner product is known for k a multiple of 16; the problem "
                 "has {}",
                 problem->k);
    if (chunk % kWholeBlock != 0)
      tare::fail(tare::Blame::kArm,
                 "oneDNN's inner product cuts k = {} into chunks of {}, and this kernel takes "
                 "multiples of {}",
                 problem->k, chunk, kWholeBlock);
  });
}

// Elsewhere ggml takes other ways, and sums what is left over in double.
int supports_ggml_order(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    require_bf16(*problem);
    if (problem->k % 64 != 0 || problem->n % 4 != 0)
      tare::fail(tare::Blame::kArm,
                 "ggml's order is known for k a multiple of 64 and n of 4; the problem has {}x{}",
                 problem->k, problem->n);
  });
}

int supports_mlx_order(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    require_bf16(*problem);
    if (problem->k % 2 != 0)
      tare::fail(tare::Blame::kArm, "the kernel in MLX's order takes an even k; the problem has {}",
                 problem->k);
  });
}

int supports_dots(const tare_problem* problem, char* why, size_t why_size) {
  if (supports_ggml_order(problem, why, why_size) != 0) return 1;
  return fenced(why, why_size, [&] {
    if (tare::kernels::dot_kernel() == nullptr)
      tare::fail(tare::Blame::kArm, "its kernel is written for AVX-512 BF16, which is not here");
  });
}

template <std::size_t kIndex>
int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    *executor =
        new PanelExecutor(*problem, slots, kPanelArms[kIndex], tare::modules::panel_path(*problem));
  });
}

int prepare_amx(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                size_t why_size) {
  return fenced(why, why_size, [&] {
    *executor = new PanelExecutor(*problem, slots, kAmxArm, tare::kernels::amx_panel_path());
  });
}

int prepare_dots(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
                 size_t why_size) {
  return fenced(why, why_size, [&] { *executor = new DotExecutor(*problem, slots); });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm arms[] = {
      tare::modules::arm_table<tare_executor>(
          {0u, kPanelArms[kAsOneDnn].name, "Tare panel", TARE_VERSION},
          {open, supports, prepare<kAsOneDnn>}),
      tare::modules::arm_table<tare_executor>(
          {0u, kPanelArms[kAsGgml].name, "Tare panel as ggml", TARE_VERSION},
          {open, supports_ggml_order, prepare<kAsGgml>}),
      tare::modules::arm_table<tare_executor>(
          {0u, kPanelArms[kAsOneDnn3].name, "Tare panel as oneDNN 3", TARE_VERSION},
          {open, supports_onednn3_order, prepare<kAsOneDnn3>}),
      tare::modules::arm_table<tare_executor>(
          {0u, kPanelArms[kAsMlx].name, "Tare panel as MLX", TARE_VERSION},
          {open, supports_mlx_order, prepare<kAsMlx>}),
      tare::modules::arm_table<tare_executor>({0u, kDotArm, "Tare dots as ggml", TARE_VERSION},
                                              {open, supports_dots, prepare_dots}),
      tare::modules::arm_table<tare_executor>({0u, kAmxArm.name, "Tare AMX", TARE_VERSION},
                                              {open, supports_amx, prepare_amx}),
      tare::modules::arm_table<tare_executor>(
          {0u, kPanelArms[kAsOneDnnIp].name, "Tare panel as oneDNN ip", TARE_VERSION},
          {open, supports_onednn_ip_order, prepare<kAsOneDnnIp>})};
  return index < std::size(arms) ? &arms[index] : nullptr;
}
