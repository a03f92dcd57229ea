#include "doctor.h"

#include <fmt/color.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace tare::app {
namespace {

using device::Finding;
using device::Observation;
using device::Section;
using device::Status;

constexpr std::size_t kWidth = 100;  // of a line of text
constexpr std::size_t kLongestValue = 200;

// ---- calibration

constexpr const char* kCalibrate =
    "tare calibrate --short --save says in a minute which differences will not be seen here";

Finding setting_finding(const Calibrated& calibrated, const Calibrated::Setting& setting) {
  return {Status::kOk, setting.name,
          fmt::format("differences under {:.2g} % will not be seen in {:g} s a row (calibrated {})",
                      100 * setting.smallest, calibrated.seconds_per_row,
                      calibrated.date.substr(0, sizeof "2026-11-30" - 1)),
          ""};
}

Section calibration_section(const Observation& seen, const std::optional<Calibrated>& calibrated) {
  Section section{"calibration", {}};
  if (!calibrated) {
    section.findings.push_back({Status::kNote, "calibrate", "was not run", kCalibrate});
  } else if (calibrated->machine != device::summary(seen.machine)) {
    section.findings.push_back({Status::kNote, "calibrate",
                                "was run on another machine: " + calibrated->machine, kCalibrate});
  } else {
    for (const Calibrated::Setting& setting : calibrated->settings)
      section.findings.push_back(setting_finding(*calibrated, setting));
    if (section.findings.empty())
      section.findings.push_back({Status::kWarn, "calibrate", "no difference was seen",
                                  "quieten the machine and calibrate again"});
  }
  return section;
}

// ---- implementations

// Floors are arms, too: they stand in the list, but no row can have one for its incumbent.
std::string role_of(const report::Library& library) {
  if (library.candidate) return "candidate";
  return library.arm.starts_with("limit-") ? "limit" : "incumbent";
}

Finding implementation_finding(const report::Library& library) {
  const std::string role = role_of(library);
  if (library.found) {
    return {Status::kOk, library.arm, fmt::format("{} ({})", library.title, role), ""};
  }
  return {Status::kNote, library.arm, fmt::format("not found ({})", role), library.reason};
}

// The many floors in one line: which of them a row has is the table's business.
Finding limit_finding(std::size_t found, std::size_t all) {
  const std::string value = fmt::format("{} of {} kernels run here", found, all);
  if (found != 0) return {Status::kOk, "limits", value, ""};
  return {Status::kWarn, "limits", value, "no row can have a floor: run the set-up again"};
}

Section implementation_section(const std::vector<report::Library>& libraries) {
  Section section{"implementations", {}};
  std::size_t limits = 0, limits_found = 0, incumbents_found = 0;
  for (const report::Library& library : libraries) {
    const std::string role = role_of(library);
    limits += role == "limit";
    limits_found += role == "limit" && library.found;
    incumbents_found += role == "incumbent" && library.found;
    if (role != "limit") section.findings.push_back(implementation_finding(library));
  }
  if (limits != 0) section.findings.push_back(limit_finding(limits_found, limits));
  if (incumbents_found == 0) {
    section.findings.push_back(
        {Status::kWarn, "incumbents", "none",
         "there is nothing to weigh a candidate against: run the set-up again and read what it "
         "says, or see the reasons above"});
  }
  return section;
}

// ---- text

// A value comes from the environment or from a library: it must not steer the terminal, nor fill
// it.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  if (text.size() > kLongestValue) text = text.substr(0, kLongestValue) + "...";
  return text;
}

std::string coloured(Status status, std::string_view word, bool colour) {
  if (!colour) return std::string(word);
  const auto shade = status == Status::kOk     ? fmt::terminal_color::green
                     : status == Status::kNote ? fmt::terminal_color::cyan
                                               : fmt::terminal_color::yellow;
  return fmt::format(fmt::fg(shade), "{}", word);
}

