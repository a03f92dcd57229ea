#include "report/decode.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "formats/weight_format.h"
#include "report/encode.h"
#include "report/fields.h"
#include "report/names.h"

namespace tare::report {
namespace {

// No matrix that fits into a memory has more rows or columns.
constexpr std::uint64_t kMostPlausible = std::uint64_t{1} << 53;
// A row is weighed anew a few times at most.
constexpr std::size_t kMostPlacements = 1000;

// A value as it is shown in a sentence: short, whatever the file holds.
std::string shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

// A value in a file and the way to it, which is put into words only where something is wrong: a
// file may hold millions of values. A place refers to its parent, which must outlive it.
struct Place {
  const Json& value;
  const Place* parent = nullptr;
  const char* name = nullptr;  // null: element `index` of a list
  std::size_t index = 0;
};

// "weighing.arms[1].role".
std::string path_to(const Place& place) {
  if (place.parent == nullptr) return {};
  const std::string before = path_to(*place.parent);
  if (place.name == nullptr) return fmt::format("{}[{}]", before, place.index);
  return before.empty() ? place.name : before + '.' + place.name;
}

[[noreturn]] void wrong(const Place& place, const std::string& expected) {
  fail(Blame::kInput, "field '{}' is {}: it must be {}", path_to(place), shown(place.value),
       expected);
}

Place member(const Place& parent, const char* name) {
  if (!parent.value.is_object()) wrong(parent, "an object");
  const auto found = parent.value.find(name);
  if (found == parent.value.end()) {
    fail(Blame::kInput, "field '{}' is missing", path_to({parent.value, &parent, name}));
  }
  return {*found, &parent, name};
}

Place element(const Place& list, std::size_t index) {
  return {list.value[index], &list, nullptr, index};
}

template <typename T>
void decode_object(const Place& place, T& into);

void decode(const Place& place, bool& into) {
  if (!place.value.is_boolean()) wrong(place, "true or false");
  into = place.value.get<bool>();
}

void decode(const Place& place, std::uint64_t& into) {
  if (!place.value.is_number_unsigned()) wrong(place, "a whole number of at least 0");
  into = place.value.get<std::uint64_t>();
}

void decode(const Place& place, std::uint32_t& into) {
  std::uint64_t wide = 0;
  decode(place, wide);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (wide > kMost) wrong(place, fmt::format("at most {}", kMost));
  into = static_cast<std::uint32_t>(wide);
}

void decode(const Place& place, double& into) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (place.value.is_number()) {
    into = place.value.get<double>();
  } else if (place.value.is_null()) {
    into = std::numeric_limits<double>::quiet_NaN();
  } else if (place.value == "inf") {
    into = kInfinity;
  } else if (place.value == "-inf") {
    into = -kInfinity;
  } else {
    wrong(place, "a number, null (not a number), \"inf\" or \"-inf\"");
  }
}

void decode(const Place& place, std::string& into) {
  if (!place.value.is_string()) wrong(place, "a text");
  into = place.value.get<std::string>();
}

void decode(const Place& place, std::optional<std::string>& into) {
  if (place.value.is_null()) {
    into.reset();
  } else {
    decode(place, into.emplace());
  }
}

void decode(const Place& place, std::optional<device::Accelerator>& into) {
  if (place.value.is_null())
    into.reset();
  else
    decode_object(place, into.emplace());
}

// A text of a dispatch record: it must fit into the field with its terminating NUL.
template <std::size_t Size>
void decode(const Place& place, char (&into)[Size]) {
  std::string text;
  decode(place, text);
  if (text.size() >= Size) wrong(place, fmt::format("a text of at most {} bytes", Size - 1));
  std::memset(into, 0, Size);
  std::memcpy(into, text.data(), text.size());
}

template <typename Enumeration, std::size_t Count>
void decode_word(const Place& place, const Words<Enumeration, Count>& words, Enumeration& into) {
  std::string expected;
  for (const auto& [meaning, word] : words) {
    if (place.value == word) {
      into = meaning;
      return;
    }
    expected += fmt::format("{}\"{}\"", expected.empty() ? "one of " : ", ", word);
  }
  wrong(place, expected);
}

template <typename Enumeration>
requires std::is_enum_v<Enumeration>
void decode(const Place& place, Enumeration& into) {
  decode_word(place, words_of(into), into);
}

void require_list(const Place& place) {
  if (!place.value.is_array()) wrong(place, "a list");
}

void decode(const Place& place, judge::Interval& into) {
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
    if (column) decode(element(*column, index_), into);
  }
  template <typename T>
  void later(const char* name, T& into) {
    (*this)(name, into);
  }

 private:
  std::vector<std::optional<Place>>::const_iterator column_;
  std::size_t index_;
};

void decode(const Place& place, std::vector<weigh::Region>& into) {
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

template <typename T>
void decode(const Place& place, std::vector<T>& into) {
  require_list(place);
  into.clear();
  into.reserve(place.value.size());
  for (std::size_t index = 0; index < place.value.size(); ++index) {
    if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      decode_object(element(place, index), into.emplace_back());
    } else {
      decode(element(place, index), into.emplace_back());
    }
  }
}

class Decoder {
 public:
  explicit Decoder(const Place& parent) : parent_(parent) {}

  template <typename T>
  void operator()(const char* name, T& into) {
    const Place place = member(parent_, name);
    if constexpr (requires { decode(place, into); }) {
      decode(place, into);
    } else {
      decode_object(place, into);
    }
  }

  template <typename T>
  void later(const char* name, T& into) {
    if (parent_.value.contains(name)) (*this)(name, into);
  }

  void element_type(const char* name, std::uint32_t& into) {
    const Place place = member(parent_, name);
    std::string word;
    decode(place, word);
    into = formats::type_number(word);
    if (into == 0) wrong(place, "an element type, such as \"bf16\" or \"q4_k\"");
  }

 private:
  const Place& parent_;
};

template <typename T>
void decode_object(const Place& place, T& into) {
  Decoder decoder(place);
  visit_fields(decoder, into);
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
  decode_object(Place{object}, header);
  for (const std::uint32_t rows : header.rows) check_range("rows", rows, problem::kMostRows);
  check_rules(header.rules);
  return header;
}

Row decode_row(const Json& object) {
  const Place line{object};
  Row row;
  decode(member(line, "model"), row.model);
  decode(member(line, "projection"), row.projection);
  decode(member(line, "screened"), row.screened);
  decode_object(member(line, "weighing"), row.weighing);
  check_problem(row.weighing.problem);
  check_placements(row.weighing);
  return row;
}

Footer decode_footer(const Json& object) {
  Footer footer;
  decode_object(Place{object}, footer);
  return footer;
}

CalibrationHeader decode_calibration_header(const Json& object) {
  CalibrationHeader header;
  decode_object(Place{object}, header);
  return header;
}

judge::Trial decode_trial(const Json& object) {
  judge::Trial trial;
  decode_object(Place{object}, trial);
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
