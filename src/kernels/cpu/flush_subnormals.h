// The processor's control word, while a kernel runs: round to nearest even, no traps, subnormals
// flushed both ways, as vdpbf16ps does whatever the control word says. Put back afterwards, sticky
// flags included (TRAPS C8).
#pragma once

#include <xmmintrin.h>

namespace tare::kernels {
namespace {

class FlushSubnormals {
 public:
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(kFlushing); }
  ~FlushSubnormals() { _mm_setcsr(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  static constexpr unsigned kFlushing =
      0x1F80u | 0x8000u | 0x0040u;  // masked | flush results | flush inputs
  unsigned before_;
};

}  // namespace
}  // namespace tare::kernels
