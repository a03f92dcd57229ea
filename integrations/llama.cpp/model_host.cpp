// One model in llama.cpp's library, driven through its standard input and output: `tare
// verify-model` and `tare weigh-model` start it twice, once with a plan and once without, and
// compare (src/serve/model_host.h has the other end, and describes the requests).
//
// usage: llama-host MODEL THREADS CONTEXT
// A request is a line of words; an answer is its length in bytes, 8 bytes of it, and then so many.
// A request that fails is answered by a sentence: its length has the highest bit set.
#include <fmt/format.h>
#include <ggml-backend.h>
#include <llama.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"

namespace tare::llama {
namespace {

using Tokens = std::vector<llama_token>;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kFailed = std::uint64_t{1} << 63;

// ---- what is watched inside a graph ------------------------------------------------------------

// FNV-1a in words of 8 bytes: tells outputs apart, no more.
std::uint64_t digest_of(const std::vector<char>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return hash;
}

bool is_projection(const ggml_tensor* node) {
  const ggml_tensor* weights = node->op == GGML_OP_MUL_MAT ? node->src[0] : nullptr;
  return weights != nullptr && weights->buffer != nullptr &&
         ggml_backend_buffer_get_usage(weights->buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

// The outputs of all projections, in the order in which they are computed.
struct Tap {
  bool on = false;
  std::int64_t wanted = -1;  // whose output is kept
  std::int64_t seen = 0;
  std::string lines;  // weight, k, n, digest of the output
  std::vector<char> output;
  std::vector<char> bytes;

  void look(const ggml_tensor* node) {
    bytes.resize(ggml_nbytes(node));
    ggml_backend_tensor_get(node, bytes.data(), 0, bytes.size());
    lines += fmt::format("{} {} {} {:016x}\n", node->src[0]->name, node->src[0]->ne[0],
                         node->src[0]->ne[1], digest_of(bytes));
    if (seen++ == wanted) output = bytes;
  }
};

bool on_node(ggml_tensor* node, bool ask, void* context) {
  Tap& tap = *static_cast<Tap*>(context);
  const bool wanted = tap.on && is_projection(node);
  if (!ask && wanted) tap.look(node);
  return ask ? wanted : true;
}

// ---- the model ---------------------------------------------------------------------------------

class Model {
 public:
  Model(const char* path, int threads, std::uint32_t context) : context_length_(context) {
    llama_model_params how = llama_model_default_params();
    model_.reset(llama_model_load_from_file(path, how));
    if (!model_) fail(Blame::kInput, "llama.cpp cannot load '{}'", path);
    vocabulary_ = llama_model_get_vocab(model_.get());
    plain_ = new_context(threads, nullptr);
    tapped_ = new_context(threads, &tap_);
  }

  std::size_t vocabulary() const {
    return static_cast<std::size_t>(llama_vocab_n_tokens(vocabulary_));
  }

  Tokens tokens(const std::string& text) const {
    Tokens all(text.size() + 8);
    const int count =
        llama_tokenize(vocabulary_, text.data(), static_cast<std::int32_t>(text.size()), all.data(),
                       static_cast<std::int32_t>(all.size()), true, false);
    if (count < 0) fail(Blame::kInput, "the text cannot be tokenized");
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

  // Logits of every token, evaluated from an empty context, `rows` at a time.
  std::vector<float> logits(const Tokens& all, std::size_t rows) {
    std::vector<float> logits;
    logits.reserve(all.size() * vocabulary());
    evaluate(plain_.get(), all, rows, [&](llama_context* context, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const float* one = llama_get_logits_ith(context, static_cast<std::int32_t>(i));
        logits.insert(logits.end(), one, one + vocabulary());
      }
    });
    return logits;
  }

  // The projections of such an evaluation; `wanted`: whose output is kept.
  const Tap& trace(const Tokens& all, std::size_t rows, std::int64_t wanted) {
    tap_ = {};
    tap_.on = true;
    tap_.wanted = wanted;
    evaluate(tapped_.get(), all, rows, [](llama_context*, std::size_t) {});
    tap_.on = false;
    return tap_;
  }

  // An empty context, and then so many tokens in it.
  void begin(std::size_t count) {
    llama_memory_clear(llama_get_memory(plain_.get()), true);
    position_ = 0;
    if (count > 0) go_on(some_tokens(count));
  }

  // `count` batches of `rows` from there; each from an empty context with `anew`.
  double seconds(std::size_t rows, std::size_t count, bool anew) {
    const Tokens drawn = some_tokens(rows * count);
    double seconds = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (anew) begin(0);
      const auto from = drawn.begin() + static_cast<std::ptrdiff_t>(i * rows);
      const Tokens batch(from, from + static_cast<std::ptrdiff_t>(rows));
      const auto start = Clock::now();
      go_on(batch);
      (void)llama_get_logits_ith(plain_.get(), -1);
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
    }
    return seconds;
  }

 private:
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  using Context = std::unique_ptr<llama_context, Free>;

  Context new_context(int threads, Tap* tap) {
    llama_context_params how = llama_context_default_params();
    how.n_ctx = how.n_batch = how.n_ubatch = context_length_;
    how.n_threads = how.n_threads_batch = threads;
    if (tap != nullptr) {
      how.cb_eval = on_node;
      how.cb_eval_user_data = tap;
    }
    Context context(llama_init_from_model(model_.get(), how));
    if (!context) fail(Blame::kMachine, "llama.cpp has no memory for a context");
    return context;
  }

  // Ordinary tokens, the same in every process.
  Tokens some_tokens(std::size_t count) const {
    Tokens drawn(count);
    std::uint64_t state = 12345;
    for (llama_token& token : drawn) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      token = static_cast<llama_token>(1000 + (state >> 33) % (vocabulary() / 2));
    }
    return drawn;
  }

  void go_on(const Tokens& tokens) {
    decode(plain_.get(), tokens.data(), tokens.size(), position_, false);
    position_ += tokens.size();
  }

  static void decode(llama_context* context, const llama_token* tokens, std::size_t count,
                     std::size_t position, bool all_logits) {
    llama_batch batch = llama_batch_init(static_cast<std::int32_t>(count), 0, 1);
    batch.n_tokens = static_cast<std::int32_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
      batch.token[i] = tokens[i];
      batch.pos[i] = static_cast<llama_pos>(position + i);
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = all_logits || i + 1 == count;
    }
    const int status = llama_decode(context, batch);
    llama_batch_free(batch);
    if (status != 0) fail(Blame::kArm, "llama_decode failed with {}", status);
  }

