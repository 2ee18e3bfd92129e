// Sizes of memory in reasons, as a reader compares them.
#pragma once

#include <cstdint>
#include <string>

namespace halmark {

// "107.5 GiB", "7 B".
std::string memory_size_text(std::int64_t bytes);

// "a rank needs 107.5 GiB and 72.00 GiB may be used: short by 35.52 GiB": four digits, so that two
// sizes that differ a little still do. Exact bytes are in the documents.
std::string memory_shortage_text(std::int64_t needed_bytes, std::int64_t available_bytes);

}  // namespace halmark
