// What a reader of foreign bytes must survive: any. Each function returns where the input was read
// or refused with one line; anything else that leaves it is a defect.
#pragma once

#include <string_view>

namespace halmark::fuzz {

#define HALMARK_READER(name, group, seeds, mutations) void feed_##name(std::string_view bytes);
#include "readers.def"
#undef HALMARK_READER

struct Reader {
  std::string_view name;
  std::string_view seeds;  // folder below the root of the project
  int mutations = 0;       // of a short run
  void (*feed)(std::string_view bytes) = nullptr;
};

inline constexpr Reader readers[] = {
#define HALMARK_READER(name, group, seeds, mutations) {#name, seeds, mutations, feed_##name},
#include "readers.def"
#undef HALMARK_READER
};

}  // namespace halmark::fuzz