// Breaks at blanks, but not before a '%', and sets every line but the first off by `indent`.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    std::size_t blank = text.find(' ');
    if (text.substr(blank + 1).starts_with('%')) blank = text.find(' ', blank + 1);
    const std::string_view word = text.substr(0, blank);
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
  }
  return out;
}

std::size_t label_width(const std::vector<Section>& sections) {
  std::size_t width = 0;
  for (const Section& section : sections) {
    for (const Finding& finding : section.findings) width = std::max(width, finding.label.size());
  }
  return std::min<std::size_t>(width, 32);
}

std::string finding_text(const Finding& finding, std::size_t labels, bool colour) {
  const std::string word = fmt::format("{:<4}", device::to_string(finding.status));
  const std::size_t indent = 2 + 4 + 2 + labels + 2;
  std::string text = fmt::format("  {}  {:<{}}  {}\n", coloured(finding.status, word, colour),
                                 finding.label, labels, wrapped(printable(finding.value), indent));
  if (!finding.advice.empty()) {
    text +=
        fmt::format("{:{}}{}\n", "", indent, wrapped("-> " + printable(finding.advice), indent));
  }
  return text;
}

std::size_t count(const std::vector<Section>& sections, Status status) {
  std::size_t found = 0;
  for (const Section& section : sections) {
    found +=
        static_cast<std::size_t>(std::ranges::count(section.findings, status, &Finding::status));
  }
  return found;
}

std::string conclusion(const std::vector<Section>& sections) {
  const std::size_t warnings = count(sections, Status::kWarn),
                    notes = count(sections, Status::kNote);
  if (warnings == 0)
    return fmt::format("fit to weigh on; {} note{}\n", notes, notes == 1 ? "" : "s");
  return fmt::format(
      "{} warning{}, {} note{}: expect wider intervals or refusals until the warnings are seen "
      "to\n",
      warnings, warnings == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
}

// ---- JSON

using Json = nlohmann::ordered_json;

Json machine_json(const Observation& seen) {
  const device::Machine& m = seen.machine;
  return {{"processor", m.processor},
          {"threads", m.threads},
          {"processors_online", seen.processors_online},
          {"cores", m.cores},
          {"smt", m.smt},
          {"isa",
           {{"avx2", m.isa.avx2},
            {"avx512", m.isa.avx512},
            {"avx512_vnni", m.isa.avx512_vnni},
            {"avx512_bf16", m.isa.avx512_bf16},
            {"avx512_fp16", m.isa.avx512_fp16},
            {"amx_bf16", m.isa.amx_bf16},
            {"amx_int8", m.isa.amx_int8}}},
          {"l1d_bytes", m.l1d_bytes},
          {"l2_bytes", m.l2_bytes},
          {"last_level_cache_bytes", m.last_level_cache_bytes},
          {"last_level_caches", m.last_level_caches},
          {"memory_bytes", m.memory_bytes},
          {"available_bytes", m.available_bytes},
          {"cold_ring_bytes", device::cold_ring_bytes(m)},
          {"huge_pages", m.huge_pages},
          {"governor", m.governor},
          {"kernel", m.kernel},
          {"virtual_machine", m.virtual_machine},
          {"hypervisor", seen.hypervisor},
          {"quota_processors", seen.limits.processors},
          {"memory_limit_bytes", seen.limits.memory_bytes}};
}

Json accelerator_json(const device::AcceleratorObservation& seen) {
  if (!seen.found) return nullptr;
  const device::Accelerator& gpu = *seen.found;
  Json json = {{"name", gpu.name},
               {"architecture", gpu.architecture},
               {"driver", gpu.driver},
               {"multiprocessors", gpu.multiprocessors},
               {"l2_bytes", gpu.l2_bytes},
               {"memory_bytes", gpu.memory_bytes},
               {"available_bytes", gpu.available_bytes},
               {"cold_ring_bytes", device::cold_ring_bytes(gpu)},
               {"processes", seen.processes ? Json(*seen.processes) : Json(nullptr)},
               {"state", nullptr}};
  if (seen.state)
    json["state"] = {
        {"sm_mhz", seen.state->sm_mhz},         {"highest_sm_mhz", seen.state->highest_sm_mhz},
        {"memory_mhz", seen.state->memory_mhz}, {"celsius", seen.state->celsius},
        {"watts", seen.state->watts},           {"slowed_by", seen.state->slowed_by}};
  return json;
}

Json noise_json(const device::Noise& noise) {
  return {{"seconds", noise.seconds},
          {"steal_share", noise.steal_share},
          {"busy_share", noise.busy_share},
          {"spin_p99_ratio", noise.spin_p99_ratio},
          {"spin_max_gap_us", noise.spin_max_gap_us},
          {"busiest", noise.busiest}};
}

Json trial_json(const device::PageTrial& trial) {
  return {{"bytes", trial.bytes}, {"seconds", trial.seconds}, {"huge_share", trial.huge_share}};
}

Json library_json(const report::Library& library) {
  return {{"arm", library.arm},
          {"title", library.title},
          {"found", library.found},
          {"candidate", library.candidate},
          {"reason", library.reason}};
}

Json section_json(const Section& section) {
  Json findings = Json::array();
  for (const Finding& finding : section.findings) {
    findings.push_back({{"status", device::to_string(finding.status)},
                        {"label", finding.label},
                        {"value", finding.value},
                        {"advice", finding.advice}});
  }
  return {{"title", section.title}, {"findings", findings}};
}

void write(std::FILE* out, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0) return;
  fail(Blame::kMachine,
       "cannot write what the doctor found: the output is closed or its disk is full");
}

}  // namespace

