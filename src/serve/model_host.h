// A whole model in an engine of its own process, with a plan or without: the parent's end of
// integrations/llama.cpp/model_host.cpp.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tare::serve {

using Token = std::int32_t;

struct ModelHostOptions {
  std::string executable;  // llama-host
  std::string model;       // .gguf
  std::uint32_t threads = 1;
  std::uint32_t context = 512;  // tokens
  std::string backend, plan;    // libggml-tare.so and a plan's file; "": the engine by itself
};

// One product of a model's matrix, as it was computed.
struct Projection {
  std::string weights;  // "blk.0.attn_q.weight"
  std::uint64_t k = 0, n = 0;
  std::string digest;  // of its output
};

// What a timed stretch took, on the host's own clock.
struct Timed {
  double seconds = 0;
  double cpu_seconds = 0;
  double page_faults = 0;
  double involuntary_switches = 0;
};

struct Stretch {
  std::uint64_t rows = 1;   // tokens evaluated together
  std::uint64_t count = 1;  // batches
  bool anew = false;        // each begins with an empty context: prompts
};

// One request at a time. All throw tare::Error: kInput for a model that cannot be loaded, kArm when
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
  // Makes ready for time(): a context that holds so many tokens.
  void begin(std::uint64_t tokens);
  // Goes on from there. With `anew` every batch begins with an empty context.
  Timed time(const Stretch& stretch);

  pid_t pid() const { return pid_; }

 private:
  std::string ask(const std::string& request);
  std::string answer();
  template <typename Element>
  std::vector<Element> ask_for(const std::string& request);

  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1;  // pipes
};

}  // namespace tare::serve
