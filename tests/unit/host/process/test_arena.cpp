// Memory of the parent: how much of it there is, how it is shared out, and who owns a mapping.
#include "core/numeric/cast.hpp"
#include "host/process/arena.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <system_error>

namespace halmark {
namespace {

constexpr std::int64_t mib = 1 << 20;
using Sizes = std::vector<std::int64_t>;

// A run that may use so much in addition to what its arenas hold.
ReadMemory may_use(std::int64_t bytes) {
  RunMemory memory{.machine_bytes = 8192 * mib, .limit_bytes = 8192 * mib};
  memory.free_bytes = bytes + memory.reserve_bytes();
  return [memory] { return memory; };
}

Sizes sizes_of(std::span<const SharedMemory> arenas) {
  Sizes out;
  for (const SharedMemory& arena : arenas) out.push_back(arena.bytes());
  return out;
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

TEST(Arenas, beyond_the_fraction_all_shrink_alike) {
  const auto arenas =
      make_arenas(Sizes{40 * mib, 120 * mib}, {.fraction = 0.1, .read_memory = may_use(160 * mib)});
  EXPECT_EQ(sizes_of(arenas), (Sizes{4 * mib, 12 * mib}));
}

// Without that a case could not be staged; workers would take it beside the arena.
TEST(Arenas, hold_what_a_case_needs_at_the_least_beyond_the_fraction) {
  const auto sizes = [](std::int64_t may_use_mib) {
    return sizes_of(
        make_arenas(Sizes{40 * mib, 40 * mib}, {.fraction = 0.25,
                                                .least = {20 * mib, 20 * mib},
                                                .read_memory = may_use(may_use_mib * mib)}));
  };
  EXPECT_EQ(sizes(80), (Sizes{20 * mib, 20 * mib})) << "a quarter would be 10 each";
  EXPECT_EQ(sizes(50), (Sizes{20 * mib, 20 * mib}));
  EXPECT_EQ(sizes(48), (Sizes{6 * mib, 6 * mib})) << "workers have to have something as well";
  EXPECT_EQ(sizes(320), (Sizes{40 * mib, 40 * mib}));
}

// Somebody else takes the memory while pages are faulted in: the kernel would kill for the rest.
TEST(Arenas, are_given_up_where_memory_ends_meanwhile) {
  int looks = 0;
  const auto arenas =
      make_arenas(Sizes{300 * mib}, {.fraction = 1, .read_memory = [&] {
                                       return may_use(++looks < 4 ? 400 * mib : -300 * mib)();
                                     }});
  EXPECT_TRUE(arenas.empty());
  EXPECT_EQ(looks, 4) << "one for the sizes, one per 64 MiB";
}

std::int64_t pages_in(const SharedMemory& memory, std::int64_t begin, std::int64_t bytes) {
  std::vector<unsigned char> in(as_size(bytes / 4096));
  mincore(memory.data() + begin, as_size(bytes), in.data());
  return std::ranges::count_if(in, [](unsigned char page) { return (page & 1) != 0; });
}

TEST(Arenas, are_faulted_in_piece_by_piece_and_end_where_a_stop_is_wanted) {
  constexpr std::int64_t bytes = 300 << 20;
  const auto whole = make_arenas(std::vector{bytes}, {.fraction = 1});
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(pages_in(whole[0], 0, bytes), bytes / 4096);
  int looks = 0;
  const auto stopped =
      make_arenas(std::vector{bytes}, {.fraction = 1, .should_stop = [&] { return ++looks > 1; }});
  ASSERT_EQ(stopped.size(), 1u);
  EXPECT_EQ(pages_in(stopped[0], 0, bytes), (64 << 20) / 4096);
}

// 64 of 120 pieces: a quarter of all lies in each half of each arena, whichever came first.
TEST(Arenas, pages_of_all_are_dealt_out_in_no_order) {
  constexpr std::int64_t bytes = 120 << 20;
  int looks = 0;
  const auto arenas = make_arenas(std::vector{bytes, bytes},
                                  {.fraction = 1, .should_stop = [&] { return ++looks > 2; }});
  ASSERT_EQ(arenas.size(), 2u);
  for (const SharedMemory& arena : arenas) {
    for (const std::int64_t begin : {std::int64_t{0}, bytes / 2}) {
      EXPECT_NEAR(as_double(pages_in(arena, begin, bytes / 2)) * 4096 / (60 << 20), 0.5, 0.25)
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
    return sizes_of(arenas);
  };
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
  auto arenas = make_arenas(Sizes{40 * mib});
  const ArenaOptions options{
      .fraction = 0.5, .read_memory = [&] { return may_use(120 * mib - bytes_of(arenas))(); }};
  grow_arenas(arenas, Sizes{40 * mib, 40 * mib}, options);
  EXPECT_EQ(sizes_of(arenas), (Sizes{30 * mib, 30 * mib}));
}

// The next campaign wants as much again: faulting the same sizes in anew would cost seconds.
TEST(Arenas, that_memory_cut_stay_as_they_are_while_it_moves_a_little) {
  auto arenas = make_arenas(Sizes{80 * mib}, {.fraction = 0.5, .read_memory = may_use(80 * mib)});
  ASSERT_EQ(sizes_of(arenas), Sizes{40 * mib});
  const std::byte* data = arenas[0].data();
  grow_arenas(arenas, Sizes{80 * mib}, {.fraction = 0.5, .read_memory = may_use(42 * mib)});
  EXPECT_EQ(sizes_of(arenas), Sizes{40 * mib});
  EXPECT_EQ(arenas[0].data(), data);
  grow_arenas(arenas, Sizes{80 * mib}, {.fraction = 0.5, .read_memory = may_use(80 * mib)});
  EXPECT_EQ(sizes_of(arenas), Sizes{60 * mib}) << "there is half as much again";
}

std::int64_t mapped_kib(const char* key) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    std::int64_t kib = 0;
    if (word == key && file >> kib) return kib;
  }
  return -1;
}

// The kernel kills who has most mapped: that is to be a worker.
TEST(Arenas, are_not_mapped_by_their_owner_once_they_are_made) {
  const std::int64_t before = mapped_kib("RssShmem:");
  ASSERT_GE(before, 0);
  auto arenas = make_arenas(Sizes{64 * mib});
  EXPECT_LT(mapped_kib("RssShmem:") - before, 16 << 10);
  EXPECT_EQ(pages_in(arenas.at(0), 0, 64 * mib), 64 * mib / 4096) << "but they are there";
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
