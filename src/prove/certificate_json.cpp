// The certificate as JSON.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "prove/certificate.h"
#include "records/fields.h"
#include "records/json_fields.h"

namespace tare::prove {
namespace {

using Json = nlohmann::json;

using records::Is;
using records::visit_fields;

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
void visit_fields(Visitor& visit, Is<ModelWeights> auto& weights) {
  visit("model", weights.model);
  visit("matrix", weights.matrix);
  visit("tensor", weights.tensor);
  visit("stored", weights.stored);
  visit("file", weights.file);
  visit("digest", weights.digest);
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
  visit.later("model", certificate.model);
  visit("invariances", certificate.invariances);
  visit("classes", certificate.classes);
  visit("manners", certificate.manners);
  visit("failure", certificate.failure);
}

constexpr records::Words<Held, 3> kHeld{
    {{Held::kEqual, "equal"}, {Held::kDiffer, "differ"}, {Held::kNotTried, "not tried"}}};

class Encoder : public records::FieldEncoder<Encoder> {
 public:
  template <typename T>
  void visit(const T& value) {
    visit_fields(*this, value);
  }
  static const auto& words(Held) { return kHeld; }
};

class Decoder : public records::FieldDecoder<Decoder> {
 public:
  using FieldDecoder::FieldDecoder;
  template <typename T>
  void visit(T& into) {
    visit_fields(*this, into);
  }
  static const auto& words(Held) { return kHeld; }
};

Certificate decoded(const Json& json, const std::string& where) {
  Certificate certificate;
  try {
    Decoder::decode(records::JsonPlace{json}, certificate);
  } catch (const Error& error) {
    fail(Blame::kInput, "{}: {}.", where, error.what());
  }
  return certificate;
}

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
    for (const double error : {result.error.max, result.error.rms, result.incumbent_error.max,
                               result.incumbent_error.rms})
      if (!(error >= 0 && std::isfinite(error)))
        fail(Blame::kInput, "{}.classes: an error of '{}' is negative or not finite.", where,
             result.name);
  }
}

}  // namespace

Json to_json(const Certificate& certificate) {
  return Encoder::encoded(certificate);
}

Certificate certificate_from_json(const Json& json, const std::string& where) {
  if (json.is_object() && json.contains("version") && json["version"] != kCertificateVersion)
    fail(Blame::kInput, "{}: a certificate of version {}; this Tare reads version {}. Prove anew.",
         where, json["version"].dump(), kCertificateVersion);
  Certificate certificate = decoded(json, where);
  check_invariances(certificate, where);
  check_rows(certificate, where);
  check_classes(certificate, where);
  return certificate;
}

}  // namespace tare::prove
