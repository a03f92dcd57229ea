// The certificate as JSON: which fields it has is said once, for the writer and the reader.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "formats/weight_format.h"
#include "prove/certificate.h"

namespace tare::prove {
namespace {

using Json = nlohmann::json;

template <typename T, typename Plain>
concept Is = std::same_as<std::remove_const_t<T>, Plain>;

// An element type of arm.h, by its name in the file.
template <typename Number>
struct ElementType {
  Number& number;
};

template <typename Number>
ElementType(Number&) -> ElementType<Number>;

template <typename Visitor>
void visit_fields(Visitor& visit, Is<tare_problem> auto& problem) {
  visit("k", problem.k);
  visit("n", problem.n);
  visit("rows", problem.rows);
  visit("weights", ElementType{problem.weights});
  visit("activations", ElementType{problem.activations});
  visit("output", ElementType{problem.output});
  visit("accumulator", ElementType{problem.accumulator});
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Place> auto& place) {
  visit("rows", place.rows);
  visit("row", place.row);
  visit("output", place.output);
  visit("setting", place.setting);
  visit("data", place.data);
  visit("wanted", place.wanted);
  visit("got", place.got);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Invariance> auto& line) {
  visit("name", line.name);
  visit("held", line.held);
  visit("compared", line.compared);
  visit("differing", line.differing);
  visit("why", line.why);
  if (line.held == Held::kDiffer) visit("first", line.first);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Ran> auto& ran) {
  visit("rows", ran.rows);
  visit("kernel", ran.kernel);
  visit("isa", ran.isa);
  visit("configuration", ran.configuration);
  visit("threads", ran.threads);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Implementation> auto& implementation) {
  visit("name", implementation.name);
  visit("title", implementation.title);
  visit("library", implementation.library);
  visit("module", implementation.module);
  visit("hash", implementation.hash);
  visit("ran", implementation.ran);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<ErrorAgainst64> auto& error) {
  visit("elements", error.elements);
  visit("max", error.max);
  visit("rms", error.rms);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<ClassResult> auto& result) {
  visit("name", result.name);
  visit("elements", result.elements);
  visit("non_finite", result.non_finite);
  visit("error", result.error);
  visit("incumbent_error", result.incumbent_error);
  visit("differing", result.differing);
  visit("differing_one_row", result.differing_one_row);
  visit("class_mismatch", result.class_mismatch);
  visit("inexact", result.inexact);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Manners> auto& manners) {
  visit("dispatches", manners.dispatches);
  visit("unwritten", manners.unwritten);
  visit("wrote_outside", manners.wrote_outside);
  visit("guard_pages", manners.guard_pages);
  visit("guard_pages_why", manners.guard_pages_why);
  visit("control_word", manners.control_word);
  visit("control_word_why", manners.control_word_why);
}

template <typename Visitor>
void visit_fields(Visitor& visit, Is<Certificate> auto& certificate) {
  visit("version", certificate.version);
  visit("tare", certificate.tare);
  visit("processor", certificate.processor);
  visit("implementation", certificate.implementation);
  visit("incumbent", certificate.incumbent);
  visit("incumbent_title", certificate.incumbent_title);
  visit("incumbent_hash", certificate.incumbent_hash);
  visit("problem", certificate.problem);
  visit("rows", certificate.rows);
  visit("seed", certificate.seed);
  visit("invariances", certificate.invariances);
  visit("classes", certificate.classes);
  visit("manners", certificate.manners);
  visit("failure", certificate.failure);
}

constexpr std::pair<Held, const char*> kHeld[] = {
    {Held::kEqual, "equal"}, {Held::kDiffer, "differ"}, {Held::kNotTried, "not tried"}};

template <typename T>
concept Element = std::same_as<T, std::string> || std::integral<T>;

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    json_[name] = encoded(value);
  }
  template <typename T>
  static Json encoded(const T& value) {
    if constexpr (Element<T> || std::floating_point<T>) {
      return value;
    } else if constexpr (std::same_as<T, Held>) {
      for (const auto& [held, text] : kHeld)
        if (held == value) return text;
      return nullptr;
    } else {
      Writer writer;
      visit_fields(writer, value);
      return writer.json_;
    }
  }
  template <typename T>
  static Json encoded(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(encoded(value));
    return list;
  }
  template <typename Number>
  static Json encoded(const ElementType<Number>& type) {
    return std::string(formats::type_name(type.number));
  }

 private:
  Json json_ = Json::object();
};

