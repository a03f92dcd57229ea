// Our own CPU kernels as arms: the bit-exact panel kernel (docs/kernels/panel.md) in the order of
// oneDNN 2.6's bf16 matmul ("tare-panel", which takes f16 and f32 weights too, in an order of its
// own), in that of oneDNN 3.13's ("tare-panel-onednn3"), and in that of ggml's ("tare-panel-ggml");
// and on AMX's tiles, whose order is their own ("tare-amx").
//
// TARE_CPU_ISA=portable|avx2|avx512|avx512bf16 makes it run that path; unset, it runs the one that
// is fastest here. All paths give the same bits.
#include <cstdlib>
#include <iterator>
#include <string>

#include "arm_table.h"
#include "kernels/identity.h"
#include "panel_module.h"

namespace {

using tare::kernels::Bf16;
using tare::kernels::PanelPath;
using tare::kernels::PanelProjection;
using tare::kernels::SumOrder;

// Whose order: which sums, from k and the row count.
struct Order {
  const char* kernel;
  SumOrder (*of)(std::uint64_t k, std::uint32_t rows);
  const PanelPath& (*path)(const tare_problem& problem) = tare::modules::panel_path;
};
constexpr Order kOneDnn{
    "tare-panel", [](std::uint64_t k, std::uint32_t) { return tare::kernels::onednn_order(k); }};
constexpr Order kOneDnn3{"tare-panel-onednn3", tare::kernels::onednn3_order};
constexpr Order kGgml{"tare-panel-ggml", tare::kernels::ggml_order};
// The instruction's own order: kernels/cpu/amx_panel.h.
constexpr Order kAmx{
    "tare-amx", [](std::uint64_t, std::uint32_t) { return SumOrder{32}; },
    [](const tare_problem&) -> const PanelPath& { return tare::kernels::amx_panel_path(); }};

SumOrder order_of(const Order& order, const tare_problem& problem, std::uint32_t rows) {
  return problem.weights == TARE_BF16 ? order.of(problem.k, rows) : tare::kernels::float_order();
}

std::string wanted_path() {
  const char* wanted = std::getenv("TARE_CPU_ISA");
  return wanted == nullptr ? "" : wanted;
}

}  // namespace

struct tare_executor {
  PanelProjection projection;
  tare_problem problem;
  const Order& order;

  void bind(std::uint32_t slot, const void* weights) { projection.bind(slot, weights); }

  void set_rows(std::uint32_t rows) { projection.set_rows(rows, order_of(order, problem, rows)); }

  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept {
    projection.run(slot, static_cast<const Bf16*>(x), static_cast<Bf16*>(y));
    return true;
  }

  bool fence() noexcept { return true; }  // enqueue returns when y is written

  void describe(tare_dispatch_record& record) const {
    const PanelPath& path = projection.path();
    const std::string configuration =
        fmt::format("packed {}; sums of {} in {}; tile {}",
                    problem.weights == TARE_BF16 ? "[n/32][k/2][32][2]" : "[n/32][k][32]",
                    projection.order().chunk, projection.order().lanes, path.tile);
    tare::modules::fill(record,
                        {fmt::format("{}:{}", order.kernel, path.name), path.isa, configuration,
                         tare::kernels::library_text(TARE_VERSION)},
                        projection.threads());
  }
};

namespace {

using tare::modules::fenced;

int open(const tare_services* services, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::open_panel(*services, wanted_path()); });
}

int supports(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    tare::modules::require_plain(*problem, "tare_cpu", {TARE_BF16, TARE_F16, TARE_F32});
  });
}

int supports_onednn3_order(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] { tare::modules::require_bf16(*problem, "tare_cpu"); });
}

int supports_amx(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    tare::modules::require_bf16(*problem, "tare_cpu");
    tare::kernels::amx_panel_path();
  });
}

// Elsewhere ggml takes other ways, and sums what is left over in double.
int supports_ggml_order(const tare_problem* problem, char* why, size_t why_size) {
  return fenced(why, why_size, [&] {
    tare::modules::require_bf16(*problem, "tare_cpu");
    if (problem->k % 64 != 0 || problem->n % 4 != 0)
      tare::fail(tare::Blame::kArm,
                 "ggml's order is known for k a multiple of 64 and n of 4; the problem has {}x{}",
                 problem->k, problem->n);
  });
}

template <const Order& kOrder>
int prepare(const tare_problem* problem, uint32_t slots, tare_executor** executor, char* why,
            size_t why_size) {
  return fenced(why, why_size, [&] {
    const SumOrder order = order_of(kOrder, *problem, problem->rows);
    *executor = new tare_executor{
        tare::modules::panel_projection(*problem, slots, order, kOrder.path(*problem)), *problem,
        kOrder};
  });
}

}  // namespace

extern "C" const tare_arm* tare_arm_v1(uint32_t index) {
  static const tare_arm arms[] = {
      tare::modules::arm_table<tare_executor>({0u, "tare-panel", "Tare panel", TARE_VERSION},
                                              {open, supports, prepare<kOneDnn>}),
      tare::modules::arm_table<tare_executor>(
          {0u, "tare-panel-ggml", "Tare panel as ggml", TARE_VERSION},
          {open, supports_ggml_order, prepare<kGgml>}),
      tare::modules::arm_table<tare_executor>(
          {0u, "tare-panel-onednn3", "Tare panel as oneDNN 3", TARE_VERSION},
          {open, supports_onednn3_order, prepare<kOneDnn3>}),
      tare::modules::arm_table<tare_executor>({0u, "tare-amx", "Tare AMX", TARE_VERSION},
                                              {open, supports_amx, prepare<kAmx>})};
  return index < std::size(arms) ? &arms[index] : nullptr;
}
