// One libFuzzer program per reader: HALMARK_FED is the function that its bytes go to.
#include <cstddef>
#include <cstdint>

#include "feed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halmark::fuzz::HALMARK_FED({reinterpret_cast<const char*>(data), size});
  return 0;
}
