#include "base/hash128.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tare {

struct Hash128::State {
  XXH3_state_t of_xxhash;
};

Hash128::Hash128() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->of_xxhash);
}

Hash128::~Hash128() = default;

void Hash128::add(const void* bytes, std::size_t count) {
  XXH3_128bits_update(&state_->of_xxhash, bytes, count);
}

std::string Hash128::hexadecimal() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->of_xxhash);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace tare
