// One model in llama.cpp's library, driven through its standard input and output: `tare
// verify-model` and `tare weigh-model` start it twice, once with a plan and once without, and
// compare (src/serve/model_host.h has the other end, and describes the requests).
//
// usage: llama-host MODEL THREADS CONTEXT SEQUENCES
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
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "tap.h"

namespace tare::llama {
namespace {

using Tokens = std::vector<llama_token>;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kFailed = std::uint64_t{1} << 63;

// ---- the model ---------------------------------------------------------------------------------

// llama.cpp reserves memory for a batch's logits: more than this many tokens come in several.
constexpr std::uint32_t kMostTokensOfBatch = 512;

struct Size {
  int threads = 1;
  std::uint32_t context = 512;  // tokens, of all sequences together
  std::uint32_t sequences = 1;  // that are decoded side by side
};

// Batches as a server has them: the next token of each of `rows` sequences, or, with `anew`, a
// prompt of so many tokens in an empty context.
struct Batches {
  std::size_t rows = 1, count = 1;
  bool anew = false;
};

class Model {
 public:
  Model(const char* path, const Size& size) : size_(size) {
    model_.reset(llama_model_load_from_file(path, llama_model_default_params()));
    if (!model_) fail(Blame::kInput, "llama.cpp cannot load '{}'", path);
    vocabulary_ = llama_model_get_vocab(model_.get());
    plain_.context = new_context(nullptr);
  }

  std::size_t vocabulary() const {
    return static_cast<std::size_t>(llama_vocab_n_tokens(vocabulary_));
  }

  Tokens tokens(const std::string& text) const {
    Tokens all(text.size() + 8);
    const auto into = [&] {
      return llama_tokenize(vocabulary_, text.data(), static_cast<std::int32_t>(text.size()),
                            all.data(), static_cast<std::int32_t>(all.size()), true, false);
    };
    std::int32_t count = into();
    if (count < 0 && count != std::numeric_limits<std::int32_t>::min()) {  // so many are needed
      all.resize(static_cast<std::size_t>(-count));
      count = into();
    }
    if (count < 0) fail(Blame::kInput, "the text cannot be tokenized");
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

  // Logits of every token, evaluated from an empty context, `rows` at a time.
  std::vector<float> logits(const Tokens& all, std::size_t rows) {
    std::vector<float> logits;
    logits.reserve(all.size() * vocabulary());
    evaluate(plain_.context.get(), all, rows, [&](llama_context* context, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const float* one = llama_get_logits_ith(context, static_cast<std::int32_t>(i));
        logits.insert(logits.end(), one, one + vocabulary());
      }
    });
    return logits;
  }

  // The projections of such an evaluation; `wanted`: whose output is kept.
  const Tap& trace(const Tokens& all, std::size_t rows, std::int64_t wanted) {
    llama_context* context = tapped().context.get();
    tap_.begin(Tap::Watch::kOutputs, wanted);
    evaluate(context, all, rows, [](llama_context*, std::size_t) {});
    tap_.end();
    return tap_;
  }

  // What each projection of such batches took, one batch after the other; `before`: as begin() has
  // it.
  const Tap& profile(const Batches& batches, std::size_t before) {
    Place& place = tapped();
    begin(place, batches.anew ? 0 : before, batches.rows);
    tap_.begin(Tap::Watch::kTimes);
    (void)seconds(place, batches);
    tap_.end();
    return tap_;
  }

  // Empty sequences, and then so many tokens in each.
  void begin(std::size_t before, std::size_t sequences) { begin(plain_, before, sequences); }

  // `count` batches from there.
  double seconds(const Batches& batches) { return seconds(plain_, batches); }

 private:
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  using Context = std::unique_ptr<llama_context, Free>;

  // A context, and how many tokens each of its sequences holds.
  struct Place {
    Context context;
    std::size_t position = 0;
  };

  Context new_context(Tap* tap) {
    llama_context_params how = llama_context_default_params();
    how.n_ctx = size_.context;
    how.n_batch = how.n_ubatch = std::min(size_.context, kMostTokensOfBatch);
    how.n_seq_max = size_.sequences;
    how.kv_unified = true;
    how.n_threads = how.n_threads_batch = size_.threads;
    if (tap != nullptr) {
      how.cb_eval = Tap::on_node;
      how.cb_eval_user_data = tap;
    }
    Context context(llama_init_from_model(model_.get(), how));
    if (!context) fail(Blame::kMachine, "llama.cpp has no memory for a context");
    return context;
  }

  // Made when it is asked for: it doubles what contexts take.
  Place& tapped() {
    if (!tapped_.context) tapped_.context = new_context(&tap_);
    return tapped_;
  }

  // Ordinary tokens, the same in every process: from the second quarter of the vocabulary on.
  Tokens some_tokens(std::size_t count) const {
    Tokens drawn(count);
    std::uint64_t state = 12345;
    for (llama_token& token : drawn) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      token = static_cast<llama_token>(vocabulary() / 4 + (state >> 33) % (vocabulary() / 2));
    }
    return drawn;
  }

  void begin(Place& place, std::size_t before, std::size_t sequences) {
    llama_memory_clear(llama_get_memory(place.context.get()), true);
    place.position = before;
    const Tokens drawn = some_tokens(before);
    for (std::size_t sequence = 0; before > 0 && sequence < sequences; ++sequence)
      decode_one_sequence(place.context.get(), drawn, {.sequence = sequence}, Logits::kOfLast);
  }

