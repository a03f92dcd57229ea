#include "report/decode.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "records/json_fields.h"
#include "report/encode.h"
#include "report/fields.h"
#include "report/names.h"

namespace tare::report {
namespace {

// No matrix that fits into a memory has more rows or columns.
constexpr std::uint64_t kMostPlausible = std::uint64_t{1} << 53;
// A row is weighed anew a few times at most.
constexpr std::size_t kMostPlacements = 1000;

using records::element;
using records::member;
using records::path_to;
using records::require_list;
using records::shown;
using Place = records::JsonPlace;

class Decoder : public records::FieldDecoder<Decoder> {
 public:
  using FieldDecoder::decode;
  using FieldDecoder::FieldDecoder;
  template <std::size_t Size>
  static void decode(const Place& place, char (&into)[Size]);
  static void decode(const Place& place, judge::Interval& into);
  static void decode(const Place& place, std::vector<weigh::Region>& into);  // columns

  template <typename T>
  void visit(T& into) {
    visit_fields(*this, into);
  }
  template <typename T>
  static const auto& words(T value) {
    return words_of(value);
  }
};

// A text of a dispatch record: it must fit into the field with its terminating NUL.
template <std::size_t Size>
void Decoder::decode(const Place& place, char (&into)[Size]) {
  std::string text;
  read(place, text);
  if (text.size() >= Size) wrong(place, fmt::format("a text of at most {} bytes", Size - 1));
  std::memset(into, 0, Size);
  std::memcpy(into, text.data(), text.size());
}

void Decoder::decode(const Place& place, judge::Interval& into) {
  if (!place.value.is_array() || place.value.size() != 2) wrong(place, "a list of two numbers");
  decode(element(place, 0), into.low);
  decode(element(place, 1), into.high);
}

// The columns of all regions, in the order in which a region's fields are visited.
class ColumnFinder {
 public:
  ColumnFinder(const Place& columns, std::vector<std::optional<Place>>& found)
      : columns_(columns), count_(roles().value.size()), found_(found) {}

  std::size_t count() const { return count_; }

  // A column that older files lack.
  template <typename T>
  void later(const char* name, const T& value) {
    if (columns_.value.contains(name))
      (*this)(name, value);
    else
      found_.push_back(std::nullopt);
  }

  template <typename T>
  void operator()(const char* name, const T&) {
    const Place column = member(columns_, name);
    require_list(column);
    if (column.value.size() != count_) {
      fail(Blame::kInput, "field '{}' holds {} regions where '{}' holds {}", path_to(column),
           column.value.size(), path_to(roles()), count_);
    }
    found_.push_back(column);
  }

 private:
  Place roles() const {
    const Place list = member(columns_, "arm");
    require_list(list);
    return list;
  }

  const Place& columns_;
  std::size_t count_;
  std::vector<std::optional<Place>>& found_;
};

// Reads one region: element `index` of every column.
class RegionReader {
 public:
  RegionReader(const std::vector<std::optional<Place>>& columns, std::size_t index)
      : column_(columns.begin()), index_(index) {}

  template <typename T>
  void operator()(const char*, T& into) {
    const std::optional<Place>& column = *column_++;
    if (column) Decoder::decode(element(*column, index_), into);
  }
  template <typename T>
  void later(const char* name, T& into) {
    (*this)(name, into);
  }

