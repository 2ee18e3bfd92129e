#include "host/process/arena.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "core/numeric/random.hpp"

namespace halmark {
namespace {
constexpr std::int64_t page_bytes = 4096;

std::int64_t whole_pages(std::int64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}
// Pages are not alike: what the kernel hands out first on a machine that has been up for a while
// lies in fragments, and was read at 8 GB/s where what came last was read at 11. Pieces of all
// arenas in random order give every rank, and every part of its ring, the same mixture; a rank that
// came first was the slowest of every stack. `begins`: what each arena has already.
void deal_out_pages(std::span<SharedMemory> arenas, std::span<const std::int64_t> begins,
                    const std::function<bool()>& should_stop) {
  constexpr std::int64_t piece_bytes = 2 << 20;
  struct Piece {
    SharedMemory* arena;
    std::int64_t begin;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < arenas.size(); ++i) {
    for (std::int64_t at = begins[i]; at < arenas[i].bytes(); at += piece_bytes) {
      pieces.push_back({&arenas[i], at});
    }
  }
  for (std::size_t left = pieces.size(); left > 1; --left) {
    std::swap(pieces[left - 1], pieces[uniform_below(hash_u64(pieces.size(), left), left)]);
  }
  constexpr std::size_t between_looks = 32;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i % between_looks == 0 && should_stop && should_stop()) return;
    auto [arena, begin] = pieces[i];
    arena->populate(begin, std::min(piece_bytes, arena->bytes() - begin));
  }
}

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

std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted, double fraction,
                                      const std::function<bool()>& should_stop) {
  std::vector<SharedMemory> arenas;
  double total = 0;
  for (const std::int64_t bytes : bytes_wanted) total += static_cast<double>(bytes);
  const auto available = static_cast<double>(available_memory_bytes());
  const double share = available > 0 && total > 0 ? std::min(1.0, fraction * available / total) : 1;
  for (const std::int64_t wanted : bytes_wanted) {
    // Whole pages, and never less than was asked for: what is a little short would be made again.
    const std::int64_t bytes =
        whole_pages(static_cast<std::int64_t>(share * static_cast<double>(wanted)));
    if (bytes <= 0) break;
    try {
      arenas.push_back(SharedMemory::create("halmark-arena", bytes, false));
    } catch (const std::exception&) {
      break;
    }
  }
  deal_out_pages(arenas, std::vector<std::int64_t>(arenas.size(), 0), should_stop);
  return arenas;
}

void grow_arenas(std::vector<SharedMemory>& arenas, std::span<const std::int64_t> bytes_wanted,
                 double fraction, const std::function<bool()>& should_stop) {
  double held = 0, missing = 0;
  for (const SharedMemory& arena : arenas) held += static_cast<double>(arena.bytes());
  for (std::size_t i = 0; i < bytes_wanted.size(); ++i) {
    const std::int64_t has = i < arenas.size() ? arenas[i].bytes() : 0;
    missing += static_cast<double>(std::max<std::int64_t>(0, bytes_wanted[i] - has));
  }
  if (missing <= 0) return;
  const double available = static_cast<double>(available_memory_bytes()) + held;
  const bool fits = available <= held || held + missing <= fraction * available;
  try {
    std::vector<std::int64_t> begins;
    for (std::size_t i = 0; fits && i < bytes_wanted.size(); ++i) {
      const std::int64_t bytes = whole_pages(bytes_wanted[i]);
      begins.push_back(i < arenas.size() ? arenas[i].bytes() : 0);
      if (begins.back() >= bytes) continue;
      if (i < arenas.size()) {
        arenas[i].grow(bytes);
      } else {
        arenas.push_back(SharedMemory::create("halmark-arena", bytes, false));
      }
    }
    if (fits) {
      begins.resize(arenas.size(), std::numeric_limits<std::int64_t>::max());  // as they are
      return deal_out_pages(arenas, begins, should_stop);
    }
  } catch (const std::exception&) {
    // Made anew below, in what memory there is.
  }
  arenas.clear();  // before the new ones are made: both together may not fit
  arenas = make_arenas(bytes_wanted, fraction, should_stop);
}

}  // namespace halmark
