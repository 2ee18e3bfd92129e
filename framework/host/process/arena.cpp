#include "host/process/arena.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace halmark {
namespace {
constexpr std::int64_t page_bytes = 4096;
}  // namespace

std::int64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view key = "MemAvailable:";
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return 0;
    std::int64_t kib = 0;
    std::from_chars(line.data() + digit, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return 0;
}

std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted, double fraction) {
  std::vector<SharedMemory> arenas;
  double total = 0;
  for (const std::int64_t bytes : bytes_wanted) total += static_cast<double>(bytes);
  const auto available = static_cast<double>(available_memory_bytes());
  const double share = available > 0 && total > 0 ? std::min(1.0, fraction * available / total) : 1;
  for (const std::int64_t wanted : bytes_wanted) {
    // Whole pages, and never less than was asked for: what is a little short would be made again.
    const auto bytes =
        (static_cast<std::int64_t>(share * static_cast<double>(wanted)) + page_bytes - 1) /
        page_bytes * page_bytes;
    if (bytes <= 0) break;
    try {
      arenas.push_back(SharedMemory::create("halmark-arena", bytes, true));
    } catch (const std::exception&) {
      break;
    }
  }
  return arenas;
}

bool arenas_suffice(std::span<const SharedMemory> arenas,
                    std::span<const std::int64_t> bytes_wanted) {
  if (arenas.size() < bytes_wanted.size()) return false;
  for (std::size_t i = 0; i < bytes_wanted.size(); ++i) {
    if (arenas[i].bytes() < bytes_wanted[i]) return false;
  }
  return true;
}

}  // namespace halmark
