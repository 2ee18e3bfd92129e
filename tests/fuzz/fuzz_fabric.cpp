#include <cstddef>
#include <cstdint>

#include "feed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halmark::fuzz::feed_fabric({reinterpret_cast<const char*>(data), size});
  return 0;
}
