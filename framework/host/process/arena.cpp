#include "host/process/arena.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/numeric/cast.hpp"
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
// came first was the slowest of every stack. `begins`: what each arena has already. False when
// memory got short meanwhile: somebody else took it.
bool deal_out_pages(std::span<SharedMemory> arenas, std::span<const std::int64_t> begins,
                    const ArenaOptions& options) {
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
    if (i % between_looks == 0) {
      if (options.should_stop && options.should_stop()) break;
      const RunMemory memory = options.read_memory();
      if (memory.free_bytes < memory.reserve_bytes() / 2) return false;
    }
    auto [arena, begin] = pieces[i];
    arena->populate(begin, std::min(piece_bytes, arena->bytes() - begin));
  }
  // Mapped pages count as this process's own where the kernel looks for somebody to kill.
  for (SharedMemory& arena : arenas) arena.let_go_of_pages();
  return true;
}

// Beyond that workers have too little for what they do not stage.
constexpr double most_of_all = 0.8;

double sum_of(std::span<const std::int64_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

// Whole pages, and never less than was asked for where that fits: what is a little short would be
// made again.
std::vector<std::int64_t> affordable(std::span<const std::int64_t> wanted, std::int64_t may_use,
                                     const ArenaOptions& options) {
  const auto room = as_double(may_use);
  const double total = sum_of(wanted);
  const double share = total > 0 ? std::min(1.0, options.fraction * room / total) : 1;
  std::vector<std::int64_t> out, raised;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t least = i < options.least.size() ? options.least[i] : 0;
    out.push_back(whole_pages(static_cast<std::int64_t>(share * as_double(wanted[i]))));
    raised.push_back(std::max(out.back(), whole_pages(std::min(least, wanted[i]))));
  }
  return sum_of(raised) <= most_of_all * room ? raised : out;
}

// What memory there is moves: of sizes that it cuts, a little less is as good.
bool suffice(std::span<const SharedMemory> arenas, std::span<const std::int64_t> sizes,
             bool is_cut) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t has = i < arenas.size() ? arenas[i].bytes() : 0;
    if (has < sizes[i] - (is_cut ? sizes[i] / 16 : 0)) return false;
  }
  return true;
}

}  // namespace

std::int64_t bytes_of(std::span<const SharedMemory> arenas) {
  std::int64_t out = 0;
  for (const SharedMemory& arena : arenas) out += arena.bytes();
  return out;
}

std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted,
                                      const ArenaOptions& options) {
  std::vector<SharedMemory> arenas;
  const std::int64_t may_use = options.read_memory().may_use_bytes();
  for (const std::int64_t bytes : affordable(bytes_wanted, may_use, options)) {
    if (bytes <= 0) break;
    try {
      arenas.push_back(SharedMemory::create("halmark-arena", bytes, false));
    } catch (const std::exception&) {
      break;
    }
  }
  const std::vector<std::int64_t> begins(arenas.size(), 0);
  if (!deal_out_pages(arenas, begins, options)) arenas.clear();
  return arenas;
}

void grow_arenas(std::vector<SharedMemory>& arenas, std::span<const std::int64_t> bytes_wanted,
                 const ArenaOptions& options) {
  const std::int64_t room = options.read_memory().may_use_bytes() + bytes_of(arenas);
  const std::vector<std::int64_t> sizes = affordable(bytes_wanted, room, options);
  if (suffice(arenas, sizes, sum_of(sizes) < sum_of(bytes_wanted))) return;
  double grown = 0;
  for (std::size_t i = 0; i < std::max(sizes.size(), arenas.size()); ++i) {
    const std::int64_t has = i < arenas.size() ? arenas[i].bytes() : 0;
    grown += as_double(i < sizes.size() ? std::max(has, sizes[i]) : has);
  }
  const bool fits = grown <= std::max(sum_of(sizes), options.fraction * as_double(room));
  try {
    std::vector<std::int64_t> begins;
    for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
      begins.push_back(i < arenas.size() ? arenas[i].bytes() : 0);
      if (begins.back() >= sizes[i]) continue;
      if (i < arenas.size()) {
        arenas[i].grow(sizes[i]);
      } else {
        arenas.push_back(SharedMemory::create("halmark-arena", sizes[i], false));
      }
    }
    if (fits) {
      begins.resize(arenas.size(), std::numeric_limits<std::int64_t>::max());  // as they are
      if (!deal_out_pages(arenas, begins, options)) arenas.clear();
      return;
    }
  } catch (const std::exception&) {
    // Made anew below, in what memory there is.
  }
  arenas.clear();  // before the new ones are made: both together may not fit
  arenas = make_arenas(bytes_wanted, options);
}

}  // namespace halmark
