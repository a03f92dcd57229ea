// What the back end knows of this process: its plan, if there is one that holds, the threads it was
// given, and the ledger.
#pragma once

#include <ggml.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ledger.h"
#include "packed_matrix.h"
#include "tare/plan.h"

namespace tare::llama {

// Thread safe once it is made.
class Session {
 public:
  // Reads the plan that TARE_PLAN names, asks whether it holds here, and says in one line on stderr
  // what will be done. Never throws: without a plan that holds, nothing is served.
  Session();
  // Prints the ledger, when there was something to serve.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The kernel that this product is to run on here; nothing: it is left. `problem`: of products.h.
  // Asked for every product of every graph, so what the plan said is kept.
  std::optional<Kernel> kernel_for(const tare_problem& problem) const;
  // Why it is left: a sentence for a person. "": it is not.
  std::string refusal(const tare_problem& problem) const;
  // Whether any row count of this matrix is.
  bool serves_some_rows(const tare_problem& problem) const;

  // ggml's number of threads: nothing is served with another one than the plan's.
  void set_threads(std::uint32_t threads) { threads_ = threads; }

  Ledger& ledger() { return ledger_; }

 private:
  struct Close {
    void operator()(tare_plan* plan) const { tare_plan_close(plan); }
  };
  struct Answer {
    std::optional<Kernel> kernel;
    std::string why_not;
  };
  std::unique_ptr<tare_plan, Close> open_plan() const;
  Answer ask(const tare_problem& problem) const;
  bool has_other_threads() const;

  std::string title_, kernels_;
  tare_plan_engine engine_{};
  std::unique_ptr<tare_plan, Close> plan_;  // null: nothing is served
  std::atomic<std::uint32_t> threads_{0};   // 0: not told yet
  Ledger ledger_;
  using Key = std::array<std::uint64_t, 4>;  // weights, k, n, rows: the rest follows from them
  mutable std::mutex mutex_;
  mutable std::map<Key, std::optional<Kernel>> known_;
};

}  // namespace tare::llama
