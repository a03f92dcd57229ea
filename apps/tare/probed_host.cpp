#include "probed_host.h"

#include "base/interrupt.h"
#include "seats.h"

namespace tare::app {
namespace {

arms::HostOptions host_options(const ProbedArm& arm, const weigh::Stage& stage) {
  arms::HostOptions options;
  options.executable = arm.executable;
  options.module_path = arm.module_path;
  options.threads = arm.threads;
  options.environment = arm.environment;
  options.inputs = &stage.inputs_memory();
  options.outputs = &stage.outputs_memory();
  options.patience = arm.patience;
  return options;
}

}  // namespace

ProbedHost::ProbedHost(const ProbedArm& arm, weigh::Stage& stage)
    : arm_(arm), stage_(stage), host_(host_options(arm, stage)) {}

std::optional<std::string> ProbedHost::refusal(std::uint32_t rows) {
  if (arm_.index >= host_.arms().size()) return "the module has fewer arms in these circumstances";
  if (const std::string& why = host_.arms()[arm_.index].refusal; !why.empty()) return why;
  return host_.refusal(arm_.index, problem(rows));
}

void ProbedHost::run(prove::Data data, std::uint32_t rows, prove::ConstElements x, int /*which*/,
                     prove::Elements y) {
  if (interrupt_requested()) throw Interrupted();
  stage_.lay_out(problem(rows));
  prove::copy(x, stage_.writable_input(0));
  // Into the last output: behind it lies the widest guard.
  const std::uint32_t last = stage_.outputs() - 1;
  const prove::Elements output = stage_.output(last);
  prove::copy(y, output);
  prepare(data, rows, 1);
  arms::RegionRequest request = stage_.addresses();
  request.output_offset += last * request.output_stride;
  request.guarded = arm_.guarded ? 1 : 0;
  run_region(rows, request);
  prove::copy(output, y);
}

std::vector<std::vector<prove::Bf16>> ProbedHost::run_together(
    prove::Data data, std::uint32_t rows, std::span<const std::vector<prove::Bf16>> x) {
  if (interrupt_requested()) throw Interrupted();
  stage_.lay_out(problem(rows));
  prepare(data, rows, kMostTogether);
  arms::RegionRequest request = stage_.addresses();
  request.slots_used = kMostTogether;
  std::vector<std::vector<prove::Bf16>> all;
  while (all.size() < x.size()) {
    const std::size_t first = all.size();
    request.dispatches =
        std::min<std::size_t>({request.inputs, request.outputs, x.size() - first, kMostTogether});
    for (std::uint64_t i = 0; i < request.dispatches; ++i)
      prove::copy(x[first + i], stage_.writable_input(i));
    run_region(rows, request);
    for (std::uint32_t i = 0; i < request.dispatches; ++i) {
      all.emplace_back(stage_.output(i).size());
      prove::copy(stage_.output(i), prove::Elements(all.back()));
    }
  }
  return all;
}

void ProbedHost::run_region(std::uint32_t rows, arms::RegionRequest request) {
  host_.region(executor_->id, request);
  if (!ran_.contains(rows)) ran_[rows] = host_.describe(executor_->id).record;
  if (const auto breach = stage_.take_breach(); breach && breach_.empty()) breach_ = *breach;
}

prove::Compute ProbedHost::compute() {
  return [this](prove::Data data, std::uint32_t rows, prove::ConstElements x, int which,
                prove::Elements y) { run(data, rows, x, which, y); };
}

void ProbedHost::prepare(prove::Data data, std::uint32_t rows, std::uint32_t slots) {
  if (!host_.alive()) host_.restart();
  if (executor_ && executor_->life != host_.life()) executor_.reset();
  if (executor_ && executor_->data == data && executor_->slots == slots) {
    if (executor_->rows == rows) return;
    if (host_.set_rows(executor_->id, rows)) {
      executor_->rows = rows;
      return;
    }
  }
  if (executor_) host_.destroy(executor_->id);
  executor_.reset();
  host_.begin_prepare(arm_.index, problem(rows), slots,
                      {.seed = arm_.weight_seed,
                       .data = data,
                       .guarded = arm_.guarded ? std::uint32_t{1} : 0,
                       .model = arm_.model},
                      false);
  const std::chrono::duration<double> patience = arm_.patience;
  const auto enough = preparing_patience(problem(rows), slots, patience.count());
  executor_ = {host_.end_prepare(enough).executor, host_.life(), rows, slots, data};
}

tare_problem ProbedHost::problem(std::uint32_t rows) const {
  tare_problem problem = arm_.problem;
  problem.rows = rows;
  return problem;
}

}  // namespace tare::app
