#include "arms/roster.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"

namespace tare::arms {
namespace {

namespace fs = std::filesystem;

// The implementations that Tare comes with, and what a machine without the module lacks.
struct BuiltIn {
  Where where;
  const char* module;
  const char* lacking;
  bool on_request = false;  // fetched when somebody wants it, not by set-up
};
constexpr const char* kNoCuda =
    "not built: no CUDA 13 compiler was found. Install the toolkit and build again.";
constexpr const char* kNoMlxCuda =
    "not built: no CUDA 13 compiler was found, or mlx-cuda-13 was not in .deps. Run scripts/setup "
    "--cuda and build again.";
constexpr const char* kOnRequest = "not fetched: './tare incumbents' does, when it is wanted.";
constexpr std::array<BuiltIn, 15> kBuiltIns{{
    {Where::kProcessor, "onednn",
     "not built: Debian's libdnnl-dev was missing. Run scripts/setup and build again."},
    {Where::kProcessor, "openblas", "not built. Build again."},
    {Where::kProcessor, "ggml",
     "not built: ggml was not in .deps. Run scripts/setup, and see .deps/logs when that fails."},
    {Where::kProcessor, "mlx",
     "not built: MLX was not in .deps. Run scripts/setup, and see .deps/logs when that fails."},
    {Where::kProcessor, "onednn3", kOnRequest, true},
    {Where::kProcessor, "onednn3_omp", kOnRequest, true},
    {Where::kProcessor, "mkl", kOnRequest, true},
    {Where::kProcessor, "tare_cpu", "not built: Tare's own kernels are missing from this build."},
    {Where::kProcessor, "tare_grouped",
     "not built: Tare's own kernels are missing from this build."},
    {Where::kProcessor, "limit", "not built: without the limit arms there is no gap to show."},
    {Where::kCuda, "cublaslt", kNoCuda},
    {Where::kCuda, "cublas", kNoCuda},
    {Where::kCuda, "mlx_cuda", kNoMlxCuda},
    {Where::kCuda, "tare_cuda", kNoCuda},
    {Where::kCuda, "limit_cuda", kNoCuda},
}};

bool is_own(const std::string& arm) {
  return arm.starts_with("tare-");
}

Part part_of(const ArmDescription& arm, bool plugin) {
  if ((arm.flags & TARE_IS_LIMIT) != 0) return Part::kLimit;
  return plugin || is_own(arm.name) ? Part::kCandidate : Part::kIncumbent;
}

}  // namespace

Roster::Roster(const RosterOptions& options) {
  for (const BuiltIn& built_in : kBuiltIns) {
    if (built_in.where != options.where) continue;
    const fs::path path = fs::path(options.module_folder) / (std::string(built_in.module) + ".so");
    if (fs::exists(path))
      add(options, path.string(), false);
    else
      absent_.push_back({built_in.module, built_in.lacking, false, built_in.on_request});
  }
  for (const std::string& plugin : options.plugins)
    add(options, fs::absolute(plugin).string(), true);
  for (const auto& host : hosts_) all_.push_back(host.get());
}

void Roster::add(const RosterOptions& options, const std::string& path, bool plugin) {
  HostOptions host;
  host.executable = options.executable;
  host.module_path = path;
  host.threads = options.threads;
  host.inputs = options.inputs;
  host.outputs = options.outputs;
  host.patience = options.patience;
  const std::string name = fs::path(path).stem().string();
  try {
    hosts_.push_back(std::make_unique<Host>(host));
    add_arms(hosts_.back().get(), path, plugin);
  } catch (const Error& error) {
    absent_.push_back({plugin ? fs::path(path).filename().string() : name, error.what(), plugin});
  }
}

void Roster::add_arms(Host* host, const std::string& path, bool plugin) {
  const std::string module = fs::path(path).stem().string();
  for (std::uint32_t i = 0; i < host->arms().size(); ++i) {
    const ArmDescription& arm = host->arms()[i];
    if (plugin && (arm.flags & TARE_IS_LIMIT) != 0)
      absent_.push_back({arm.name,
                         arm.name + ": calls itself a limit (TARE_IS_LIMIT), whose output is not "
                                    "checked: only Tare's own "
                                    "limit arms may. Clear the flag.",
                         true});
    else if (arm.refusal.empty())
      arms_.push_back({module, path, host, i, arm, part_of(arm, plugin), plugin});
    else
      absent_.push_back({arm.name, plugin ? arm.name + ": " + arm.refusal : arm.refusal, plugin});
  }
}

const RosterArm& Roster::by_parts(const RosterArm& arm, std::span<const std::uint64_t> n) {
  Parts parts;
  for (const std::uint64_t own : n.first(std::min<std::size_t>(n.size(), Parts::kMost)))
    parts.n[parts.count++] = own;
  for (const RosterArm& made : by_parts_)
    if (made.host == arm.host && made.index == arm.index && made.parts == parts) return made;
  RosterArm made = arm;
  made.parts = parts;
  made.description.name += kByPartsSuffix;
  made.description.title += " by parts";
  return by_parts_.emplace_back(std::move(made));
}

void Roster::revive() {
  for (Host* host : all_)
    if (!host->alive()) host->restart();
}

std::string module_folder_of(const std::string& executable) {
  const fs::path root = fs::path(executable).parent_path().parent_path();
  return (root / TARE_MODULE_FOLDER).string();
}

}  // namespace tare::arms
