// What is watched inside a graph of llama.cpp's: the outputs of all products of a model's matrices,
// or how long each takes.
#pragma once

#include <ggml-backend.h>
#include <ggml.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tare::llama {

class Tap {
 public:
  enum class Watch {
    kNothing,
    kOutputs,
    kTimes,  // every node by itself
  };

  // As llama.cpp's cb_eval takes it; `context` is a Tap.
  static bool on_node(ggml_tensor* node, bool ask, void* context);

  // Begins anew. `wanted`: which product's output is kept, in the order of computing; -1: none's.
  void begin(Watch watch, std::int64_t wanted = -1);
  void end() { watch_ = Watch::kNothing; }

  // A line a product: weight, k, n, rows, type, and the output's digest or the seconds it took.
  const std::string& lines() const { return lines_; }
  const std::vector<char>& output() const { return output_; }

 private:
  void look(const ggml_tensor* node);
  void note(const ggml_tensor* node, const std::string& last_word);

  Watch watch_ = Watch::kNothing;
  std::int64_t wanted_ = -1, seen_ = 0;
  std::string lines_;
  std::vector<char> output_, bytes_;
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace tare::llama
