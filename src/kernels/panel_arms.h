// The bf16 kernels under the names of their arms: whose order of additions each has. What weighs it
// (modules/tare_cpu.cpp) and what serves it by a plan (integrations/) read the same table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/sum_order.h"

namespace tare::kernels {

struct PanelArm {
  const char* name;
  SumOrder (*order)(std::uint64_t k, std::uint32_t rows);
};

inline constexpr std::array kPanelArms{
    PanelArm{"tare-panel", [](std::uint64_t k, std::uint32_t) { return onednn_order(k); }},
    PanelArm{"tare-panel-ggml", ggml_order}, PanelArm{"tare-panel-onednn3", onednn3_order},
    PanelArm{"tare-panel-mlx", mlx_order}, PanelArm{"tare-panel-onednn-ip", onednn_ip_order}};

// Of the dot kernel (dot.h).
inline constexpr const char* kDotArm = "tare-dot-ggml";

// Null where no arm of the panel kernel is called so.
inline const PanelArm* panel_arm(std::string_view name) {
  for (const PanelArm& arm : kPanelArms)
    if (arm.name == name) return &arm;
  return nullptr;
}

}  // namespace tare::kernels
