#include "apps/tare/doctor.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tare::app {
namespace {

using nlohmann::json;

std::vector<report::Library> libraries() {
  return {
      {.arm = "onednn", .title = "oneDNN 2.6.3", .found = true, .reason = "", .candidate = false},
      {.arm = "mlx",
       .title = "MLX",
       .found = false,
       .reason = "libmlx.so is not there",
       .candidate = false},
      {.arm = "tare_cpu", .title = "Tare 0.1", .found = true, .reason = "", .candidate = true}};
}

device::Observation small_observation() {
  device::Observation seen;
  seen.machine.processor = "Test (Zen 9)";
  seen.machine.threads = 2;
  seen.noise.busiest = {"caf\xe9 (pid 7) 9 %"};  // not UTF-8: names of processes are bytes
  return seen;
}

DoctorOptions quick(bool as_json) {
  DoctorOptions options;
  options.json = as_json;
  options.seconds = 0.02;
  options.implementations = libraries();
  return options;
}

std::string run(const DoctorOptions& options) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  EXPECT_EQ(doctor(options, file.get()), 0);
  std::string text(static_cast<std::size_t>(std::ftell(file.get())), '\0');
  std::rewind(file.get());
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file.get()), text.size());
  return text;
}

TEST(Doctor, JsonHoldsEverySection) {
  const json parsed = json::parse(run(quick(true)));
  EXPECT_EQ(parsed["schema"], "tare.doctor/1");
  EXPECT_FALSE(parsed["summary"].get<std::string>().empty());
  EXPECT_GE(parsed["machine"]["threads"], 1);
  EXPECT_GT(parsed["noise"]["seconds"], 0);
  std::vector<std::string> titles;
  for (const json& section : parsed["sections"]) {
    titles.push_back(section["title"]);
    EXPECT_FALSE(section["findings"].empty()) << section["title"];
    for (const json& finding : section["findings"]) {
      const std::string status = finding["status"];
      EXPECT_TRUE(status == "ok" || status == "note" || status == "warn") << status;
    }
  }
  EXPECT_EQ(titles,
            (std::vector<std::string>{"processor", "memory", "quiet", "allowance", "environment",
                                      "GPU", "calibration", "implementations"}));
  ASSERT_EQ(parsed["implementations"].size(), 3u);
  EXPECT_EQ(parsed["implementations"][1]["arm"], "mlx");
  EXPECT_EQ(parsed["implementations"][1]["reason"], "libmlx.so is not there");
}

TEST(Doctor, JsonSurvivesBytesThatAreNoText) {
  const json parsed = json::parse(doctor_json(small_observation(), libraries()));
  EXPECT_EQ(parsed["noise"]["busiest"].size(), 1u);
}

TEST(Doctor, TextHasAStatusWordPerLineAndNoColourUnasked) {
  const std::string text = run(quick(false));
  for (const char* title :
       {"processor\n", "memory\n", "quiet\n", "allowance\n", "environment\n", "implementations\n"})
    EXPECT_NE(text.find(title), std::string::npos) << title;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("  ok    onednn"), std::string::npos) << text;
  EXPECT_NE(text.find("  note  mlx"), std::string::npos) << text;
  EXPECT_NE(text.find("-> libmlx.so is not there"), std::string::npos) << text;
}

TEST(Doctor, ColourOnlyWhenAsked) {
  const auto sections = doctor_sections(small_observation(), libraries());
  EXPECT_NE(doctor_text(sections, true).find("\x1b["), std::string::npos);
  EXPECT_EQ(doctor_text(sections, false).find('\x1b'), std::string::npos);
}

TEST(Doctor, WithoutAnIncumbentThereIsNothingToWeigh) {
  const auto sections = doctor_sections(small_observation(), {});
  EXPECT_NE(doctor_text(sections, false).find("nothing to weigh"), std::string::npos);
}

std::string text_with(const std::optional<Calibrated>& calibrated) {
  return doctor_text(doctor_sections(small_observation(), libraries(), calibrated), false);
}

TEST(Doctor, SaysWhatWillNotBeSeenHere) {
  Calibrated calibrated;
  calibrated.date = "2026-11-30T12:00:00Z";
  calibrated.machine = device::summary(small_observation().machine);
  calibrated.seconds_per_row = 2.2;
  calibrated.settings = {{"cold, quiet", 0.0123}};
  std::string text = text_with(calibrated);
  EXPECT_NE(text.find("differences under 1.2 % will not be seen in 2.2 s a row"), std::string::npos)
      << text;
  EXPECT_NE(text.find("2026-11-30"), std::string::npos) << text;
  calibrated.machine = "another one";
  text = text_with(calibrated);
  EXPECT_NE(text.find("was run on another machine: another one"), std::string::npos) << text;
  text = text_with(std::nullopt);
  EXPECT_NE(text.find("was not run"), std::string::npos) << text;
  EXPECT_NE(text.find("tare calibrate --short --save"), std::string::npos) << text;
}

TEST(Doctor, LimitsAreOneLineAndNoIncumbent) {
  std::vector<report::Library> limits(2);
  limits[0].arm = "limit-stream";
  limits[0].found = true;
  limits[1].arm = "limit-peak";
  std::string text = doctor_text(doctor_sections(small_observation(), limits), false);
  EXPECT_NE(text.find("1 of 2 kernels"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing to weigh"), std::string::npos) << text;
  limits[0].found = false;
  text = doctor_text(doctor_sections(small_observation(), limits), false);
  EXPECT_NE(text.find("no row can have a floor"), std::string::npos) << text;
}

TEST(Doctor, AValueCannotSteerTheTerminal) {
  device::Observation seen = small_observation();
  seen.hobbles = {{.variable = "LD_PRELOAD",
                   .value = "\x1b]0;owned\x07" + std::string(5000, 'x'),
                   .effect = "e",
                   .advice = "unset it",
                   .harmful = true}};
  const std::string text = doctor_text(doctor_sections(seen, libraries()), false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text.find(std::string(1000, 'x')), std::string::npos);
}

TEST(Doctor, AFullDiskIsSaid) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> full(std::fopen("/dev/full", "w"),
                                                             &std::fclose);
  ASSERT_NE(full, nullptr);
  EXPECT_THROW(doctor(quick(false), full.get()), Error);
}

TEST(Doctor, NoTimeIsRefused) {
  DoctorOptions options = quick(false);
  options.seconds = 0;
  EXPECT_THROW(doctor(options), Error);
}

}  // namespace
}  // namespace tare::app
