#include <gtest/gtest.h>

#include <cstring>

#include "worker/host_memory.hpp"

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
