// What the two arms of MLX on its CUDA device share (mlx_cuda.cpp, mlx_cuda_queued.cpp): matmul(x,
// W^T) in bf16, as mlx.nn.Linear writes it, and quantized_matmul of affine 4- and 8-bit weights
// with bf16 scales, as mlx.nn.QuantizedLinear does. They differ in when a region's graph is made.
//
// MLX's streams cannot be captured: they meet other streams and threads of MLX in every commit. It
// finds dependences by buffer, and would run dispatches that share no buffer side by side; those of
// a region depend on each other (tare/arm.h), so each reads its x through a primitive that waits.
//
// Weights lie in memory of the device: arrays are made there, and filled by copies. (The array
// constructor takes managed memory.) The sums of 4-bit weights are bf16 ones where MLX multiplies a
// single row (qmv.cu); the proof of a row says how far that is from what was asked for.
//
// Called from one thread, as every arm is. Throws tare::Error and what MLX throws.
#pragma once

#include <cuda_runtime.h>
#include <mlx/array.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlx_weights.h"
#include "tare/arm.h"

namespace tare::modules {

// MLX's stream of the device, and all that was handed to it done.
cudaStream_t mlx_stream();
void wait_for_mlx();

// When a region ran: on the device's clock, and on the processor of the thread that made its graph.
class MlxRegionClock {
 public:
  MlxRegionClock();
  ~MlxRegionClock();
  MlxRegionClock(const MlxRegionClock&) = delete;
  MlxRegionClock& operator=(const MlxRegionClock&) = delete;

  void begin();                                          // in front of the first dispatch
  void end();                                            // behind the last
  double device_seconds() const;                         // once the stream is idle
  double host_seconds() const { return host_seconds_; }  // from begin() to end()

 private:
  cudaEvent_t before_ = nullptr, behind_ = nullptr;
  double begun_ = 0, host_seconds_ = 0;
};

class MlxCudaExecutor {
 public:
  MlxCudaExecutor(const tare_problem& problem, std::uint32_t slots);
  ~MlxCudaExecutor();
  MlxCudaExecutor(const MlxCudaExecutor&) = delete;
  MlxCudaExecutor& operator=(const MlxCudaExecutor&) = delete;

  void bind(std::uint32_t slot, const void* weights);
  void set_rows(std::uint32_t rows);

  // One dispatch of a caller whose x and y are on the host; finished by finish_host_dispatches().
  bool enqueue(std::uint32_t slot, const void* x, void* y) noexcept;

  double collect();

 protected:
  void finish_host_dispatches();

  // The dispatches of `region` are staged(), their inputs on the device, their kernels loaded.
  void take_region(const tare_region& region);
  const std::vector<tare_dispatch>& staged() const { return staged_; }
  // MLX's lazy graph of all that is staged, one dispatch behind the other, and its evaluation: the
  // device may still be running.
  void build_graph();
  void evaluate();
  void forget() noexcept;  // the graph

  MlxRegionClock& clock() { return clock_; }
  // `how`, in words, a region's dispatches were called; `place` of what that cost: "in the region".
  void describe_as(tare_dispatch_record& record, const std::string& how,
                   const std::string& place) const;

 private:
  // The weights of one slot: W^T as a view, or the three arrays of quantized_matmul.
  struct Weights {
    mlx::core::array matrix;
    std::optional<mlx::core::array> scales, biases;
  };
  struct Input {
    const void* x;  // on the host
    mlx::core::array array;
  };
  struct Output {
    void* y;  // on the host
    mlx::core::array newest;
  };

  static Weights plain(const tare_problem& problem, const void* weights);
  static Weights quantised(const tare_problem& problem, const MlxAffine& affine,
                           const void* weights);
  mlx::core::array product(const mlx::core::array& x, const Weights& weights) const;
  const mlx::core::array& input(const void* x);
  void take_input(const void* x);
  void add(const tare_dispatch& dispatch);
  void remember(void* y, mlx::core::array result);
  void warm_up(const tare_dispatch& dispatch);
  void copy_outputs() const;

  tare_problem problem_;
  MlxAffine affine_;
  std::vector<std::optional<Weights>> ring_;
  std::vector<Input> inputs_;    // kept from region to region, filled anew
  std::vector<Output> outputs_;  // of the dispatches since the last fence
  std::optional<mlx::core::array> last_;
  std::vector<tare_dispatch> staged_;
  MlxRegionClock clock_;
  bool warm_ = false;  // the kernels of this row count have run
  std::size_t dispatches_ = 0;
};

// What both arms answer in open() and supports(). 0, or non-zero and a sentence in `why`.
int open_mlx_cuda(char* why, std::size_t why_size);
int mlx_cuda_supports(const tare_problem* problem, char* why, std::size_t why_size);

}  // namespace tare::modules
