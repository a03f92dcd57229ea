// What was proved of one implementation at one problem on one machine: what a plan carries, and
// what an engine that serves the implementation may rely on. Plain data; docs/certificates.md says
// what each field means. All functions are pure and thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/arm.h"

namespace tare::prove {

inline constexpr std::uint32_t kCertificateVersion = 1;

enum class Held {
  kEqual,
  kDiffer,
  kNotTried,
};

// The first element that broke an invariance: y[row, output] of a dispatch of `rows` rows.
struct Place {
  std::uint32_t rows = 0;
  std::uint32_t row = 0;
  std::uint64_t output = 0;
  std::string setting;       // what was different: "32 rows", "NaN beside it", "1 thread", "avx2"
  std::string data;          // class of the data: "normal"
  std::uint32_t wanted = 0;  // bit patterns of the output type
  std::uint32_t got = 0;
};

// One line of the matrix: outputs that must have the same bits, whatever `name` is.
struct Invariance {
  std::string name;  // one of kInvariances
  Held held = Held::kNotTried;
  std::uint64_t compared = 0;   // elements
  std::uint64_t differing = 0;  // elements whose bits differ
  std::string why;              // not tried: why not; else what was tried ("1, 2 threads")
  Place first;                  // where it differed first; empty when it did not
};

// Every certificate has exactly these, in this order.
inline constexpr std::string_view kInvariances[] = {
    "rows",                // a row's bits are those of the one-row dispatch
    "row position",        // the same row gives the same bits wherever it stands
    "NaN neighbour",       // a row's bits do not depend on what stands in other rows
    "Inf neighbour",       // both signs
    "huge neighbour",      // 3.3e38
    "denormal neighbour",  // 1e-40
    "threads",
    "ISA",
    "run to run",  // the same executor again, and one prepared anew
};

// Which kernel ran at which row counts.
struct Ran {
  std::vector<std::uint32_t> rows;
  std::string kernel, isa, configuration;
  std::uint32_t threads = 0;
};

struct Implementation {
  std::string name;     // "onednn"
  std::string title;    // "oneDNN 2.6.3"
  std::string library;  // as dispatched() says: name, version and build
  std::string module;   // file name
  std::string hash;     // of the module file: XXH3, 128 bits, 32 hexadecimal digits
  std::vector<Ran> ran;
};

// Error of the outputs against fp64, in steps of the output format (oracle.h).
struct ErrorAgainst64 {
  std::uint64_t elements = 0;
  double max = 0;
  double rms = 0;
};

// What one class of data showed, over all row counts.
struct ClassResult {
  std::string name;  // "normal", "real", "one-hot", "cancelling", "integers", "subnormal"; "model"
  std::uint64_t elements = 0;
  std::uint64_t non_finite = 0;  // of the implementation's outputs
  ErrorAgainst64 error{};
  ErrorAgainst64 incumbent_error{};  // elements 0: no incumbent
  // Against the incumbent at the same rows, and against its one-row results.
  std::uint64_t differing = 0;
  std::uint64_t differing_one_row = 0;
  std::uint64_t class_mismatch = 0;  // NaN, Inf or finite on one side only
  // Integers only: outputs that are not the exact sum, rounded once.
  std::uint64_t inexact = 0;
};

// Whose weights those of the class "model" are.
struct ModelWeights {
  std::string model;   // "Gemma 3 270m"
  std::string matrix;  // "q of layer 0"
  std::string tensor;  // its name in the file
  std::string stored;  // how the file stores it: "Q5_0", "gptq4-g128-f16"
  std::string file;
  std::string digest;  // of its bytes in the file: XXH3, 128 bits, 32 hexadecimal digits
};

// What an implementation did beside its outputs.
struct Manners {
  std::uint64_t dispatches = 0;         // after which all of the following was checked
  std::uint64_t unwritten = 0;          // elements that kept both poisons
  std::string wrote_outside;            // what was written in guard zones; "" when nothing was
  Held guard_pages = Held::kNotTried;   // equal: no access outside of x, W and y
  std::string guard_pages_why;          // how an access showed, or why it was not tried
  Held control_word = Held::kNotTried;  // of the floating-point unit, after each dispatch
  std::string control_word_why;
};

struct Certificate {
  std::uint32_t version = kCertificateVersion;
  std::string tare;       // version of the program that proved
  std::string processor;  // of the machine
  Implementation implementation;
  std::string incumbent;  // its name; "" when there was none to compare with
  std::string incumbent_title;
  std::string incumbent_hash;       // of its module file
  tare_problem problem{};           // rows: the most that were proved
  std::vector<std::uint32_t> rows;  // proved row counts, ascending
  std::uint64_t seed = 0;
  std::optional<ModelWeights> model;    // nothing: all data was drawn
  std::vector<Invariance> invariances;  // as kInvariances
  std::vector<ClassResult> classes;
  Manners manners;
  std::string failure;  // why proving ended before its end: a crash, a hang; "" when it did not
};

// A certificate of which nothing has been tried yet.
Certificate blank_certificate();

// The line of that name. Throws tare::Error (kInput) where there is none.
const Invariance& invariance(const Certificate& certificate, std::string_view name);
Invariance& invariance(Certificate& certificate, std::string_view name);

// What the four equalities of serving (docs/certificates.md) ask. All are false after a failure.
bool proves_incumbent(const Certificate& certificate);  // same bits at every proved row count
bool proves_one_row(const Certificate& certificate);    // the incumbent's one-row bits in every row
bool proves_self(const Certificate& certificate);       // batch, thread and run invariant
bool proves_bounded(const Certificate& certificate);    // error not above the incumbent's

// Rows, row position and every neighbour were tried and held.
bool batch_invariant(const Certificate& certificate);

// Over all classes: the larger maximum, and the root of the mean square.
ErrorAgainst64 total_error(const Certificate& certificate);
ErrorAgainst64 total_incumbent_error(const Certificate& certificate);

nlohmann::json to_json(const Certificate& certificate);

// Trusts nothing: throws tare::Error (kInput) with a sentence that begins with `where` and names
// the field that is missing, of another kind, or contradicts another. Fields it does not know are
// passed over; another version is refused.
Certificate certificate_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace tare::prove
