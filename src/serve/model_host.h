// A whole model in an engine of its own process, with a plan or without: the parent's end of
// integrations/llama.cpp/model_host.cpp and of integrations/mlx/tare_mlx/host.py.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tare::serve {

using Token = std::int32_t;

struct ModelHostOptions {
  std::string engine = "llama.cpp";    // as printed
  std::string executable;              // llama-host, or a Python
  std::vector<std::string> arguments;  // that come before the model
  std::string python_path;             // PYTHONPATH, where this process has none
  std::string model;                   // .gguf; what tare_mlx.models takes
  std::uint32_t threads = 1;
  bool on_device = false;       // its products run on a GPU, not on those threads
  std::uint32_t context = 512;  // tokens, of all sequences together
  std::uint32_t sequences = 1;  // that are decoded side by side, at most
  std::string backend;          // libggml-tare.so; "": the engine needs none
  std::string plan;             // a plan's file; "": the engine by itself
};

// One product of a model's matrix, as it was computed.
struct Projection {
  std::string weights;  // "blk.0.attn_q.weight"
  std::uint64_t k = 0, n = 0;
  std::uint32_t rows = 0;
  std::string type;    // of the weights: "q8_0"
  std::string digest;  // of its output, where outputs were watched
  double seconds = 0;  // that it took by itself, where times were
  // Outputs of all products that were given the same array, where the engine says so and serves
  // them side by side as one; 0: of this one alone.
  std::uint64_t together = 0;
};

// What a timed stretch took, on the host's own clock.
struct Timed {
  double seconds = 0;
  double cpu_seconds = 0;
  double page_faults = 0;
  double involuntary_switches = 0;
};

// Batches as a server has them: the next token of each of `rows` sequences, or, with `anew`,
// prompts of so many tokens, each in an empty context.
struct Stretch {
  std::uint64_t rows = 1;
  std::uint64_t count = 1;
  bool anew = false;
};

// One request at a time. The process loads its model while others are started; the first request
// waits for it. All throw tare::Error: kInput for a model that cannot be loaded, kArm when
// the host ends or answers something else.
class ModelHost {
 public:
  explicit ModelHost(const ModelHostOptions& options);
  ~ModelHost();
  ModelHost(const ModelHost&) = delete;
  ModelHost& operator=(const ModelHost&) = delete;

  std::uint64_t vocabulary();
  std::vector<Token> tokens(const std::string& text);
  // [tokens][vocabulary], evaluated `rows` at a time.
  std::vector<float> logits(const std::vector<Token>& tokens, std::uint64_t rows);
  // All projections of such an evaluation, in order.
  std::vector<Projection> trace(const std::vector<Token>& tokens, std::uint64_t rows);
  // The output of the `index`-th of them.
  std::vector<float> output(const std::vector<Token>& tokens, std::uint64_t rows,
                            std::size_t index);
  // Makes ready for time(): so many tokens in each of so many sequences.
  void begin(std::uint64_t before, std::uint64_t sequences);
  // Goes on from there.
  Timed time(const Stretch& stretch);
  // The projections of such batches, each timed by itself: with what it costs to start a graph of
  // one node (some microseconds). Disturbs begin().
  std::vector<Projection> profile(const Stretch& stretch, std::uint64_t before);

  pid_t pid() const { return pid_; }

 private:
  std::string ask(const std::string& request);
  std::string answer();
  template <typename Element>
  std::vector<Element> ask_for(const std::string& request);

  pid_t pid_ = -1;
  bool is_ready_ = false;
  int requests_ = -1, answers_ = -1;  // pipes
};

}  // namespace tare::serve
