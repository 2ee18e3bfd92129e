// The proportional set size of this process.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace halmark::worker {

struct SetSize {
  std::optional<std::int64_t> bytes;
  std::string reason;  // why it is absent
};

// Free memory of the heap is given back first: it is nobody's.
SetSize own_set_size();
// Of the text of a smaps_rollup.
SetSize set_size_in(std::istream& rollup);

}  // namespace halmark::worker
