#include "model/pricing/memory_text.hpp"

#include <array>

#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr int digits = 4;

}  // namespace

std::string memory_size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return number_text(value, digits) + ' ' + units[unit];
}

std::string memory_shortage_text(std::int64_t needed_bytes, std::int64_t available_bytes) {
  return "a rank needs " + memory_size_text(needed_bytes) + " and " +
         memory_size_text(available_bytes) + " may be used: short by " +
         memory_size_text(needed_bytes - available_bytes);
}

}  // namespace halmark
