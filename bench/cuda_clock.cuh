// A stream whose work is captured as graphs, and how long replays of them take.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "bench/cuda_check.cuh"

namespace tare::bench {

class GraphClock {
 public:
  GraphClock() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
    check(cudaEventCreate(&before_), "event");
    check(cudaEventCreate(&after_), "event");
  }
  ~GraphClock() {
    cudaEventDestroy(before_);
    cudaEventDestroy(after_);
    cudaStreamDestroy(stream_);
  }
  GraphClock(const GraphClock&) = delete;
  GraphClock& operator=(const GraphClock&) = delete;

  cudaStream_t stream() const { return stream_; }

  // What `record()` puts on the stream, uploaded, into `ready`, which the caller destroys. Where it
  // cannot be a graph: why.
  template <typename Record>
  cudaError_t capture(Record&& record, cudaGraphExec_t& ready) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    record();
    cudaError_t error = cudaStreamEndCapture(stream_, &graph);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&ready, graph, 0);
    if (error == cudaSuccess) error = cudaGraphUpload(ready, stream_);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return error;
  }

  // Seconds of one replay.
  double time(cudaGraphExec_t ready) {
    check(cudaEventRecord(before_, stream_), "event");
    check(cudaGraphLaunch(ready, stream_), "launch");
    check(cudaEventRecord(after_, stream_), "event");
    check(cudaStreamSynchronize(stream_), "replay");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, before_, after_), "elapsed");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  // Seconds of each of some replays of what `record()` puts on the stream.
  template <typename Record>
  std::vector<double> times(int turns, Record&& record) {
    cudaGraphExec_t ready = nullptr;
    check(capture(record, ready), "graph");
    std::vector<double> seconds;
    for (int turn = 0; turn < turns; ++turn) seconds.push_back(time(ready));
    cudaGraphExecDestroy(ready);
    return seconds;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr, after_ = nullptr;
};

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace tare::bench
