// Data of others, which stand beside the checkout and are no part of it.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace halmark::test {

// A file or folder of HALMARK_SHARED_DATA, else of ../shared/data; it need not be there: tests say
// so and skip.
inline std::filesystem::path shared_data(const char* relative) {
  const char* const named = std::getenv("HALMARK_SHARED_DATA");
  const bool is_named = named != nullptr && *named != '\0';
  return std::filesystem::path(is_named ? named : HALMARK_SHARED_DATA) / relative;
}

}  // namespace halmark::test
