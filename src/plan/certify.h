// Certificates of `tare prove` for the decisions of a plan.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "prove/certificate.h"

namespace tare::plan {

// The certificates of a file of `tare prove --json`. Throws tare::Error (kInput) with a sentence
// where the file is none, or one of its certificates is broken.
std::vector<prove::Certificate> read_certificates(const std::filesystem::path& path);

// Hands every decision the certificate of its candidate's module at its shape, types and row count,
// against its incumbent's unless the equality asked for needs none. What is served and not proved
// to be as equal as was asked for is a trade from then on. Returns how many decisions got one.
std::size_t certify(Plan& plan, std::span<const prove::Certificate> certificates);

}  // namespace tare::plan
