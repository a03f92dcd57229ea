// A trap: one way in which a kernel benchmark lies, committed for real, and what Tare says to it.
#pragma once

#include <string>
#include <vector>

namespace tare::traps {

class Laboratory;

// What became of one run of a trap.
struct Outcome {
  std::string naive;     // what a naive harness prints: a number and its claim
  std::string tare;      // what Tare says: "refused(ring)", "loss, 0.81x [0.79, 0.83]"
  std::string gate;      // the gate, or the part of Tare, that did not believe it; "" when none did
  std::string sentence;  // Tare's own words
  bool caught = false;
};

struct Trap {
  const char* ids;    // of the catalogue: "T4", "T10, T32"
  const char* name;   // on the command line
  const char* title;  // the lie in one line
  const char* seen;   // where it happened in public
  const char* lie;    // how it is committed here
  const char* gate;   // what is to name it; several where any of them may come first
  // Commits the lie.
  Outcome (*run)(const Laboratory& laboratory);
  bool needs_gpu = false;
};

// The gallery, in the order of the catalogue.
const std::vector<const Trap*>& catalogue();

// By name, or by an id that one trap alone has; null when there is none.
const Trap* find(const std::string& name_or_id);

}  // namespace tare::traps
