// A plan as a file. docs/plan.md is its description.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "formats/weight_format.h"
#include "plan/plan.h"
#include "report/digest.h"
#include "report/fields.h"
#include "report/line_file.h"
#include "report/names.h"

namespace tare::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

// A decision has some 1.2 KB, and the largest models a few dozen shapes.
constexpr std::uintmax_t kMostBytes = 64 << 20;

constexpr report::Words<judge::Decision, 3> kDecisions{{{judge::Decision::kServe, "serve"},
                                                        {judge::Decision::kKeep, "keep"},
                                                        {judge::Decision::kTrade, "trade"}}};
constexpr report::Words<judge::Bits, 3> kBits{{{judge::Bits::kEqual, "equal"},
                                               {judge::Bits::kDiffer, "differ"},
                                               {judge::Bits::kUnknown, "unknown"}}};

// Which fields each part has: said once, for both ways. visit("name", member) as in
// report/fields.h.
template <typename Visitor, report::Is<Module> T>
void visit_fields(Visitor& visit, T& module) {
  visit("arm", module.arm);
  visit("title", module.title);
  visit("digest", module.digest);
}
template <typename Visitor, report::Is<Keys> T>
void visit_fields(Visitor& visit, T& keys) {
  visit("processor", keys.processor);
  visit("cores", keys.cores);
  visit("threads", keys.threads);
  visit("isa", keys.isa);
  visit("accelerator", keys.accelerator);
  visit("modules", keys.modules);
}
template <typename Visitor, report::Is<Side> T>
void visit_fields(Visitor& visit, T& side) {
  visit("arm", side.arm);
  visit("title", side.title);
  visit("kernel", side.kernel);
  visit("library", side.library);
}
template <typename Visitor, report::Is<Decision> T>
void visit_fields(Visitor& visit, T& decision) {
  visit("model", decision.model);
  visit("projection", decision.projection);
  visit("k", decision.problem.k);
  visit("n", decision.problem.n);
  visit("rows", decision.problem.rows);
  visit.element_type("weights", decision.problem.weights);
  visit.element_type("activations", decision.problem.activations);
  visit.element_type("output", decision.problem.output);
  visit.element_type("accumulator", decision.problem.accumulator);
  visit.word("equality", decision.equality, report::kEqualities);
  visit.word("decision", decision.decision, kDecisions);
  visit("reason", decision.reason);
  visit.word("verdict", decision.verdict, report::kVerdicts);
  visit("cause", decision.cause);
  visit("ratio", decision.ratio);
  visit("interval", decision.interval);
  visit.word("bits", decision.bits, kBits);
  visit("incumbent", decision.incumbent);
  visit("candidate", decision.candidate);
  visit.word("mode", decision.mode, report::kModes);
  visit.word("residency", decision.residency, report::kResidencies);
  visit("incumbent_seconds", decision.incumbent_seconds);
  visit("candidate_seconds", decision.candidate_seconds);
  visit("prepared_bytes", decision.prepared_bytes);
  visit("date", decision.date);
  visit("samples", decision.samples);
  visit("certificate", decision.certificate);
}
template <typename Visitor, report::Is<Plan> T>
void visit_fields(Visitor& visit, T& plan) {
  visit("tare_version", plan.tare_version);
  visit("date", plan.date);
  visit("command", plan.command);
  visit("keys", plan.keys);
  visit("decisions", plan.decisions);
}

// JSON has no infinities: an interval that excludes nothing ends in one.
constexpr const char* kInfinite = "inf";

class Encoder {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    object_[name] = encoded(value);
  }
  void element_type(const char* name, std::uint32_t type) {
    object_[name] = std::string(formats::type_name(type));
  }
  template <typename T, std::size_t Count>
  void word(const char* name, T value, const report::Words<T, Count>& words) {
    object_[name] = std::string(report::word_for(words, value));
  }
  OrderedJson take() { return std::move(object_); }

 private:
  template <typename T>
  static OrderedJson encoded(const T& value) {
    if constexpr (std::is_same_v<T, double>) {
      return std::isinf(value) ? OrderedJson(kInfinite) : OrderedJson(value);
    } else if constexpr (std::is_same_v<T, judge::Interval>) {
      return OrderedJson::array({encoded(value.low), encoded(value.high)});
    } else if constexpr (requires(Encoder encoder) { visit_fields(encoder, value); }) {
      Encoder encoder;
      visit_fields(encoder, value);
      return encoder.take();
    } else {
      return OrderedJson(value);
    }
  }
  template <typename T>
  requires std::is_class_v<T>
  static OrderedJson encoded(const std::vector<T>& values) {
    OrderedJson list = OrderedJson::array();
    for (const T& value : values) list.push_back(encoded(value));
    return list;
  }

  OrderedJson object_ = OrderedJson::object();
};