 private:
  std::vector<std::optional<Place>>::const_iterator column_;
  std::size_t index_;
};

void Decoder::decode(const Place& place, std::vector<weigh::Region>& into) {
  std::vector<std::optional<Place>> columns;
  ColumnFinder finder(place, columns);
  const weigh::Region any;
  visit_fields(finder, any);
  into.resize(finder.count());
  for (std::size_t index = 0; index < into.size(); ++index) {
    RegionReader reader(columns, index);
    visit_fields(reader, into[index]);
  }
}

void check_range(const char* name, std::uint64_t value, std::uint64_t most) {
  if (value >= 1 && value <= most) return;
  fail(Blame::kInput, "field '{}' is {}: it must be from 1 to {}", name, value, most);
}

void check_problem(const tare_problem& problem) {
  check_range("weighing.problem.k", problem.k, kMostPlausible);
  check_range("weighing.problem.n", problem.n, kMostPlausible);
  check_range("weighing.problem.rows", problem.rows, problem::kMostRows);
}

void check_share(const char* name, double value) {
  if (value > 0 && value < 1) return;
  fail(Blame::kInput, "field '{}' is {}: it must lie between 0 and 1", name, value);
}

void check_rules(const judge::Rules& rules) {
  check_share("rules.alpha", rules.alpha);
  check_share("rules.verdict_alpha", rules.verdict_alpha);
  check_share("rules.equivalence", rules.equivalence);
}

void check_placements(const weigh::Weighing& weighing) {
  const std::size_t count = weighing.placements.size();
  if (count > kMostPlacements) {
    fail(Blame::kInput, "field 'weighing.placements' holds {}: no weighing has more than {}", count,
         kMostPlacements);
  }
  for (std::size_t i = 0; i < weighing.regions.size(); ++i) {
    if (weighing.regions[i].placement < count) continue;
    fail(Blame::kInput,
         "field 'weighing.regions.placement[{}]' is {}, and 'weighing.placements' holds {}", i,
         weighing.regions[i].placement, count);
  }
}

bool same_number(double a, double b) {
  // Numbers of another build may differ in their last bits.
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// The first place where the file is not what was judged; nothing where it says the same. What only
// the file has is passed over.
std::optional<std::string> difference(const Place& file, const Json& judged) {
  if (file.value.is_number() && judged.is_number()) {
    if (same_number(file.value.get<double>(), judged.get<double>())) return std::nullopt;
  } else if (file.value.is_array() && judged.is_array() && file.value.size() == judged.size()) {
    for (std::size_t index = 0; index < judged.size(); ++index) {
      if (auto found = difference(element(file, index), judged[index])) return found;
    }
    return std::nullopt;
  } else if (file.value.is_object() && judged.is_object()) {
    for (const auto& [name, value] : judged.items()) {
      const auto inner = file.value.find(name);
      if (inner == file.value.end()) {
        if (value == false) continue;  // older files lack what was found since, and never was there
        return fmt::format("field '{}' is missing: its samples give {}",
                           path_to({value, &file, name.c_str()}), shown(value));
      }
      if (auto found = difference({*inner, &file, name.c_str()}, value)) return found;
    }
    return std::nullopt;
  } else if (file.value == judged) {
    return std::nullopt;
  }
  return fmt::format("field '{}' is {} but the row's samples give {}", path_to(file),
                     shown(file.value), shown(judged));
}

}  // namespace

Header decode_header(const Json& object) {
  Header header;
  Decoder::decode(Place{object}, header);
  for (const std::uint32_t rows : header.rows) check_range("rows", rows, problem::kMostRows);
  check_rules(header.rules);
  return header;
}

Row decode_row(const Json& object) {
  const Place line{object};
  Row row;
  Decoder::decode(member(line, "model"), row.model);
  Decoder::decode(member(line, "projection"), row.projection);
  Decoder::decode(member(line, "screened"), row.screened);
  Decoder::decode(member(line, "weighing"), row.weighing);
  check_problem(row.weighing.problem);
  check_placements(row.weighing);
  return row;
}

Footer decode_footer(const Json& object) {
  Footer footer;
  Decoder::decode(Place{object}, footer);
  return footer;
}

CalibrationHeader decode_calibration_header(const Json& object) {
  CalibrationHeader header;
  Decoder::decode(Place{object}, header);
  return header;
}

judge::Trial decode_trial(const Json& object) {
  judge::Trial trial;
  Decoder::decode(Place{object}, trial);
  return trial;
}

std::vector<std::string> differences(const Json& object, const Row& judged) {
  Json expected = row_summary(judged);
  expected["judgement"] = judgement_object(judged.judgement);
  const Place line{object};
  std::vector<std::string> sentences;
  for (const auto& [name, value] : expected.items()) {
    Json one = Json::object();
    one[name] = value;
    if (auto sentence = difference(line, one)) sentences.push_back(std::move(*sentence));
  }
  return sentences;
}

}  // namespace tare::report