  template <typename Take>
  void evaluate(llama_context* context, const Tokens& all, std::size_t rows, Take&& take) {
    if (all.empty() || rows == 0 || all.size() > context_length_)
      fail(Blame::kInput, "{} tokens do not fit a context of {}", all.size(), context_length_);
    llama_memory_clear(llama_get_memory(context), true);
    for (std::size_t at = 0; at < all.size(); at += rows) {
      const std::size_t count = std::min(rows, all.size() - at);
      decode(context, all.data() + at, count, at, true);
      take(context, count);
    }
  }

  std::uint32_t context_length_;
  std::size_t position_ = 0;  // of the plain context
  Tap tap_;
  std::unique_ptr<llama_model, Free> model_;
  const llama_vocab* vocabulary_ = nullptr;
  Context plain_, tapped_;
};

// ---- requests ----------------------------------------------------------------------------------

void answer(const void* bytes, std::uint64_t size, std::uint64_t flag = 0) {
  const std::uint64_t header = size | flag;
  std::fwrite(&header, sizeof header, 1, stdout);
  std::fwrite(bytes, 1, size, stdout);
  std::fflush(stdout);
}
template <typename Element>
void answer(const std::vector<Element>& all) {
  answer(all.data(), all.size() * sizeof(Element));
}
void answer(const std::string& text) {
  answer(text.data(), text.size());
}

Tokens rest_as_tokens(std::istringstream& words) {
  Tokens tokens;
  for (llama_token token; words >> token;) tokens.push_back(token);
  return tokens;
}

double processor_seconds(const rusage& used) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// seconds, processor seconds, page faults, involuntary switches
void answer_time(Model& model, std::istringstream& words) {
  std::size_t rows = 0, count = 0;
  bool anew = false;
  words >> rows >> count >> anew;
  rusage start{}, end{};
  getrusage(RUSAGE_SELF, &start);
  const double seconds = model.seconds(rows, count, anew);
  getrusage(RUSAGE_SELF, &end);
  answer(std::vector<double>{seconds, processor_seconds(end) - processor_seconds(start),
                             static_cast<double>(end.ru_minflt - start.ru_minflt),
                             static_cast<double>(end.ru_nivcsw - start.ru_nivcsw)});
}

void answer_request(Model& model, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::size_t rows = 0;
  words >> verb;
  if (verb == "vocabulary") {
    answer(std::vector<std::uint64_t>{model.vocabulary()});
  } else if (verb == "tokens") {
    answer(model.tokens(line.substr(verb.size() + 1)));
  } else if (verb == "logits" && words >> rows) {
    answer(model.logits(rest_as_tokens(words), rows));
  } else if (verb == "trace" && words >> rows) {
    answer(model.trace(rest_as_tokens(words), rows, -1).lines);
  } else if (std::int64_t wanted = 0; verb == "output" && words >> wanted >> rows) {
    answer(model.trace(rest_as_tokens(words), rows, wanted).output);
  } else if (verb == "begin" && words >> rows) {
    model.begin(rows);
    answer(std::string());
  } else if (verb == "time") {
    answer_time(model, words);
  } else {
    fail(Blame::kInput, "no such request: {}", line.substr(0, 60));
  }
}

int serve(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: llama-host MODEL THREADS CONTEXT (started by tare verify-model)\n");
    return 2;
  }
  const bool talks = std::getenv("TARE_LOG") != nullptr;
  if (!talks) llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  ggml_backend_load_all();
  Model model(arguments[1], std::stoi(arguments[2]),
              static_cast<std::uint32_t>(std::stoul(arguments[3])));
  answer(std::string("ready"));
  for (std::string line; std::getline(std::cin, line);) {
    try {
      answer_request(model, line);
    } catch (const std::exception& error) {
      answer(error.what(), std::strlen(error.what()), kFailed);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tare::llama

int main(int count, char** arguments) {
  try {
    return tare::llama::serve(count, arguments);
  } catch (const std::exception& error) {
    tare::llama::answer(error.what(), std::strlen(error.what()), tare::llama::kFailed);
    return 1;
  }
}
