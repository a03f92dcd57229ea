#include "report/encode.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "records/json_fields.h"
#include "report/digest.h"
#include "report/fields.h"
#include "report/names.h"
#include "report/text.h"

namespace tare::report {
namespace {

class Encoder : public records::FieldEncoder<Encoder> {
 public:
  using FieldEncoder::encoded;
  static OrderedJson encoded(const std::string& value) { return valid_utf8(value); }
  static OrderedJson encoded(const judge::Interval& interval) {
    return OrderedJson::array({encoded(interval.low), encoded(interval.high)});
  }
  template <std::size_t Size>
  static OrderedJson encoded(const char (&field)[Size]) {
    return field_text(field);
  }
  static OrderedJson encoded(const std::map<weigh::Role, judge::Fit>& fits);
  static OrderedJson encoded(const std::vector<weigh::Region>& regions);  // as columns

  template <typename T>
  void visit(const T& value) {
    visit_fields(*this, value);
  }
  template <typename T>
  static const auto& words(T value) {
    return words_of(value);
  }
};

template <typename T>
OrderedJson encoded(const T& value) {
  return Encoder::encoded(value);
}

OrderedJson Encoder::encoded(const std::map<weigh::Role, judge::Fit>& fits) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [role, fit] : fits) object[std::string(word_for(kRoles, role))] = encoded(fit);
  return object;
}

// Appends every field of one region to the column of its name.
class ColumnAppender {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    columns[name].push_back(encoded(value));
  }
  template <typename T>
  void later(const char* name, const T& value) {
    (*this)(name, value);
  }
  OrderedJson columns = OrderedJson::object();
};

class EmptyColumns {
 public:
  template <typename T>
  void operator()(const char* name, const T&) {
    columns[name] = OrderedJson::array();
  }
  template <typename T>
  void later(const char* name, const T& value) {
    (*this)(name, value);
  }
  OrderedJson columns = OrderedJson::object();
};

OrderedJson Encoder::encoded(const std::vector<weigh::Region>& regions) {
  EmptyColumns empty;
  const weigh::Region any;
  visit_fields(empty, any);
  ColumnAppender appender{std::move(empty.columns)};
  for (const weigh::Region& region : regions) visit_fields(appender, region);
  return std::move(appender.columns);
}

std::string dumped(const OrderedJson& object) {
  return object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson line_of_kind(const char* kind) {
  OrderedJson object = OrderedJson::object();
  object["kind"] = kind;
  return object;
}

OrderedJson footer_object(const Footer& footer, std::size_t rows) {
  OrderedJson object = line_of_kind("footer");
  object.update(encoded(footer));
  object["rows"] = rows;
  return object;
}

// 0 stands for "not measured" in a judgement; other programs read null.
OrderedJson measured(double value) {
  return value > 0 && std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

OrderedJson measured(const judge::Interval& interval) {
  const bool is_measured = interval.high > 0 && std::isfinite(interval.high);
  return is_measured ? encoded(interval) : OrderedJson(nullptr);
}

OrderedJson arm_summary(const weigh::Arm* arm, double gbps) {
  if (arm == nullptr) return nullptr;
  OrderedJson object = OrderedJson::object();
  object["name"] = encoded(arm->name);
  object["title"] = encoded(arm->title);
  object["version"] = encoded(version_of(*arm));
  object["kernel"] = encoded(arm->dispatched.kernel);
  object["isa"] = encoded(arm->dispatched.isa);
  object["gbps"] = measured(gbps);
  return object;
}

// "oneDNN 2.6.3" ends in a version; "OpenBLAS" does not.
std::string version_in(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  const std::string_view word = space == std::string_view::npos ? text : text.substr(space + 1);
  const bool is_version = !word.empty() && std::isdigit(static_cast<unsigned char>(word.front()));
  return is_version ? std::string(word) : std::string();
}

}  // namespace

std::string version_of(const weigh::Arm& arm) {
  std::string version = version_in(arm.title);
  if (!version.empty()) return version;
  return version_in(field_text(arm.dispatched.library));
}

OrderedJson row_summary(const Row& row) {
  const weigh::Weighing& weighing = row.weighing;
  const judge::Judgement& judgement = row.judgement;
  OrderedJson object = OrderedJson::object();
  object["model"] = encoded(row.model);
  object["projection"] = encoded(row.projection);
  object["k"] = weighing.problem.k;
  object["n"] = weighing.problem.n;
  object["rows"] = weighing.problem.rows;
  object["incumbent"] =
      arm_summary(weigh::arm_of(weighing, weigh::Role::kIncumbent), judgement.incumbent_gbps);
  object["candidate"] =
      arm_summary(weigh::arm_of(weighing, weigh::Role::kCandidate), judgement.candidate_gbps);
  const bool has_limit = judgement.limit_seconds > 0;
  object["bound"] = has_limit ? encoded(judgement.bound) : OrderedJson(nullptr);
  object["gap"] = measured(judgement.gap);
  object["ratio"] = measured(judgement.ratio);
  object["interval"] = measured(judgement.interval);
  object["naive_ratio"] = measured(judgement.naive_ratio);
  object["bits"] = encoded(judgement.bits);
  object["verdict"] = encoded(judgement.verdict);
  object["decision"] = encoded(judgement.decision);
  object["cause"] = encoded(judgement.cause);
  object["cause_sentence"] = encoded(judgement.cause_sentence);
  return object;
}

OrderedJson judgement_object(const judge::Judgement& judgement) {
  return encoded(judgement);
}

SealedLine header_line(const Header& header) {
  OrderedJson object = line_of_kind("header");
  object["schema"] = kSchema;
  object.update(encoded(header));
  std::string digest = header_digest(object);
  object["digest"] = digest;
  return {dumped(object), std::move(digest)};
}

SealedLine row_line(const Row& row) {
  OrderedJson object = line_of_kind("row");
  object.update(row_summary(row));
  object["judgement"] = judgement_object(row.judgement);
  object["screened"] = encoded(row.screened);
  object["weighing"] = encoded(row.weighing);
  const Json digests = row_digests(object);
  object["digest"] = digests;
  return {dumped(object), digests["row"]};
}

std::string footer_line(const Footer& footer, const std::vector<std::string>& digests) {
  OrderedJson object = footer_object(footer, digests.size() - 1);  // all but the header
  object["digest"] = footer_digest(object, digests);
  return dumped(object);
}

std::string calibration_header_line(const CalibrationHeader& header) {
  OrderedJson object = line_of_kind("header");
  object["schema"] = kCalibrationSchema;
  object.update(encoded(header));
  return dumped(object);
}

std::string trial_line(const judge::Trial& trial) {
  OrderedJson object = line_of_kind("trial");
  object.update(encoded(trial));
  return dumped(object);
}

std::string calibration_footer_line(const Footer& footer, std::size_t trials) {
  return dumped(footer_object(footer, trials));
}

}  // namespace tare::report
