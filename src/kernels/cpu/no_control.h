// For instruction sets that flush subnormals whatever the control word says; the others have
// flush_subnormals.h.
#pragma once

namespace tare::kernels {
namespace {

struct NoControl {};

}  // namespace
}  // namespace tare::kernels
