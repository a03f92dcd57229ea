// A plan as a file. docs/plan.md is its description.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/write_file.h"
#include "plan/plan.h"
#include "records/fields.h"
#include "records/json_fields.h"
#include "report/digest.h"
#include "report/names.h"

namespace tare::plan {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

// A decision has some 1.2 KB, and the largest models a few dozen shapes.
constexpr std::uintmax_t kMostBytes = 64 << 20;

// Which fields each part has (records/fields.h).
template <typename Visitor, records::Is<Module> T>
void visit_fields(Visitor& visit, T& module) {
  visit("arm", module.arm);
  visit("title", module.title);
  visit("digest", module.digest);
}
template <typename Visitor, records::Is<Keys> T>
void visit_fields(Visitor& visit, T& keys) {
  visit("processor", keys.processor);
  visit("cores", keys.cores);
  visit("threads", keys.threads);
  visit("isa", keys.isa);
  visit("accelerator", keys.accelerator);
  visit("modules", keys.modules);
}
template <typename Visitor, records::Is<Side> T>
void visit_fields(Visitor& visit, T& side) {
  visit("arm", side.arm);
  visit("title", side.title);
  visit("kernel", side.kernel);
  visit("library", side.library);
}
template <typename Visitor, records::Is<Decision> T>
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
  visit.type_if_any("bias", decision.problem.bias);
  visit("equality", decision.equality);
  visit("decision", decision.decision);
  visit("reason", decision.reason);
  visit("verdict", decision.verdict);
  visit("cause", decision.cause);
  visit("ratio", decision.ratio);
  visit("interval", decision.interval);
  visit("bits", decision.bits);
  visit("incumbent", decision.incumbent);
  visit("candidate", decision.candidate);
  visit("mode", decision.mode);
  visit("residency", decision.residency);
  visit("incumbent_seconds", decision.incumbent_seconds);
  visit("candidate_seconds", decision.candidate_seconds);
  visit("prepared_bytes", decision.prepared_bytes);
  visit("date", decision.date);
  visit("samples", decision.samples);
  visit("certificate", decision.certificate);
}
template <typename Visitor, records::Is<Plan> T>
void visit_fields(Visitor& visit, T& plan) {
  visit("tare_version", plan.tare_version);
  visit("date", plan.date);
  visit("command", plan.command);
  visit("keys", plan.keys);
  visit("decisions", plan.decisions);
}

class Encoder : public records::FieldEncoder<Encoder> {
 public:
  using FieldEncoder::encoded;
  static OrderedJson encoded(const Json& value) { return value; }
  static OrderedJson encoded(const judge::Interval& interval) {
    return OrderedJson::array({encoded(interval.low), encoded(interval.high)});
  }
  template <typename T>
  void visit(const T& value) {
    visit_fields(*this, value);
  }
  template <typename T>
  static const auto& words(T value) {
    return report::words_of(value);
  }
};

class Decoder : public records::FieldDecoder<Decoder> {
 public:
  using FieldDecoder::decode;
  using FieldDecoder::FieldDecoder;
  static void decode(const records::JsonPlace& place, Json& into) { into = place.value; }
  static void decode(const records::JsonPlace& place, judge::Interval& into) {
    if (!place.value.is_array() || place.value.size() != 2) wrong(place, "a list of two numbers");
    decode(records::element(place, 0), into.low);
    decode(records::element(place, 1), into.high);
  }
  template <typename T>
  void visit(T& into) {
    visit_fields(*this, into);
  }
  template <typename T>
  static const auto& words(T value) {
    return report::words_of(value);
  }
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
  OrderedJson object{{"schema", kSchema}};
  object.update(Encoder::encoded(plan));
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
    Decoder::decode(records::JsonPlace{object}, plan);
  } catch (const Error& error) {
    fail(Blame::kInput, "{}: {}.", where, error.what());
  }
  return plan;
}

void write_plan(const fs::path& path, const Plan& plan) {
  if (const auto error = replace_file(path, encode(plan)))
    fail(Blame::kInput, "cannot put the plan at '{}': {}; {}.", path.string(), error.message(),
         advice(error));
}

Plan read_plan(const fs::path& path) {
  return decode(text_of(path), "'" + path.string() + "'");
}

}  // namespace tare::plan