  double seconds(Place& place, const Batches& batches) {
    const Tokens drawn = some_tokens(batches.rows * batches.count);
    double seconds = 0;
    for (std::size_t i = 0; i < batches.count; ++i) {
      const std::span<const llama_token> batch(drawn.data() + i * batches.rows, batches.rows);
      if (batches.anew) begin(place, 0, 1);
      const auto start = Clock::now();
      if (batches.anew)
        decode_one_sequence(place.context.get(), batch, {}, Logits::kOfLast);
      else
        decode_side_by_side(place.context.get(), batch, place.position++);
      (void)llama_get_logits_ith(place.context.get(), -1);
      seconds += std::chrono::duration<double>(Clock::now() - start).count();
    }
    return seconds;
  }

  enum class Logits { kOfAll, kOfLast };

  // Where a sequence goes on.
  struct From {
    std::size_t sequence = 0, position = 0;
  };
  static void decode_one_sequence(llama_context* context, std::span<const llama_token> tokens,
                                  From from, Logits wanted) {
    decode(context, tokens, [&](llama_batch& batch, std::size_t i) {
      batch.pos[i] = static_cast<llama_pos>(from.position + i);
      batch.seq_id[i][0] = static_cast<llama_seq_id>(from.sequence);
      batch.logits[i] = wanted == Logits::kOfAll || i + 1 == tokens.size() ? 1 : 0;
    });
  }

  // One token of each sequence, all at `position`.
  static void decode_side_by_side(llama_context* context, std::span<const llama_token> tokens,
                                  std::size_t position) {
    decode(context, tokens, [&](llama_batch& batch, std::size_t i) {
      batch.pos[i] = static_cast<llama_pos>(position);
      batch.seq_id[i][0] = static_cast<llama_seq_id>(i);
      batch.logits[i] = 1;
    });
  }

  template <typename Place>
  static void decode(llama_context* context, std::span<const llama_token> tokens, Place&& place) {
    llama_batch batch = llama_batch_init(static_cast<std::int32_t>(tokens.size()), 0, 1);
    batch.n_tokens = static_cast<std::int32_t>(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      batch.token[i] = tokens[i];
      batch.n_seq_id[i] = 1;
      place(batch, i);
    }
    const int status = llama_decode(context, batch);
    llama_batch_free(batch);
    if (status != 0) fail(Blame::kArm, "llama_decode failed with {}", status);
  }

  template <typename Take>
  void evaluate(llama_context* context, const Tokens& all, std::size_t rows, Take&& take) {
    if (all.empty() || rows == 0 || all.size() > size_.context)
      fail(Blame::kInput, "{} tokens do not fit a context of {}", all.size(), size_.context);
    llama_memory_clear(llama_get_memory(context), true);
    for (std::size_t at = 0; at < all.size(); at += rows) {
      const std::size_t count = std::min(rows, all.size() - at);
      decode_one_sequence(context, std::span(all).subspan(at, count), {.position = at},
                          Logits::kOfAll);
      take(context, count);
    }
  }

  Size size_;
  Tap tap_;
  std::unique_ptr<llama_model, Free> model_;
  const llama_vocab* vocabulary_ = nullptr;
  Place plain_, tapped_;
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

Batches batches_of(std::istringstream& words) {
  Batches batches;
  if (!(words >> batches.rows >> batches.count >> batches.anew))
    fail(Blame::kInput, "batches are ROWS COUNT ANEW");
  return batches;
}

// seconds, processor seconds, page faults, involuntary switches
void answer_time(Model& model, std::istringstream& words) {
  const Batches batches = batches_of(words);
  rusage start{}, end{};
  getrusage(RUSAGE_SELF, &start);
  const double seconds = model.seconds(batches);
  getrusage(RUSAGE_SELF, &end);
  answer(std::vector<double>{seconds, processor_seconds(end) - processor_seconds(start),
                             static_cast<double>(end.ru_minflt - start.ru_minflt),
                             static_cast<double>(end.ru_nivcsw - start.ru_nivcsw)});
}

void answer_request(Model& model, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::size_t rows = 0, before = 0;
  words >> verb;
  if (verb == "vocabulary") {
    answer(std::vector<std::uint64_t>{model.vocabulary()});
  } else if (verb == "tokens") {
    answer(model.tokens(line.substr(verb.size() + 1)));
  } else if (verb == "logits" && words >> rows) {
    answer(model.logits(rest_as_tokens(words), rows));
  } else if (verb == "trace" && words >> rows) {
    answer(model.trace(rest_as_tokens(words), rows, -1).lines());
  } else if (std::int64_t wanted = 0; verb == "output" && words >> wanted >> rows) {
    answer(model.trace(rest_as_tokens(words), rows, wanted).output());
  } else if (verb == "begin" && words >> before >> rows) {
    model.begin(before, rows);
    answer(std::string());
  } else if (verb == "time") {
    answer_time(model, words);
  } else if (verb == "profile" && words >> before) {
    answer(model.profile(batches_of(words), before).lines());
  } else {
    fail(Blame::kInput, "no such request: {}", line.substr(0, 60));
  }
}

int serve(int count, char** arguments) {
  if (count != 5) {
    fmt::print(
        stderr,
        "usage: llama-host MODEL THREADS CONTEXT SEQUENCES (started by tare verify-model)\n");
    return 2;
  }
  const bool talks = std::getenv("TARE_LOG") != nullptr;
  if (!talks) llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  ggml_backend_load_all();
  const auto number = [&](int at) { return static_cast<std::uint32_t>(std::stoul(arguments[at])); };
  Model model(arguments[1], {static_cast<int>(number(2)), number(3), number(4)});
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
