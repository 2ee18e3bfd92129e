// The end of a certified sweep: its certificate as text and JSON, and its proof file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/json/json.hpp"
#include "journal/store.hpp"
#include "tune/certify/certify_chooser.hpp"

namespace halmark::tune {

struct CertificateReport {
  Json data;
  std::string text;
};

// `validations`: runs of whole stacks of front points, or none. Writes the proof where the settings
// name a file; throws Error (exit 1) when it cannot be written.
CertificateReport conclude(const CertifyChooser& chooser, std::int64_t run, int rounds,
                           std::span<const Validation> validations);

}  // namespace halmark::tune
