// The small files that make_fixtures.py writes, and the weights that they stand for.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "load/original.h"
#include "load/source.h"
#include "load/stored_matrix.h"
#include "problem/problem.h"

namespace tare::load {

// One file. Its matrices are the q of layers 0, 1, ...
struct Fixture {
  explicit Fixture(const std::string& name)
      : path(std::filesystem::path(TARE_FIXTURES) / name), model(problem::read_model(path)) {
    std::ifstream file(path.string() + ".f32", std::ios::binary);
    std::uint64_t count = 0;
    for (const problem::Matrix& matrix : model.matrices) count += matrix.k * matrix.n;
    expected.resize(count);
    file.read(reinterpret_cast<char*>(expected.data()), static_cast<std::streamsize>(4 * count));
    EXPECT_TRUE(file.good()) << path;
  }

  // The q of a layer.
  const problem::Matrix& matrix(std::size_t layer) const { return model.matrices.at(layer); }
  StoredMatrix stored(std::size_t layer) const { return StoredMatrix(source_of(matrix(layer))); }
  // The weights of one of its outputs, from the package that made the file.
  std::vector<double> weights(std::size_t layer, std::uint64_t output) const {
    const std::uint64_t k = matrix(layer).k, n = matrix(layer).n;
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>((layer * n + output) * k);
    return {first, first + static_cast<std::ptrdiff_t>(k)};
  }

  std::filesystem::path path;
  problem::Model model;
  std::vector<float> expected;
};

}  // namespace tare::load