std::vector<Section> doctor_sections(const Observation& seen,
                                     const std::vector<report::Library>& implementations,
                                     const std::optional<Calibrated>& calibrated) {
  std::vector<Section> sections = device::diagnose(seen);
  sections.push_back(calibration_section(seen, calibrated));
  sections.push_back(implementation_section(implementations));
  return sections;
}

std::string doctor_text(const std::vector<Section>& sections, bool colour) {
  const std::size_t labels = label_width(sections);
  std::string text;
  for (const Section& section : sections) {
    text += section.title + '\n';
    for (const Finding& finding : section.findings) text += finding_text(finding, labels, colour);
    text += '\n';
  }
  return text + conclusion(sections);
}

std::string doctor_json(const Observation& seen,
                        const std::vector<report::Library>& implementations,
                        const std::optional<Calibrated>& calibrated) {
  const std::vector<Section> sections = doctor_sections(seen, implementations, calibrated);
  Json json = {{"schema", "tare.doctor/1"},
               {"summary", device::summary(seen.machine)},
               {"warnings", count(sections, Status::kWarn)},
               {"notes", count(sections, Status::kNote)},
               {"machine", machine_json(seen)},
               {"accelerator", accelerator_json(seen.accelerator)},
               {"noise", noise_json(seen.noise)},
               {"fresh_memory", trial_json(seen.trial)},
               {"calibration", calibrated ? to_json(*calibrated) : Json(nullptr)},
               {"implementations", Json::array()},
               {"sections", Json::array()}};
  for (const report::Library& library : implementations) {
    json["implementations"].push_back(library_json(library));
  }
  for (const Section& section : sections) json["sections"].push_back(section_json(section));
  // Names of processes and values of variables need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

int doctor(const DoctorOptions& options, std::FILE* out) {
  const Observation seen = device::observe(options.seconds);
  write(out, options.json
                 ? doctor_json(seen, options.implementations, options.calibrated)
                 : doctor_text(doctor_sections(seen, options.implementations, options.calibrated),
                               options.colour));
  return 0;
}

}  // namespace tare::app
