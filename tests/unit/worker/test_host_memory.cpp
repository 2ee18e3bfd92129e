#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "worker/host_memory.hpp"
#include "worker/set_size.hpp"

namespace halmark::worker {
namespace {

constexpr std::int64_t arena_bytes = 64 << 10;

HostMemory make_memory() { return HostMemory(SharedMemory::create("test", arena_bytes, true)); }

TEST(HostMemory, ranges_of_the_arena_do_not_overlap) {
  HostMemory memory = make_memory();
  const HostBlock a = memory.allocate_in_arena(5000);
  const HostBlock b = memory.allocate_in_arena(5000);
  ASSERT_TRUE(a && b);
  EXPECT_GE(b.data(), a.data() + 5000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 4096, 0u);
}

TEST(HostMemory, a_full_arena_gives_nothing) {
  HostMemory memory = make_memory();
  const HostBlock all = memory.allocate_in_arena(arena_bytes);
  ASSERT_TRUE(all);
  EXPECT_FALSE(memory.allocate_in_arena(1));
  EXPECT_EQ(memory.largest_free_bytes(), 0u);
}

TEST(HostMemory, freed_neighbours_join_in_any_order) {
  HostMemory memory = make_memory();
  HostBlock a = memory.allocate_in_arena(16 << 10);
  HostBlock b = memory.allocate_in_arena(16 << 10);
  HostBlock c = memory.allocate_in_arena(16 << 10);
  { const HostBlock gone = std::move(a); }
  { const HostBlock gone = std::move(c); }
  EXPECT_EQ(memory.largest_free_bytes(), 32u << 10);
  { const HostBlock gone = std::move(b); }
  EXPECT_EQ(memory.largest_free_bytes(), static_cast<std::uint64_t>(arena_bytes));
}

// Pages of the mapping that this process has in its page tables.
std::size_t mapped_pages(HostMemory& memory) {
  const auto bytes = static_cast<std::size_t>(memory.arena().bytes());
  std::ifstream maps("/proc/self/smaps");
  char begin[20];
  std::snprintf(begin, sizeof begin, "%lx-",
                reinterpret_cast<unsigned long>(memory.arena().data()));
  bool is_ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(begin)) is_ours = true;
    if (is_ours && line.starts_with("Rss:")) return std::stoul(line.substr(4)) * 1024 / 4096;
  }
  ADD_FAILURE() << "no mapping of " << bytes << " bytes";
  return 0;
}

TEST(HostMemory, free_pages_are_not_mapped_while_one_looks_and_keep_their_content) {
  HostMemory memory = make_memory();
  std::memset(memory.arena().data(), 7, arena_bytes);
  const HostBlock a = memory.allocate_in_arena(3 * 4096);
  EXPECT_EQ(mapped_pages(memory), 16u);
  std::size_t during = 0;
  memory.without_free_pages([&] { during = mapped_pages(memory); });
  EXPECT_EQ(during, 3u);
  EXPECT_EQ(mapped_pages(memory), 16u) << "faulted in before anything is timed";
  EXPECT_EQ(memory.arena().data()[arena_bytes - 1], std::byte{7});
}

TEST(SharedMemory, pages_that_were_let_go_of_come_back_with_their_content) {
  SharedMemory memory = SharedMemory::create("test", arena_bytes, true);
  memory.data()[5000] = std::byte{9};
  memory.let_go_of_pages();
  EXPECT_EQ(memory.data()[5000], std::byte{9});
}

SetSize set_size(const std::string& text) {
  std::istringstream in(text);
  return set_size_in(in);
}

TEST(SetSize, is_read_from_the_rollup_or_has_its_reason) {
  EXPECT_EQ(
      set_size("aaaa-bbbb ---p 0 00:00 0 [rollup]\nRss:  9 kB\nPss:   12 kB\nPss_Anon: 3 kB\n")
          .bytes,
      12 * 1024);
  for (const char* text : {"Rss: 9 kB\n", "Pss: many kB\n", "Pss: 12 MB\n"}) {
    EXPECT_FALSE(set_size(text).bytes);
    EXPECT_NE(set_size(text).reason.find("Pss"), std::string::npos);
  }
}

TEST(SetSize, grows_with_what_this_process_writes) {
  const SetSize before = own_set_size();
  ASSERT_TRUE(before.bytes) << before.reason;
  constexpr std::uint64_t bytes = 64 << 20;
  const HostBlock own = HostMemory::map_own(bytes);
  std::memset(own.data(), 1, bytes);
  const SetSize after = own_set_size();
  EXPECT_NEAR(static_cast<double>(*after.bytes - *before.bytes), static_cast<double>(bytes),
              12 << 20)
      << "pages of libraries count more or less as other processes end or start";
}

TEST(HostMemory, without_an_arena_there_are_mappings_of_our_own) {
  HostMemory memory;
  EXPECT_FALSE(memory.has_arena());
  EXPECT_FALSE(memory.allocate_in_arena(1));
  const HostBlock own = HostMemory::map_own(10'000);
  ASSERT_TRUE(own);
  std::memset(own.data(), 1, 10'000);
}

}  // namespace
}  // namespace halmark::worker
