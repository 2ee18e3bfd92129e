// The rollup is a sum that the system walks the page tables for: tens of milliseconds per GiB, so
// it is read when asked for and never around a sample.
#include "worker/set_size.hpp"

#include <malloc.h>

#include <charconv>
#include <fstream>
#include <string_view>

namespace halmark::worker {

SetSize own_set_size() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ifstream rollup("/proc/self/smaps_rollup");
  if (!rollup) return {std::nullopt, "/proc/self/smaps_rollup cannot be read"};
  return set_size_in(rollup);
}

SetSize set_size_in(std::istream& rollup) {
  constexpr std::string_view key = "Pss:";
  for (std::string line; std::getline(rollup, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_of("0123456789", key.size());
    std::int64_t kib = 0;
    if (digit == std::string::npos || !line.ends_with(" kB") ||
        std::from_chars(line.data() + digit, line.data() + line.size(), kib).ec != std::errc{}) {
      return {std::nullopt, "smaps_rollup has no Pss in kB: '" + line + "'"};
    }
    return {kib * 1024, ""};
  }
  return {std::nullopt, "smaps_rollup has no line 'Pss:'"};
}

}  // namespace halmark::worker
