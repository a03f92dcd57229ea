#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "base/error.h"
#include "report/columns.h"
#include "report/decode.h"
#include "report/digest.h"
#include "report/line_reader.h"
#include "report/plausibility.h"
#include "report/results.h"
#include "report/text.h"

namespace tare::report {
namespace {

constexpr std::string_view kFamily = "tare.headroom/";

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r") == std::string::npos;
}

// A discarded value when the text is not JSON.
Json parsed(const std::string& text) {
  return Json::parse(text, nullptr, false);
}

std::string text_field(const Json& object, const char* name) {
  const auto found = object.find(name);
  const bool is_text = found != object.end() && found->is_string();
  return is_text ? found->get<std::string>() : std::string();
}

// The 2 of "tare.headroom/2"; 0 when it is none of ours.
int schema_version(std::string_view schema) {
  if (!schema.starts_with(kFamily)) return 0;
  schema.remove_prefix(kFamily.size());
  int version = 0;
  const auto [end, error] = std::from_chars(schema.data(), schema.data() + schema.size(), version);
  const bool is_number = error == std::errc() && end == schema.data() + schema.size();
  return is_number ? version : 0;
}

void check_schema(const std::string& path, const std::string& schema) {
  const int version = schema_version(schema);
  if (version <= 0) {
    fail(Blame::kInput, "'{}' is not a results file of tare headroom: its first line names {}",
         path, schema.empty() ? "no schema" : "the schema '" + schema.substr(0, 60) + "'");
  }
  if (version > schema_version(kSchema)) {
    fail(Blame::kInput,
         "'{}' was written by a newer Tare: its schema is '{}' and this one reads up to '{}'; "
         "read it with that version",
         path, schema, kSchema);
  }
  if (version < schema_version(kSchema)) {
    fail(Blame::kInput,
         "'{}' was written by an older Tare: its schema is '{}' and this one reads '{}'; run it "
         "again, or read it with that version",
         path, schema, kSchema);
  }
}

// The digest that stands in a line: a text, in a row under "row"; "" when there is none.
std::string digest_in(const Json& object) {
  const auto found = object.find("digest");
  if (found == object.end()) return {};
  return found->is_object() ? text_field(*found, "row") : text_field(object, "digest");
}

std::string changed(const char* what, const std::string& in_file, const std::string& computed) {
  if (in_file.empty()) return fmt::format("it has no digest: nothing vouches for {}", what);
  return fmt::format("{} were changed after the run: digest {} in the file, {} of them", what,
                     printable(in_file), computed);
}

// What a part of a row is called in a sentence.
std::string part_name(const std::string& part) {
  if (part == "regions") return "samples (regions)";
  if (part == "proof") return "proof";
  return "recorded " + part;
}

// Where a row is not what its digests vouch for, one sentence each.
std::vector<std::string> broken_seals(const Json& object) {
  const auto stored = object.find("digest");
  if (stored == object.end() || !stored->is_object()) {
    return {"it has no digests: nothing vouches for its samples"};
  }
  const Json computed = row_digests(object);
  std::vector<std::string> sentences;
  for (const auto& [part, digest] : computed.items()) {
    const std::string in_file = text_field(*stored, part.c_str());
    if (part == "row" || in_file == digest) continue;
    sentences.push_back(fmt::format(
        "its {} changed after the row was measured: digest {} in the file, {} of what stands there",
        part_name(part), in_file.empty() ? "none" : printable(in_file), digest.get<std::string>()));
  }
  const std::string whole = text_field(*stored, "row");
  if (sentences.empty() && whole != computed["row"]) {
    sentences.push_back(fmt::format(
        "its model or projection changed after the row was measured: digest {} in the file, {} of "
        "what stands there",
        whole.empty() ? "none" : printable(whole), computed["row"].get<std::string>()));
  }
  return sentences;
}

// How many rows of this name the run was asked for.
std::size_t asked_for(const Header& header, const Row& row) {
  const tare_problem& problem = row.weighing.problem;
  std::ptrdiff_t projections = 0;
  for (const problem::Model& model : header.models) {
    if (model.name != row.model) continue;
    projections += std::ranges::count_if(model.projections, [&](const auto& projection) {
      return projection.name == row.projection && projection.k == problem.k &&
             projection.n == problem.n && projection.bias == problem.bias;
    });
  }
  return static_cast<std::size_t>(projections * std::ranges::count(header.rows, problem.rows));
}

Header read_header(const std::string& path, const FileLine& line,
                   std::vector<std::string>& complaints, std::string& digest) {
  const Json object = parsed(line.text);
  if (!object.is_object()) {
    fail(Blame::kInput, "'{}' is not a results file of tare headroom: its first line is {}", path,
         line.complete || !object.is_discarded() ? "not a JSON object" : "cut short or not JSON");
  }
  check_schema(path, text_field(object, "schema"));
  try {
    digest = digest_in(object);
    const std::string computed = header_digest(object);
    if (digest != computed) {
      complaints.push_back(
          fmt::format("'{}', line 1: {}", path, changed("its fields", digest, computed)));
    }
    return decode_header(object);
  } catch (const Error& error) {
    fail(Blame::kInput, "'{}', line 1: {}", path, error.what());
  }
}

// Adds what the lines after the first say to `results`.
class Body {
 public:
  Body(std::string path, std::string header_digest, Results& results)
      : path_(std::move(path)), digests_{std::move(header_digest)}, results_(results) {}

