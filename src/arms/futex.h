// Waiting for the other process's turn without burning a processor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tare::arms {

// Sleeps until `word` is no longer `value`, a signal came, or `most` has passed. Returns whether it
// changed.
bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::chrono::milliseconds most);
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace tare::arms
