// A plan: what to do with every projection of a model on one machine, and what each decision rests
// on. Engines that serve read it (include/tare/plan.h); docs/plan.md describes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "report/results.h"
#include "tare/arm.h"

namespace tare::plan {

inline constexpr const char* kSchema = "tare.plan/1";

// One implementation as it was when the plan was made.
struct Module {
  std::string arm;     // "ggml"
  std::string title;   // "ggml 0.25.3"
  std::string digest;  // of the module's file (prove::digest_of_file)
};

// What a plan is valid for. Speed hangs on all of it.
struct Keys {
  std::string processor;         // "AMD EPYC (Zen 5)"
  std::uint32_t cores = 0;       // that the process could use
  std::uint32_t threads = 0;     // that every arm had
  std::vector<std::string> isa;  // names of report/fields.h, those that are usable
  std::string accelerator;       // "NVIDIA H200, driver 590.48.01"; "": the processor
  std::vector<Module> modules;   // that some decision's incumbent or candidate is
};

// One side of a decision, as its dispatch record names it.
struct Side {
  std::string arm;      // "tare-grouped"
  std::string title;    // "Tare grouped 0.1.0"
  std::string kernel;   // "tare-grouped:avx512vnni"
  std::string library;  // "Tare 0.1.0 (kernels 0123456789abcdef)"
};

// json moves without exceptions, whatever its asserts say.
// NOLINTNEXTLINE(bugprone-exception-escape)
struct Decision {
  std::string model, projection;
  tare_problem problem{};  // shape, types and the one row count it is valid for
  judge::Equality equality = judge::Equality::kIncumbent;  // that was asked for
  judge::Decision decision = judge::Decision::kKeep;
  std::string reason;  // of keep and trade: one sentence
  judge::Verdict verdict = judge::Verdict::kInconclusive;
  std::string cause;  // of a refusal: the gate
  double ratio = 0;   // incumbent time / candidate time; 0: not known
  judge::Interval interval;
  judge::Bits bits = judge::Bits::kUnknown;
  Side incumbent, candidate;
  weigh::Mode mode = weigh::Mode::kPrepared;
  weigh::Residency residency = weigh::Residency::kCold;
  double incumbent_seconds = 0;  // of one dispatch
  double candidate_seconds = 0;
  std::uint64_t prepared_bytes = 0;  // that the candidate's packed weights take, one matrix
  std::string date;                  // of the run
  std::string samples;               // digest of the row in the results file of that run
  nlohmann::json certificate;        // of a proof, as it was handed over; null: none
};

struct Plan {
  std::string tare_version;
  std::string date;
  std::vector<std::string> command;
  Keys keys;
  std::vector<Decision> decisions;
};

// What becomes of a win that is a cost per dispatch (judge::Judgement::dispatch_win). Whether an
// engine has that cost, too, its own way of calling decides; only weighing the whole model tells.
enum class DispatchWins { kKeep, kServe };

// The decisions of a run, at the equality of its rules. Throws tare::Error (kInput) where the run
// cannot be a plan's: it was recorded by a Tare that noted no digests of modules, or has no rows,
// or complaints of its reader (samples that are not those of their digests).
Plan make_plan(const report::Results& results, DispatchWins dispatch_wins = DispatchWins::kKeep);

// What the plan says of one problem: the decision with the same shape, types and row count; null
// where there is none.
const Decision* find(const Plan& plan, const tare_problem& problem);

bool same_problem(const tare_problem& a, const tare_problem& b);

// Bytes of one file, '\n' at the end, its digest inside.
std::string encode(const Plan& plan);
// Throws tare::Error (kInput) with a sentence: no JSON (cut short), another or a newer schema, a
// digest that is not that of what the plan says, a field that is missing or of a wrong kind.
// `where` begins the sentence.
Plan decode(const std::string& text, const std::string& where);

// Replaces the file in one step: a reader sees the old or the new plan whole, whatever happens.
// Throws tare::Error (kInput where it cannot be created, kMachine where the disk is full).
void write_plan(const std::filesystem::path& path, const Plan& plan);
// Throws as decode(), and where the file cannot be read or is larger than any plan.
Plan read_plan(const std::filesystem::path& path);

}  // namespace tare::plan
