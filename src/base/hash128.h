// XXH3, 128 bits, no seed (https://xxhash.com): what files and results files are known by.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace tare {

// Of bytes handed over piece by piece: how they are cut into pieces does not matter.
class Hash128 {
 public:
  Hash128();  // of nothing
  ~Hash128();
  void add(const void* bytes, std::size_t count);
  // 32 digits, as `xxh128sum` prints them, of all that was added so far.
  std::string hexadecimal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tare