class Decoder {
 public:
  Decoder(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) wrong("", "an object");
  }

  template <typename T>
  void operator()(const char* name, T& into) {
    decode(member(name), path_ + name, into);
  }
  void element_type(const char* name, std::uint32_t& into) {
    std::string word;
    (*this)(name, word);
    into = formats::type_number(word);
    if (into == 0) wrong(name, "an element type, such as \"bf16\" or \"q4_k\"");
  }
  template <typename T, std::size_t Count>
  void word(const char* name, T& into, const report::Words<T, Count>& words) {
    std::string word;
    (*this)(name, word);
    for (const auto& [meaning, known] : words) {
      if (known != word) continue;
      into = meaning;
      return;
    }
    wrong(name, "a word that this Tare knows");
  }

 private:
  const Json& member(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) fail(Blame::kInput, "field '{}{}' is missing", path_, name);
    return *found;
  }
  [[noreturn]] void wrong(const std::string& name, const char* expected) const {
    refuse(path_ + name, expected);
  }
  [[noreturn]] static void refuse(const std::string& path, const char* expected) {
    fail(Blame::kInput, "field '{}' must be {}", path, expected);
  }

  template <typename T>
  static void decode(const Json& value, const std::string& path, T& into) {
    if constexpr (std::is_same_v<T, Json>) {
      into = value;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!value.is_string()) refuse(path, "a text");
      into = value.get<std::string>();
    } else if constexpr (std::is_unsigned_v<T>) {
      if (!value.is_number_unsigned() || !std::in_range<T>(value.get<std::uint64_t>()))
        refuse(path, "a whole number in range");
      into = static_cast<T>(value.get<std::uint64_t>());
    } else if constexpr (std::is_same_v<T, double>) {
      if (value == kInfinite)
        into = std::numeric_limits<double>::infinity();
      else if (value.is_number())
        into = value.get<double>();
      else
        refuse(path, "a number");
    } else if constexpr (std::is_same_v<T, judge::Interval>) {
      if (!value.is_array() || value.size() != 2) refuse(path, "a list of two numbers");
      decode(value[0], path, into.low);
      decode(value[1], path, into.high);
    } else {
      Decoder decoder(value, path + ".");
      visit_fields(decoder, into);
    }
  }
  template <typename T>
  static void decode(const Json& value, const std::string& path, std::vector<T>& into) {
    if (!value.is_array()) refuse(path, "a list");
    for (std::size_t i = 0; i < value.size(); ++i)
      decode(value[i], fmt::format("{}[{}]", path, i), into.emplace_back());
  }

  const Json& object_;
  std::string path_;
};

Json parsed(const std::string& text, const std::string& where) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    fail(Blame::kInput,
         "{}: no plan, or one that was cut short or damaged: it is no whole JSON. Make it again "
         "with tare plan.",
         where);
  }
}

void check_schema(const Json& object, const std::string& where) {
  const auto schema = object.is_object() ? object.find("schema") : object.end();
  if (!object.is_object() || schema == object.end() || !schema->is_string())
    fail(Blame::kInput, "{}: no plan: it names no schema.", where);
  const auto& name = schema->get_ref<const std::string&>();
  if (name != kSchema)
    fail(Blame::kInput,
         "{}: it is of the schema '{}', and this Tare knows '{}'. Use the Tare that made it, or "
         "make it again.",
         where, name.substr(0, 40), kSchema);
}

std::string digest_of(Json object) {
  object.erase("digest");
  return report::digest(object);
}

void check_digest(const Json& object, const std::string& where) {
  const auto noted = object.find("digest");
  if (noted == object.end() || *noted != digest_of(object))
    fail(Blame::kInput,
         "{}: it was changed or damaged after it was written: its digest is not that of what it "
         "says. Make it again with tare plan.",
         where);
}

std::string text_of(const fs::path& path) {
  const std::string where = "'" + path.string() + "'";
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    fail(Blame::kInput, "{}: there is no such file. tare plan MODEL -o {} makes it.", where,
         path.string());
  if (fs::file_size(path, error) > kMostBytes)
    fail(Blame::kInput, "{}: it is larger than any plan.", where);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // Of an empty file nothing is inserted, which is no failure to read it.
  if (!file || (!text && fs::file_size(path, error) != 0))
    fail(Blame::kInput, "{}: it cannot be read.", where);
  return std::move(text).str();
}

}  // namespace

std::string encode(const Plan& plan) {
  Encoder encoder;
  visit_fields(encoder, plan);
  OrderedJson object{{"schema", kSchema}};
  object.update(encoder.take());
  // Through text: what is written is what the digest is over, replaced bytes and all.
  const std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  object = OrderedJson::parse(text);
  object["digest"] = digest_of(Json::parse(text));
  return object.dump(1) + "\n";
}

Plan decode(const std::string& text, const std::string& where) {
  const Json object = parsed(text, where);
  check_schema(object, where);
  check_digest(object, where);
  Plan plan;
  try {
    Decoder decoder(object, "");
    visit_fields(decoder, plan);
  } catch (const Error& error) {
    fail(Blame::kInput, "{}: {}.", where, error.what());
  }
  return plan;
}

void write_plan(const fs::path& path, const Plan& plan) {
  fs::path beside = path;
  beside += fmt::format(".{}.new", ::getpid());
  try {
    std::string text = encode(plan);
    text.pop_back();  // the file adds it again
    report::LineFile(beside).write(std::move(text));
    fs::rename(beside, path);
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    fail(Blame::kInput, "cannot put the plan at '{}': {}.", path.string(), error.code().message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(beside, ignored);
    throw;
  }
}

Plan read_plan(const fs::path& path) {
  return decode(text_of(path), "'" + path.string() + "'");
}

}  // namespace tare::plan
