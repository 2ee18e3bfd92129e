// Data of others, which stand beside the checkout and are no part of it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tests/checkout.hpp"

namespace halmark::test {

// A file or folder of HALMARK_SHARED_DATA, else of the folder of shared data beside the checkout;
// it need not be there: tests say so and skip.
inline std::filesystem::path shared_data(std::string_view relative = "") {
  const char* const named = std::getenv("HALMARK_SHARED_DATA");
  const bool is_named = named != nullptr && *named != '\0';
  return std::filesystem::path(is_named ? named : in_source("/../shared/data")) / relative;
}

}  // namespace halmark::test
