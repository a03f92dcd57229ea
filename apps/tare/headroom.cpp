#include "headroom.h"

#include <fmt/ranges.h>

#include <map>

#include "base/error.h"
#include "formats/weight_format.h"
#include "problem/problem.h"
#include "report/text.h"
#include "run.h"

namespace tare::app {

CLI::Validator device_words() {
  return CLI::CheckedTransformer(
             std::map<std::string, arms::Where>{{"cpu", arms::Where::kProcessor},
                                                {"cuda", arms::Where::kCuda}})
      .description("{cpu,cuda}");
}

CLI::Validator equality_words() {
  return CLI::CheckedTransformer(
             std::map<std::string, judge::Equality>{{"incumbent", judge::Equality::kIncumbent},
                                                    {"one-row", judge::Equality::kOneRow},
                                                    {"self", judge::Equality::kSelf},
                                                    {"bounded", judge::Equality::kBounded}})
      .description("{incumbent,one-row,self,bounded}");
}

void check_weighing_options(const HeadroomOptions& options) {
  if (!options.weights.empty() && formats::find_format(options.weights) == nullptr) {
    std::vector<std::string_view> names;
    for (const formats::WeightFormat& format : formats::weight_formats())
      names.push_back(format.name);
    fail(Blame::kInput, "--weights {}: must be one of {}.", report::printable(options.weights),
         fmt::join(names, ", "));
  }
  for (const std::uint32_t rows : options.rows)
    if (rows < 1 || rows > problem::kMostRows)
      fail(Blame::kInput, "--rows {}: from 1 to {}.", rows, problem::kMostRows);
  if (!(options.seconds_per_row > 0 && options.seconds_per_row <= 1e6))
    fail(Blame::kInput, "--seconds-per-row {}: more than 0 and at most 1e6.",
         options.seconds_per_row);
  if (options.traffic && !(*options.traffic > 0 && *options.traffic <= 1e13))
    fail(Blame::kInput, "--traffic {}: bytes, more than 0 and at most 1e13.", *options.traffic);
  if (options.ring_bytes && !(*options.ring_bytes > 0 && *options.ring_bytes <= 1e13))
    fail(Blame::kInput, "--ring {}: bytes, more than 0 and at most 1e13.", *options.ring_bytes);
  if (!(options.scout_bytes > 0 && options.scout_bytes <= 1e13))
    fail(Blame::kInput, "--scout {}: bytes, more than 0 and at most 1e13.", options.scout_bytes);
}

void add_weighing_options(CLI::App& verb, HeadroomOptions& options) {
  verb.add_option("--weights", options.weights,
                  "the weights' type, e.g. bf16, mlx-int4-g64, q4_k; default: as a model's file "
                  "stores them, else bf16");
  verb.add_option("--activations", options.activations,
                  "bf16; or bf16-as-int8: rounded to 8 bits inside the dispatch, as ggml does for "
                  "its quantised weights (the default for those); or f32, with f32 outputs")
      ->check(CLI::IsMember({"bf16", "bf16-as-int8", "f32"}));
  verb.add_option("--projections", options.projections,
                  "only these, e.g. q,k,v,o,gate,up,down,lm_head")
      ->delimiter(',');
  verb.add_flag("--fused", options.fused,
                "q, k and v of a layer side by side as one dispatch, and gate and up; an incumbent "
                "may still do them one after the other");
  verb.add_flag("--bias", options.bias,
                "with the biases that the model has (q, k and v of Qwen2.5), in the same dispatch; "
                "a --shape has one");
  verb.add_option("--rows", options.rows, "tokens per dispatch, e.g. 1,8,32")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--arm", options.plugins,
                  "your own kernel: a shared library with tare/arm.h's ABI")
      ->allow_extra_args(false);
  verb.add_option("--candidate", options.candidate,
                  "the arm to weigh, by name; default: your --arm, else Tare's own kernel");
  verb.add_option("--incumbent", options.incumbent,
                  "the arm to beat, by name; default: the fastest");
  verb.add_option("--equality", options.equality,
                  "what a winner's outputs must keep to be served: the incumbent's bits at this "
                  "row count; in every row the bits of the incumbent's one-row result; the same "
                  "bits of a row whatever is dispatched with it; an error against fp64 that is "
                  "not worse")
      ->transform(equality_words());
  verb.add_option("--device", options.where, "where arms run: the processor, or the first GPU")
      ->transform(device_words());
  verb.add_option("--traffic", options.traffic,
                  "bytes of weights one timed region reads (default 1e9; on a GPU 1e10)");
  verb.add_option(
      "--ring", options.ring_bytes,
      "bytes of distinct weights an arm rotates through (default 4 x last-level cache)");
  verb.add_option("--scout", options.scout_bytes,
                  "of a matrix of more bytes than this a part of the columns tells which incumbent "
                  "is the fastest, and which candidates are equal to it")
      ->capture_default_str();
  verb.add_option("--threads", options.threads, "processors every arm may use (default: all)");
  verb.add_option("--seconds-per-row", options.seconds_per_row,
                  "stop weighing a row after this long")
      ->capture_default_str();
  verb.add_option("--patience", options.patience_seconds,
                  "an arm that gives no answer for so many seconds hangs")
      ->capture_default_str();
  verb.add_option("--seed", options.seed, "of data and order; default: drawn, and recorded");
  verb.add_option("--json", options.json_path,
                  "write every sample and verdict to this file (docs/results-schema.md)");
}

