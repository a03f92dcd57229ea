// The processor's control word, while a kernel runs: round to nearest even, no traps, and what
// becomes of subnormals, whatever the caller's word says. Put back afterwards, sticky flags
// included (TRAPS C8).
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace tare::kernels {
namespace {

// Where a kernel needs no word of its own.
struct NoGuard {};

#if defined(__x86_64__) || defined(__i386__)
template <unsigned kWord>
class ControlWord {
 public:
  ControlWord() : before_(_mm_getcsr()) { _mm_setcsr(kWord); }
  ~ControlWord() { _mm_setcsr(before_); }
  ControlWord(const ControlWord&) = delete;
  ControlWord& operator=(const ControlWord&) = delete;

 private:
  unsigned before_;
};
inline constexpr unsigned kMasked = 0x1F80;
// Results and inputs flushed, as vdpbf16ps does whatever the control word says.
using FlushSubnormals = ControlWord<kMasked | 0x8000u | 0x0040u>;
using KeepSubnormals = ControlWord<kMasked>;
#else
using KeepSubnormals = NoGuard;
#endif

}  // namespace
}  // namespace tare::kernels
