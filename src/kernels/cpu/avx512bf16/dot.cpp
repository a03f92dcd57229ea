// The dot kernel on vdpbf16ps. An output's sums are vectors along k, so weights come in the order
// in which a model has them, and are added up across lanes once an output: for eight outputs
// together, so that every step of the fold fills a vector.
#include <immintrin.h>

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/chunk_sums.h"
#include "kernels/cpu/dot_path.h"

namespace tare::kernels {
namespace {

constexpr std::size_t kOutputs = kDotOutputs;
constexpr std::uint64_t kLine = 64;
// Bytes of weights that are asked for ahead of those at work: as the panel kernel's at one row
// (docs/kernels/panel.md).
constexpr std::uint64_t kAhead = 8192;

// GCC 12 warns of its own plain forms (GCC bug 105593).
constexpr __mmask16 kAll = 0xFFFF;

__m512bh load(const Bf16* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

__m512 halves(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_maskz_shuffle_f32x4(kAll, a, b, 0x44),
                       _mm512_maskz_shuffle_f32x4(kAll, a, b, 0xEE));
}
__m512 quarters(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_maskz_shuffle_f32x4(kAll, a, b, 0x88),
                       _mm512_maskz_shuffle_f32x4(kAll, a, b, 0xDD));
}

// The sixteen lanes of each of eight vectors added up: those 8 apart, 4, 2, 1 (SumOrder::fold). In
// the low half.
__m512 folded(const __m512 (&sums)[kOutputs]) {
  const __m512 low = quarters(halves(sums[0], sums[1]), halves(sums[2], sums[3]));
  const __m512 high = quarters(halves(sums[4], sums[5]), halves(sums[6], sums[7]));
  const __m512 pairs = _mm512_add_ps(_mm512_maskz_shuffle_ps(kAll, low, high, 0x44),
                                     _mm512_maskz_shuffle_ps(kAll, low, high, 0xEE));
  const __m512 ones = _mm512_add_ps(pairs, _mm512_maskz_shuffle_ps(kAll, pairs, pairs, 0xB1));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
  return _mm512_maskz_permutexvar_ps(kAll, order, ones);
}

void store(const DotTask& task, std::uint64_t row, std::uint64_t panel, __m512 totals) {
  float sums[2 * kOutputs];
  _mm512_storeu_ps(sums, totals);
  const std::uint64_t first = panel * kOutputs;
  const std::uint64_t outputs = std::min<std::uint64_t>(kOutputs, task.shape.n - first);
  const std::uint64_t at = row * task.shape.n + first;
  if (task.bias != nullptr)
    for (std::uint64_t o = 0; o < outputs; ++o) sums[o] = add_bias(sums[o], task.bias[first + o]);
  for (std::uint64_t o = 0; o < outputs; ++o) {
    if (task.wide_y != nullptr)
      task.wide_y[at + o] = sums[o];
    else
      task.y[at + o] = narrow_unflushed(sums[o]);
  }
}

template <Keep keep>
void prefetch(const Bf16* weights) {
  const auto* ahead = reinterpret_cast<const char*>(weights) + kAhead;
#pragma GCC unroll 8
  for (std::size_t line = 0; line < kOutputs; ++line)
    __builtin_prefetch(ahead + line * kLine, 0, static_cast<int>(keep));
}

// One row: two vectors of sums an output, filled in turn.
template <Keep keep>
void run_one_row(const DotTask& task, std::uint64_t panel) {
  const Bf16* w = task.weights + panel * task.shape.panel_elements();
  __m512 sums[2][kOutputs];
  for (auto& half : sums)
    for (__m512& one : half) one = _mm512_setzero_ps();
  for (std::uint64_t i = 0; i < task.shape.k; i += 2 * kDotElements) {
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      const __m512bh x = load(task.x + i + half * kDotElements);
      prefetch<keep>(w);
#pragma GCC unroll 8
      for (std::size_t o = 0; o < kOutputs; ++o)
        sums[half][o] = _mm512_dpbf16_ps(sums[half][o], load(w + o * kDotElements), x);
      w += kOutputs * kDotElements;
    }
  }
  store(task, 0, panel, _mm512_add_ps(folded(sums[0]), folded(sums[1])));
}

// Of more rows each has one vector an output. A panel comes from memory with the first tile, and
// from the caches with the others.
template <Keep keep, std::size_t Rows>
void run_rows(const DotTask& task, std::uint64_t panel, std::uint64_t row) {
  const Bf16* w = task.weights + panel * task.shape.panel_elements();
  const Bf16* x = task.x + row * task.shape.k;
  __m512 sums[Rows][kOutputs];
  for (auto& of_row : sums)
    for (__m512& one : of_row) one = _mm512_setzero_ps();
  for (std::uint64_t i = 0; i < task.shape.k; i += kDotElements) {
    __m512bh of_rows[Rows];
#pragma GCC unroll 3
    for (std::size_t r = 0; r < Rows; ++r) of_rows[r] = load(x + r * task.shape.k + i);
    if (row == 0) prefetch<keep>(w);
#pragma GCC unroll 8
    for (std::size_t o = 0; o < kOutputs; ++o) {
      const __m512bh one = load(w + o * kDotElements);
#pragma GCC unroll 3
      for (std::size_t r = 0; r < Rows; ++r)
        sums[r][o] = _mm512_dpbf16_ps(sums[r][o], one, of_rows[r]);
    }
    w += kOutputs * kDotElements;
  }
#pragma GCC unroll 3
  for (std::size_t r = 0; r < Rows; ++r) store(task, row + r, panel, folded(sums[r]));
}

template <Keep keep>
void run_panel(const DotTask& task, std::uint64_t panel) {
  if (task.rows == 1) return run_one_row<keep>(task, panel);
  std::uint64_t row = 0;
  for (; row + 3 <= task.rows; row += 3) run_rows<keep, 3>(task, panel, row);
  if (task.rows - row == 2) run_rows<keep, 2>(task, panel, row);
  if (task.rows - row == 1) run_rows<keep, 1>(task, panel, row);
}

}  // namespace

void run_dots_avx512bf16(const DotTask& task) {
  const auto run =
      task.keep == Keep::kEveryCache ? &run_panel<Keep::kEveryCache> : &run_panel<Keep::kNowhere>;
  for (std::uint64_t panel = task.first_panel; panel < task.last_panel; ++panel) run(task, panel);
}

}  // namespace tare::kernels
