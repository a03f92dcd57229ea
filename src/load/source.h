// Where the weights of one matrix of a model file lie: problem::Storage as plain data of a fixed
// size, which crosses into arm hosts. The weights themselves never do.
#pragma once

#include <cstdint>
#include <string>

#include "problem/problem.h"

namespace tare::load {

struct Piece {
  static constexpr std::size_t kMostPath = 1024;
  char path[kMostPath]{};    // "" : there is none
  std::uint64_t offset = 0;  // from the file's start
  std::uint64_t bytes = 0;
  std::uint32_t type = 0;  // of numbers: TARE_BF16 ..., else 0
};

struct Source {
  problem::Scheme scheme = problem::Scheme::kUnknown;
  std::uint32_t type = 0;  // of kPlain and kBlocks: of tare/arm.h
  std::uint32_t bits = 0;  // what follows: as in problem::Storage
  std::uint64_t group = 0;
  std::uint64_t k = 0, n = 0;
  std::uint32_t zeros_less_one = 0;
  Piece codes{}, scales{}, zeros{}, order{};
};

// Throws tare::Error (kInput) where the matrix has no weights that can be read: only its shape is
// known, or they are of another kind. The sentence begins with the matrix's name.
Source source_of(const problem::Matrix& matrix);

}  // namespace tare::load
