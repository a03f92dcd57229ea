// The one way failures travel inside Tare: an exception with a sentence for a person.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tare {

// What kind of failure it is; the command line maps it to an exit code (docs/exit-codes.md).
enum class Blame {
  kInput,    // bad usage or input: exit 2
  kMachine,  // this machine cannot do it (no memory, library absent): exit 1
  kArm,      // an implementation failed, crashed, hung or lied: that row is lost, exit 1
};

// A sentence that says what was wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Blame blame, const std::string& sentence) : std::runtime_error(sentence), blame_(blame) {}
  Blame blame() const { return blame_; }

 private:
  Blame blame_;
};

template <typename... Args>
[[noreturn]] void fail(Blame blame, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(blame, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tare
