// What both arms of MLX on CUDA end with: the table of their one executor.
#pragma once

#include <mlx/version.h>

#include "device_arm_table.h"
#include "mlx_cuda_executor.h"

namespace tare::modules {

template <typename Executor>
tare_device_arm mlx_cuda_arm(const char* name, const char* title, decltype(tare_arm::open) open) {
  const auto prepare = [](const tare_problem* problem, std::uint32_t slots, Executor** executor,
                          char* why, std::size_t why_size) {
    return fenced(why, why_size, [&] { *executor = new Executor(*problem, slots); });
  };
  return device_arm_table<Executor>({0U, name, title, mlx::core::version()},
                                    {open, mlx_cuda_supports, prepare});
}

}  // namespace tare::modules
