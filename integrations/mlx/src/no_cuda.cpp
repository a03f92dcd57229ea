// What a build without CUDA says of GPUs.
#include "base/error.h"
#include "matrix.h"

namespace tare::in_mlx {

std::shared_ptr<Engine> make_cuda_engine() {
  fail(Blame::kMachine, "this tare_mlx was built for the processor alone; MLX runs on a GPU here.");
}

std::string cuda_device() {
  return "";
}

}  // namespace tare::in_mlx
