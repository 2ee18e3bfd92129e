// Memory of the parent: how much of it there is, how it is shared out, and who owns a mapping.
#include "host/process/arena.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>

namespace halmark {
namespace {

// /proc/meminfo once more, without the code under test.
std::int64_t available_by_hand() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  while (file >> key) {
    std::int64_t kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib << 10;
  }
  return 0;
}

// Other processes may take memory between two looks of one comparison.
constexpr int looks_at_memory = 5;

TEST(AvailableMemory, is_what_the_kernel_says) {
  double relation = 0;
  for (int i = 0; i < looks_at_memory && std::abs(relation - 1) > 0.3; ++i) {
    const auto by_hand = static_cast<double>(available_by_hand());
    ASSERT_GT(by_hand, 0);
    relation = static_cast<double>(available_memory_bytes()) / by_hand;
  }
  EXPECT_NEAR(relation, 1, 0.3);
}

TEST(Arenas, are_as_large_as_wanted_in_whole_pages) {
  const auto arenas = make_arenas(std::vector<std::int64_t>{8192, 4096 + 4095, 4096});
  ASSERT_EQ(arenas.size(), 3u);
  EXPECT_EQ(arenas[0].bytes(), 8192);
  EXPECT_EQ(arenas[1].bytes(), 8192) << "never less: it would not suffice, and be made again";
  EXPECT_EQ(arenas[2].bytes(), 4096);
  for (const SharedMemory& arena : arenas) std::memset(arena.data(), 7, 4096);
  EXPECT_TRUE(make_arenas({}).empty());
  EXPECT_EQ(make_arenas(std::vector<std::int64_t>{1}).at(0).bytes(), 4096);
}

// A fraction that leaves a tenth of what is wanted, to two arenas of which one is three times the
// other: both shrink alike.
TEST(Arenas, beyond_the_fraction_all_shrink_alike) {
  constexpr std::int64_t small = 40 << 20, large = 3 * small;
  std::vector<SharedMemory> arenas;
  double share = 0;
  for (int i = 0; i < looks_at_memory && std::abs(share - 0.1) > 0.03; ++i) {
    const auto available = static_cast<double>(available_memory_bytes());
    ASSERT_GT(available, 0);
    const double fraction = 0.1 * (small + large) / available;
    arenas = make_arenas(std::vector<std::int64_t>{small, large}, fraction);
    ASSERT_EQ(arenas.size(), 2u);
    share = static_cast<double>(arenas[0].bytes()) / small;
  }
  EXPECT_NEAR(share, 0.1, 0.03);
  EXPECT_NEAR(static_cast<double>(arenas[1].bytes()) / static_cast<double>(arenas[0].bytes()), 3,
              0.01);
  EXPECT_EQ(arenas[0].bytes() % 4096, 0);
}

std::int64_t pages_in(const SharedMemory& memory, std::int64_t begin, std::int64_t bytes) {
  std::vector<unsigned char> in(static_cast<std::size_t>(bytes / 4096));
  mincore(memory.data() + begin, static_cast<std::size_t>(bytes), in.data());
  return std::ranges::count_if(in, [](unsigned char page) { return (page & 1) != 0; });
}

TEST(Arenas, are_faulted_in_piece_by_piece_and_end_where_a_stop_is_wanted) {
  constexpr std::int64_t bytes = 300 << 20;
  const auto whole = make_arenas(std::vector{bytes}, 1);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(pages_in(whole[0], 0, bytes), bytes / 4096);
  int looks = 0;
  const auto stopped = make_arenas(std::vector{bytes}, 1, [&] { return ++looks > 1; });
  ASSERT_EQ(stopped.size(), 1u);
  EXPECT_EQ(pages_in(stopped[0], 0, bytes), (64 << 20) / 4096);
}

// 64 of 120 pieces: a quarter of all lies in each half of each arena, whichever came first.
TEST(Arenas, pages_of_all_are_dealt_out_in_no_order) {
  constexpr std::int64_t bytes = 120 << 20;
  int looks = 0;
  const auto arenas = make_arenas(std::vector{bytes, bytes}, 1, [&] { return ++looks > 2; });
  ASSERT_EQ(arenas.size(), 2u);
  for (const SharedMemory& arena : arenas) {
    for (const std::int64_t begin : {std::int64_t{0}, bytes / 2}) {
      EXPECT_NEAR(static_cast<double>(pages_in(arena, begin, bytes / 2)) * 4096 / (60 << 20), 0.5,
                  0.25)
          << begin;
    }
  }
}

// What is large enough is left alone, mapping and all.
TEST(Arenas, grow_where_they_are_too_small_and_keep_what_is_there) {
  auto arenas = make_arenas(std::vector<std::int64_t>{8192, 4096});
  ASSERT_EQ(arenas.size(), 2u);
  const std::byte* first = arenas[0].data();
  const auto sizes_for = [&](std::vector<std::int64_t> wanted) {
    grow_arenas(arenas, wanted);
    std::vector<std::int64_t> out;
    for (const SharedMemory& arena : arenas) out.push_back(arena.bytes());
    return out;
  };
  using Sizes = std::vector<std::int64_t>;
  for (const Sizes& smaller : {Sizes{}, Sizes{8192}, Sizes{8192, 4096}, Sizes{4096, 100}}) {
    EXPECT_EQ(sizes_for(smaller), (Sizes{8192, 4096}));
  }
  arenas[1].data()[4095] = std::byte{7};
  EXPECT_EQ(sizes_for({100, 4097}), (Sizes{8192, 8192}));
  EXPECT_EQ(arenas[0].data(), first);
  EXPECT_EQ(arenas[1].data()[4095], std::byte{7});
  EXPECT_EQ(arenas[1].data()[8191], std::byte{0});
  EXPECT_EQ(sizes_for({1, 1, 1}), (Sizes{8192, 8192, 4096}));
  EXPECT_EQ(::fcntl(arenas[1].fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

// 40 MiB are there and 40 more are wanted, where the fraction leaves 60: made anew, alike.
TEST(Arenas, that_may_not_grow_so_far_are_made_anew_within_the_fraction) {
  constexpr std::int64_t mib = 1 << 20;
  double grown_mib = 0;
  for (int i = 0; i < looks_at_memory && std::abs(grown_mib - 30) > 5; ++i) {
    auto arenas = make_arenas(std::vector<std::int64_t>{40 * mib});
    const double fraction =
        static_cast<double>(60 * mib) / static_cast<double>(available_memory_bytes());
    grow_arenas(arenas, std::vector<std::int64_t>{40 * mib, 40 * mib}, fraction);
    ASSERT_EQ(arenas.size(), 2u);
    EXPECT_EQ(arenas[0].bytes(), arenas[1].bytes());
    grown_mib = static_cast<double>(arenas[0].bytes()) / mib;
  }
  EXPECT_NEAR(grown_mib, 30, 5);
}

TEST(SharedMemory, is_zero_at_first_and_one_for_all_who_map_it) {
  const auto memory = SharedMemory::create("test", 8192, true);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory.bytes(), 8192);
  EXPECT_EQ(memory.view().size(), 8192u);
  EXPECT_TRUE(std::ranges::all_of(memory.view(), [](std::byte b) { return b == std::byte{0}; }));
  const auto other =
      SharedMemory::map(FileDescriptor(::dup(memory.fd())), 8192, Access::read_write, false);
  other.data()[5000] = std::byte{9};
  EXPECT_EQ(memory.data()[5000], std::byte{9});
  const auto front =
      SharedMemory::map(FileDescriptor(::dup(memory.fd())), 4096, Access::read_only, true);
  EXPECT_EQ(front.bytes(), 4096) << "a part is enough";
}

TEST(SharedMemory, of_no_size_or_longer_than_its_file_is_refused) {
  const auto memory = SharedMemory::create("test", 4096, false);
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{4097}}) {
    EXPECT_THROW(
        SharedMemory::map(FileDescriptor(::dup(memory.fd())), bytes, Access::read_only, false),
        std::system_error)
        << bytes;
  }
}

TEST(SharedMemory, cannot_be_shrunk_under_who_maps_it) {
  const auto memory = SharedMemory::create("test", 8192, false);
  EXPECT_NE(::ftruncate(memory.fd(), 4096), 0);
  EXPECT_EQ(::fcntl(memory.fd(), F_GET_SEALS) & F_SEAL_SHRINK, F_SEAL_SHRINK);
  EXPECT_NE(::fcntl(memory.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SharedMemory, moves_with_its_mapping) {
  auto a = SharedMemory::create("a", 4096, false);
  std::byte* const data = a.data();
  SharedMemory b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(a.bytes(), 0);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b.bytes(), 4096);
  auto c = SharedMemory::create("c", 8192, false);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.bytes(), 4096);
  EXPECT_FALSE(b);
  c.data()[0] = std::byte{1};
  SharedMemory& same = c;
  c = std::move(same);
  EXPECT_EQ(c.data(), data) << "a move to itself keeps it";
}

}  // namespace
}  // namespace halmark
