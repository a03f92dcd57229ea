// The matrices of model files whose own weights a proof takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/source.h"
#include "prove/certificate.h"

namespace tare::app {

struct ModelMatrix {
  problem::Projection projection;  // of this matrix alone
  load::Source source;
  prove::ModelWeights origin;  // its digest is not taken yet
};

struct ModelChoice {
  std::vector<std::string> files;
  std::vector<std::string> projections;  // none: all
  std::optional<std::uint64_t> layer;    // none: the first that has a matrix of that name and kind
};

// Each projection of the files once: by name, shape and how it is stored. Throws tare::Error
// (kInput) where a file holds no weights, or none of these.
std::vector<ModelMatrix> matrices_of(const ModelChoice& choice);

}  // namespace tare::app
