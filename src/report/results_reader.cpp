#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "report/decode.h"
#include "report/results.h"

namespace tare::report {
namespace {

// A header is a few kB and a row of the longest default run far below 1 MB; a line past these is no
// results file, and must not fill the memory.
constexpr std::size_t kLongestHeader = std::size_t{16} << 20;
constexpr std::size_t kLongestRow = std::size_t{256} << 20;
constexpr std::string_view kFamily = "tare.headroom/";

struct Line {
  std::size_t number = 0;  // from 1
  std::string text;
  bool complete = false;  // it ends in '\n'
};

class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path) : path_(path), stream_(open(path)) {}

  // False at the end of the file.
  bool next(Line& line) {
    line = {line.number + 1, {}, false};
    for (int byte = next_byte(); byte != kEnd; byte = next_byte()) {
      if (byte == '\n') {
        line.complete = true;
        return true;
      }
      line.text += static_cast<char>(byte);
      check_length(line);
    }
    return !line.text.empty();
  }

 private:
  static constexpr int kEnd = std::char_traits<char>::eof();

  int next_byte() {
    try {
      return stream_.rdbuf()->sbumpc();
    } catch (const std::ios_base::failure& error) {
      fail(Blame::kInput, "cannot read '{}': {}", path_.string(), error.what());
    }
  }

  static std::ifstream open(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      fail(Blame::kInput, "'{}' is a folder: name a results file", path.string());
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
      fail(Blame::kInput, "cannot read '{}': {}", path.string(), std::strerror(errno));
    }
    return stream;
  }

  void check_length(const Line& line) const {
    const std::size_t longest = line.number == 1 ? kLongestHeader : kLongestRow;
    if (line.text.size() <= longest) return;
    fail(Blame::kInput, "'{}', line {} is longer than {} MiB: not a results file of tare headroom",
         path_.string(), line.number, longest >> 20);
  }

  std::filesystem::path path_;
  std::ifstream stream_;
};

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

Header read_header(const std::string& path, const Line& line) {
  const Json object = parsed(line.text);
  if (!object.is_object()) {
    fail(Blame::kInput, "'{}' is not a results file of tare headroom: its first line is {}", path,
         line.complete || !object.is_discarded() ? "not a JSON object" : "cut short or not JSON");
  }
  check_schema(path, text_field(object, "schema"));
  try {
    return decode_header(object);
  } catch (const Error& error) {
    fail(Blame::kInput, "'{}', line 1: {}", path, error.what());
  }
}

// Adds what the lines after the first say to `results`.
class Body {
 public:
  Body(std::string path, Results& results) : path_(std::move(path)), results_(results) {}

  void read(const Line& line) {
    if (is_blank(line.text)) return;
    const Json object = parsed(line.text);
    if (object.is_discarded()) {
      complain(line, line.complete ? "not JSON; it is left out"
                                   : "it is cut short (the run was interrupted while writing it); "
                                     "it is left out");
      return;
    }
    try {
      read_object(line, object);
    } catch (const Error& error) {
      complain(line, fmt::format("{}; the line is left out", error.what()));
    }
  }

  void finish() {
    if (counted_ && *counted_ != results_.rows.size()) {
      results_.complaints.push_back(fmt::format("'{}': its last line counts {} rows, {} were read",
                                                path_, *counted_, results_.rows.size()));
    }
  }

 private:
  void read_object(const Line& line, const Json& object) {
    if (!object.is_object()) fail(Blame::kInput, "not a JSON object");
    const std::string kind = text_field(object, "kind");
    if (kind == "row") {
      read_row(line, object);
    } else if (kind == "footer") {
      read_footer(object);
    } else {
      fail(Blame::kInput, "field 'kind' is neither \"row\" nor \"footer\"");
    }
  }

  void read_row(const Line& line, const Json& object) {
    Row row = decode_row(object);
    row.judgement = judge::judge(row.weighing, results_.header.rules);
    for (const std::string& sentence : differences(object, row)) {
      complain(line, sentence + "; the table shows what the samples give");
    }
    results_.rows.push_back(std::move(row));
  }

  void read_footer(const Json& object) {
    results_.footer = decode_footer(object);
    const auto rows = object.find("rows");
    if (rows != object.end() && rows->is_number_unsigned()) counted_ = rows->get<std::size_t>();
  }

  void complain(const Line& line, const std::string& sentence) {
    results_.complaints.push_back(fmt::format("'{}', line {}: {}", path_, line.number, sentence));
  }

  std::string path_;
  Results& results_;
  std::optional<std::size_t> counted_;
};

}  // namespace

Results read_results(const std::filesystem::path& path) {
  LineReader lines(path);
  Line line;
  if (!lines.next(line)) {
    fail(Blame::kInput, "'{}' is empty: not a results file", path.string());
  }
  Results results;
  results.header = read_header(path.string(), line);
  Body body(path.string(), results);
  while (lines.next(line)) body.read(line);
  body.finish();
  return results;
}

}  // namespace tare::report