class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) fail(Blame::kInput, "{}: must be an object.", where_);
  }

  template <typename T>
  void operator()(const char* name, T&& value) {
    const auto found = json_.find(name);
    if (found == json_.end()) fail(Blame::kInput, "{}: the field '{}' is missing.", where_, name);
    decode(*found, value, where_ + "." + name);
  }

 private:
  static void decode(const Json& json, std::string& into, const std::string& where) {
    if (!json.is_string()) fail(Blame::kInput, "{}: must be a text.", where);
    into = json.get<std::string>();
  }
  template <std::unsigned_integral Whole>
  static void decode(const Json& json, Whole& into, const std::string& where) {
    // A Json that was not parsed holds small numbers signed.
    const bool natural =
        json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
    const bool fits =
        natural && json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<Whole>::max()};
    if (!fits)
      fail(Blame::kInput, "{}: must be a whole number from 0 to {}.", where,
           std::numeric_limits<Whole>::max());
    into = json.get<Whole>();
  }
  static void decode(const Json& json, double& into, const std::string& where) {
    into = json.is_number() ? json.get<double>() : -1;
    if (!(into >= 0 && std::isfinite(into)))
      fail(Blame::kInput, "{}: must be a number that is not negative.", where);
  }
  static void decode(const Json& json, Held& into, const std::string& where) {
    for (const auto& [held, text] : kHeld)
      if (json == text) {
        into = held;
        return;
      }
    fail(Blame::kInput, "{}: must be one of 'equal', 'differ', 'not tried'.", where);
  }
  template <typename Number>
  static void decode(const Json& json, ElementType<Number>& into, const std::string& where) {
    std::string name;
    decode(json, name, where);
    into.number = formats::type_number(name);
    if (into.number == 0) fail(Blame::kInput, "{}: '{}' is no element type.", where, name);
  }
  template <typename T>
  static void decode(const Json& json, std::vector<T>& into, const std::string& where) {
    if (!json.is_array()) fail(Blame::kInput, "{}: must be a list.", where);
    into.clear();
    for (const Json& element : json) {
      into.emplace_back();
      decode(element, into.back(), fmt::format("{}[{}]", where, into.size() - 1));
    }
  }
  template <typename Part>
  requires std::is_class_v<Part>
  static void decode(const Json& json, Part& into, const std::string& where) {
    Reader reader(json, where);
    visit_fields(reader, into);
  }

  const Json& json_;
  std::string where_;
};

void check_invariances(const Certificate& certificate, const std::string& where) {
  const auto& lines = certificate.invariances;
  if (!std::ranges::equal(lines, kInvariances, {}, &Invariance::name))
    fail(Blame::kInput, "{}.invariances: must be those of version {}, in their order.", where,
         kCertificateVersion);
  for (const Invariance& line : lines) {
    if (line.held == Held::kNotTried && line.why.empty())
      fail(Blame::kInput, "{}.invariances: '{}' was not tried, and does not say why.", where,
           line.name);
    if ((line.held == Held::kDiffer) != (line.differing > 0))
      fail(Blame::kInput, "{}.invariances: '{}' contradicts its count of differing elements.",
           where, line.name);
    if (line.differing > line.compared || (line.held == Held::kEqual && line.compared == 0))
      fail(Blame::kInput, "{}.invariances: '{}' compared too few elements for what it says.", where,
           line.name);
  }
}

void check_rows(const Certificate& certificate, const std::string& where) {
  const auto& rows = certificate.rows;
  const bool ascending = std::ranges::adjacent_find(rows, std::greater_equal{}) == rows.end();
  if (rows.empty() || rows.front() == 0 || !ascending)
    fail(Blame::kInput, "{}.rows: must be row counts in ascending order, one at least.", where);
  if (certificate.problem.k == 0 || certificate.problem.n == 0)
    fail(Blame::kInput, "{}.problem: k and n must be at least 1.", where);
}

void check_classes(const Certificate& certificate, const std::string& where) {
  for (const ClassResult& result : certificate.classes) {
    const std::uint64_t most =
        std::max({result.non_finite, result.differing, result.differing_one_row,
                  result.class_mismatch, result.inexact, result.error.elements});
    if (most > result.elements)
      fail(Blame::kInput, "{}.classes: '{}' counts more elements than it has.", where, result.name);
  }
}

}  // namespace

Json to_json(const Certificate& certificate) {
  return Writer::encoded(certificate);
}

Certificate certificate_from_json(const Json& json, const std::string& where) {
  Certificate certificate;
  if (json.is_object() && json.contains("version") && json["version"] != kCertificateVersion)
    fail(Blame::kInput, "{}: a certificate of version {}; this Tare reads version {}. Prove anew.",
         where, json["version"].dump(), kCertificateVersion);
  Reader reader(json, where);
  visit_fields(reader, certificate);
  check_invariances(certificate, where);
  check_rows(certificate, where);
  check_classes(certificate, where);
  return certificate;
}

}  // namespace tare::prove