CLI::App* add_headroom(CLI::App& app, HeadroomOptions& options) {
  CLI::App* verb = app.add_subcommand(
      "headroom",
      "How far is this machine's fastest library from the limit, and what would a candidate gain?");
  verb->add_option("--model", options.models,
                   "config.json, .safetensors (or its index) or .gguf, or a built-in model: "
                   "Qwen2.5-1.5B, Qwen3-8B; may be given again")
      ->allow_extra_args(false);
  verb->add_option("--shape", options.shapes, "k x n, e.g. 4096x1024; may be given again")
      ->allow_extra_args(false);
  add_weighing_options(*verb, options);
  verb->add_option("--mode", options.mode,
                   "prepared, or per-call: everything anew in each call, as a naive user would")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, weigh::Mode>{{"prepared", weigh::Mode::kPrepared},
                                                         {"per-call", weigh::Mode::kPerCall}})
                      .description("{prepared,per-call}"));
  verb->add_option("--residency", options.residency,
                   "cold: weights past the cache, as in a decode; hot: one copy, re-read")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, weigh::Residency>{{"cold", weigh::Residency::kCold},
                                                              {"hot", weigh::Residency::kHot}})
                      .description("{cold,hot}"));
  verb->add_flag("--stream-launches", options.stream_launches,
                 "on a GPU: launch every dispatch by itself, not a region as one graph");
  verb->add_flag("--overlap,!--no-overlap", options.overlap,
                 "on a GPU: offer programmatic dependent launch to all arms (the default)");
  verb->add_flag("--all", options.all, "show the other incumbents, too");
  verb->footer(
      "Examples:\n"
      "  tare headroom                                       the two default models\n"
      "  tare headroom --model ./config.json --rows 1,4\n"
      "  tare headroom --shape 4096x1024 --arm ./libmine.so  your kernel against the fastest "
      "library\n"
      "  tare headroom --shape 4096x1024 --weights mlx-int4-g64\n"
      "  tare headroom --traffic 64e6                        see the error that too little traffic "
      "makes\n"
      "  tare headroom --json run.jsonl && tare replay run.jsonl\n"
      "Exit codes: 0 every row has a verdict; 1 a row was refused or failed; 2 bad usage or input; "
      "130 interrupted.");
  return verb;
}

Weighed weigh(const HeadroomOptions& options) {
  check_weighing_options(options);
  return run(options, View::kTable);
}

int headroom(const HeadroomOptions& options) {
  return weigh(options).exit_code;
}

}  // namespace tare::app
