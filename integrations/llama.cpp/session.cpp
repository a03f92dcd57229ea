#include "session.h"

#include <fmt/format.h>

#include <omp.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "kernels/identity.h"

namespace tare::llama {
namespace {

// Runs `look` where all processors that this process was given can be seen. OpenMP, told to bind
// its threads (OMP_PROC_BIND), binds the first one when it is loaded, and what that thread may use
// is then one processor.
template <typename Look>
void look_beyond_binding(Look&& look) {
  cpu_set_t given;
  CPU_ZERO(&given);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors) CPU_SET(processor, &given);
  }
  std::thread([&] {
    if (CPU_COUNT(&given) > 0) sched_setaffinity(0, sizeof given, &given);
    look();
  }).join();
}

bool wants_details() {
  const char* log = std::getenv("TARE_LOG");
  return log != nullptr && *log != '\0' && *log != '0';
}

}  // namespace

Session::Session()
    : title_(fmt::format("ggml {}", ggml_version())),
      kernels_(kernels::library_text(TARE_VERSION)) {
  engine_ = {
      .arm = "ggml", .title = title_.c_str(), .kernels = kernels_.c_str(), .accelerator = nullptr};
  plan_ = open_plan();
}

Session::~Session() {
  if (plan_) fmt::print(stderr, "{}", ledger_.text(wants_details()));
}

std::unique_ptr<tare_plan, Session::Close> Session::open_plan() const {
  const char* path = std::getenv("TARE_PLAN");
  if (path == nullptr || *path == '\0') {
    fmt::print(stderr, "tare: nothing is served: TARE_PLAN names no plan\n");
    return nullptr;
  }
  char why[512] = "";
  std::unique_ptr<tare_plan, Close> plan(tare_plan_open(path, why, sizeof why));
  bool holds = false;
  if (plan)
    look_beyond_binding(
        [&] { holds = tare_plan_holds(plan.get(), &engine_, why, sizeof why) == 0; });
  if (holds) {
    fmt::print(stderr, "tare: serving by {}, for {} threads\n", path,
               tare_plan_threads(plan.get()));
    return plan;
  }
  fmt::print(stderr, "tare: nothing is served: {}{}\n",
             plan ? fmt::format("the plan '{}' does not hold here: ", path) : "", why);
  return nullptr;
}

bool Session::has_other_threads() const {
  const std::uint32_t threads = threads_;
  return threads != 0 && threads != tare_plan_threads(plan_.get());
}

Session::Answer Session::ask(const tare_problem& problem) const {
  char why[256] = "";
  tare_plan_decision decision{};
  if (tare_plan_serves(plan_.get(), &engine_, &problem, &decision, why, sizeof why) != 0)
    return {std::nullopt, why};
  if (const auto kernel = kernel_of(decision.candidate, problem.weights)) return {kernel, ""};
  return {std::nullopt,
          fmt::format("it was weighed on {}, which is not in this back end", decision.candidate)};
}

std::optional<Kernel> Session::kernel_for(const tare_problem& problem) const {
  if (!plan_ || has_other_threads()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] =
      known_.try_emplace({problem.weights, problem.k, problem.n, problem.rows});
  if (is_new) known->second = ask(problem).kernel;
  return known->second;
}

std::string Session::refusal(const tare_problem& problem) const {
  if (!plan_) return "no plan holds here";
  if (has_other_threads())
    return fmt::format("the plan is for {} threads, and there are {}",
                       tare_plan_threads(plan_.get()), threads_.load());
  return ask(problem).why_not;
}

bool Session::serves_some_rows(const tare_problem& problem) const {
  return plan_ && tare_plan_serves_some_rows(plan_.get(), &engine_, &problem) == 0;
}

}  // namespace tare::llama
