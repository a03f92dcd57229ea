// `tare verify-model` and `tare weigh-model`: a whole model in an engine, with a plan and without.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tare::app {

struct ModelOptions {
  std::string model, plan;
  std::string engine = "llama.cpp";
  std::string python = "python3";    // with mlx
  std::uint32_t threads = 0;         // 0: the plan's
  std::string json_path;             // "": no record
  std::vector<std::string> command;  // as typed, for the record
};

struct VerifyModelOptions {
  ModelOptions model;
  std::vector<std::uint32_t> rows{1, 2, 8, 32};  // and each prompt whole
  std::string prompts;                           // a file, one a line; "": some that are built in
  // The same model in a more exact file (f32): how far is either from it? "": not asked.
  std::string reference;
};

struct WeighModelOptions {
  ModelOptions model;
  std::vector<std::uint32_t> rows{1};  // sequences that are decoded side by side; none: no decode
  std::vector<std::uint32_t> prompt{64};  // tokens of the prompts that are weighed; none: no prompt
  std::uint32_t tokens = 8;               // of a sequence in a round's region of decoding
  double seconds = 20;                    // of regions, for each placement of each line
  std::uint64_t seed = 0;                 // 0: drawn
};

CLI::App* add_verify_model(CLI::App& app, VerifyModelOptions& options);
CLI::App* add_weigh_model(CLI::App& app, WeighModelOptions& options);

// Return the exit code.
int verify_model(const VerifyModelOptions& options);
int weigh_model(const WeighModelOptions& options);

}  // namespace tare::app
