#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "device/text_file.h"
#include "report/calibration.h"
#include "report/decode.h"
#include "report/encode.h"

namespace tare::report {
namespace {

// One line of the file; throws tare::Error where it is not what it should be.
class LineTaker {
 public:
  explicit LineTaker(Calibration& into) : into_(into) {}

  void take(const Json& object) {
    const std::string kind = object.is_object() ? object.value("kind", "") : "";
    if (!has_header_) {
      take_header(object, kind);
    } else if (kind == "trial") {
      into_.trials.push_back(decode_trial(object));
    } else if (kind == "footer") {
      into_.footer = decode_footer(object);
    }
  }
  bool has_header() const { return has_header_; }

 private:
  void take_header(const Json& object, const std::string& kind) {
    if (kind != "header" || object.value("schema", "") != kCalibrationSchema)
      fail(Blame::kInput, "not a file of tare calibrate, or of another version of it ({})",
           kCalibrationSchema);
    into_.header = decode_calibration_header(object);
    has_header_ = true;
  }

  Calibration& into_;
  bool has_header_ = false;
};

}  // namespace

CalibrationWriter::CalibrationWriter(const std::filesystem::path& path,
                                     const CalibrationHeader& header)
    : file_(path) {
  file_.write(calibration_header_line(header));
}

void CalibrationWriter::write(const judge::Trial& trial) {
  file_.write(trial_line(trial));
  ++trials_;
}

void CalibrationWriter::finish(const Footer& footer) {
  file_.write(calibration_footer_line(footer, trials_));
}

Calibration read_calibration(const std::filesystem::path& path) {
  // A pipe or a device need not end.
  std::error_code ignored;
  const bool plain = std::filesystem::is_regular_file(path, ignored);
  const auto text = plain ? device::read_text(path) : std::nullopt;
  if (!text)
    fail(Blame::kInput, "cannot read '{}': name a file of tare calibrate --json", path.string());
  Calibration calibration;
  LineTaker taker(calibration);
  std::size_t number = 0;
  for (const std::string_view line : device::lines_of(*text)) {
    ++number;
    if (device::trimmed(line).empty()) continue;
    const auto complaint = [&](const std::string& what) {
      if (!taker.has_header())
        fail(Blame::kInput, "'{}', line {}: {}", path.string(), number, what);
      calibration.complaints.push_back(
          fmt::format("'{}', line {}: {}", path.string(), number, what));
    };
    try {
      taker.take(Json::parse(line));
    } catch (const Json::exception&) {
      complaint("is no JSON object with the fields of its kind; the line is left out");
    } catch (const Error& error) {
      complaint(error.what());
    }
  }
  if (!taker.has_header()) fail(Blame::kInput, "'{}' is empty", path.string());
  return calibration;
}

}  // namespace tare::report