  void read(const FileLine& line) {
    if (is_blank(line.text)) return;
    const Json object = parsed(line.text);
    if (object.is_discarded()) {
      leave_out(line, why_not_json(line));
      return;
    }
    try {
      read_object(line, object);
    } catch (const Error& error) {
      leave_out(line, fmt::format("{}; the line is left out", error.what()));
    }
  }

  void finish() {
    if (!results_.footer) {
      if (!cut_short_) {
        complain(
            "it ends without its last line (footer): it was cut short, or the run goes on; the "
            "rows "
            "before are shown");
      }
      return;
    }
    if (counted_ && *counted_ != results_.rows.size()) {
      complain(fmt::format("its last line counts {} rows, {} were read", *counted_,
                           results_.rows.size()));
    } else if (!left_out_ && footer_digest_ != footer_digest(footer_, digests_)) {
      complain(changed("its rows, their order or its last line", footer_digest_,
                       footer_digest(footer_, digests_)));
    }
  }

 private:
  // A person who looks for the damage is helped by its kind.
  std::string why_not_json(const FileLine& line) {
    if (!line.complete) {
      cut_short_ = true;
      return "it is cut short (the run was interrupted while writing it); it is left out";
    }
    return valid_utf8(line.text) == line.text ? "not JSON; it is left out"
                                              : "not UTF-8; it is left out";
  }

  void read_object(const FileLine& line, const Json& object) {
    if (!object.is_object()) fail(Blame::kInput, "not a JSON object");
    if (results_.footer) fail(Blame::kInput, "it stands behind the last line (footer)");
    const std::string kind = text_field(object, "kind");
    if (kind == "row") {
      read_row(line, object);
    } else if (kind == "footer") {
      read_footer(object);
    } else {
      fail(Blame::kInput, "field 'kind' is neither \"row\" nor \"footer\"");
    }
  }

  void read_row(const FileLine& line, const Json& object) {
    Row row = decode_row(object);
    std::vector<std::string> sentences = broken_seals(object);
    check_new(row);
    row.judgement = judge::judge(row.weighing, results_.header.rules);
    for (std::string& sentence : implausibilities(row.weighing)) {
      sentences.push_back(std::move(sentence));
    }
    for (const std::string& sentence : differences(object, row)) {
      sentences.push_back(sentence + "; the table shows what the samples give");
    }
    for (const std::string& sentence : sentences) {
      complain(line,
               fmt::format("row {} ({}): {}", results_.rows.size() + 1, row_name(row), sentence));
    }
    digests_.push_back(digest_in(object));
    results_.rows.push_back(std::move(row));
  }

  // A row that stands there twice would count twice below the table. A run that was asked for it
  // twice has it twice.
  void check_new(const Row& row) {
    const tare_problem& problem = row.weighing.problem;
    const std::size_t times =
        ++seen_[{row.model, row.projection, problem.k, problem.n, problem.rows, problem.bias}];
    if (times > std::max<std::size_t>(1, asked_for(results_.header, row))) {
      fail(Blame::kInput, "the row {} stands there already", row_name(row));
    }
  }

  void read_footer(const Json& object) {
    results_.footer = decode_footer(object);
    footer_ = object;
    footer_digest_ = digest_in(object);
    const auto rows = object.find("rows");
    if (rows != object.end() && rows->is_number_unsigned()) counted_ = rows->get<std::size_t>();
  }

  void leave_out(const FileLine& line, const std::string& sentence) {
    left_out_ = true;
    complain(line, sentence);
  }

  void complain(const FileLine& line, const std::string& sentence) {
    results_.complaints.push_back(fmt::format("'{}', line {}: {}", path_, line.number, sentence));
  }

  void complain(const std::string& sentence) {
    results_.complaints.push_back(fmt::format("'{}': {}", path_, sentence));
  }

  using RowName = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t, std::uint32_t,
                             std::uint32_t>;

  std::string path_;
  std::vector<std::string> digests_;  // as they stand in the lines read so far
  Results& results_;
  std::map<RowName, std::size_t> seen_;
  Json footer_;
  std::string footer_digest_;
  std::optional<std::size_t> counted_;
  bool left_out_ = false;   // some line
  bool cut_short_ = false;  // the last one
};

}  // namespace

Results read_results(const std::filesystem::path& path) {
  LineReader lines(path);
  FileLine line;
  if (!lines.next(line)) {
    fail(Blame::kInput, "'{}' is empty: not a results file", path.string());
  }
  Results results;
  std::string digest;
  results.header = read_header(path.string(), line, results.complaints, digest);
  Body body(path.string(), std::move(digest), results);
  while (lines.next(line)) body.read(line);
  body.finish();
  return results;
}

}  // namespace tare::report
