// The file that `tare prove --json` writes: a header, and a line for each certificate
// (docs/certificates.md).
#pragma once

#include <filesystem>
#include <vector>

#include "prove/certificate.h"

namespace tare::report {

inline constexpr const char* kProofSchema = "tare.prove/1";

// Its certificates, in its order. Trusts nothing: throws tare::Error (kInput) where the file cannot
// be read, is of another kind, or holds a line that is no certificate.
std::vector<prove::Certificate> read_proofs(const std::filesystem::path& path);

}  // namespace tare::report
