#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/utsname.h>

#include <set>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "host/machine.hpp"
#include "host/partition.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;

std::vector<std::vector<int>> numbers(const std::vector<CpuSet>& sets) {
  std::vector<std::vector<int>> result;
  for (const CpuSet& set : sets) result.push_back(set.cpus);
  return result;
}

// hwloc numbers synthetic processing units depth first: cores {0,1} {2,3} {4,5} {6,7}. Siblings are
// used where parts outnumber the cores; a part lies in as few nodes as can be; what does not divide
// stays idle at the end, on each node alike; units without cores count as cores.
TEST(Partition, is_by_whole_cores_within_a_node) {
  const struct {
    const char* topology;
    int parts;
    std::vector<std::vector<int>> cpus;
  } cuts[] = {
      {"numa:1 core:4 pu:2", 1, {{0, 2, 4, 6}}},
      {"numa:1 core:2 pu:2", 2, {{0}, {2}}},
      {"numa:1 core:2 pu:2", 4, {{0}, {2}, {1}, {3}}},
      {"numa:2 core:4 pu:1", 2, {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"numa:2 core:4 pu:1", 4, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
      {"numa:2 core:4 pu:1", 3, {{0, 1}, {2, 3}, {4, 5}}},
      {"numa:4 core:2 pu:1", 2, {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"numa:1 core:5 pu:1", 2, {{0, 1}, {2, 3}}},
      {"numa:2 core:3 pu:1", 4, {{0}, {1}, {3}, {4}}},
      {"numa:1 pu:4", 2, {{0, 1}, {2, 3}}},
  };
  for (const auto& [topology, parts, cpus] : cuts) {
    EXPECT_EQ(numbers(Topology::synthetic(topology).cut(parts)), cpus) << topology << parts;
  }
  EXPECT_EQ(Topology::synthetic("numa:1 core:4 pu:2").cores(), 4);
  EXPECT_EQ(Topology::synthetic("numa:1 core:4 pu:2").processing_units(), 8);
  EXPECT_EQ(Topology::synthetic("numa:1 pu:4").cores(), 4);
}

TEST(Partition, every_cut_is_equal_and_disjoint_and_inside_the_machine) {
  const auto topology = Topology::synthetic("numa:2 core:6 pu:2");
  for (int parts = 1; parts <= topology.processing_units(); ++parts) {
    const auto sets = topology.cut(parts);
    ASSERT_EQ(sets.size(), static_cast<std::size_t>(parts));
    std::set<int> seen;
    for (const CpuSet& set : sets) {
      EXPECT_EQ(set.threads(), sets.front().threads());
      EXPECT_GE(set.threads(), 1);
      for (int cpu : set.cpus) {
        EXPECT_TRUE(seen.insert(cpu).second) << "cpu " << cpu << " twice in " << parts << " parts";
        EXPECT_LT(cpu, topology.processing_units());
      }
    }
  }
}

TEST(Partition, the_machine_is_what_this_process_is_bound_to) {
  const int last = cut(1).front().cpus.back();
  const test::ScopedAffinity alone(last);
  const auto bound = Topology::of_machine();
  EXPECT_EQ(bound.processing_units(), 1);
  EXPECT_THAT(numbers(bound.cut(1)), ElementsAre(ElementsAre(last)));
}

TEST(Partition, an_impossible_cut_is_refused) {
  const auto topology = Topology::synthetic("numa:1 core:2 pu:1");
  EXPECT_THROW(topology.cut(3), Error);
  EXPECT_THROW(topology.cut(0), Error);
  EXPECT_THROW(Topology::synthetic("no topology"), Error);
}

TEST(Partition, this_machine_yields_only_cpus_that_this_process_may_use) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu : cpus_of({"cpu", "0", 1, 0}).cpus) EXPECT_TRUE(CPU_ISSET(cpu, &allowed));
  EXPECT_THROW(cpus_of({"cpu", "0", 1, 1}), Error);
  EXPECT_THROW(cpus_of({"cpu", "0", 1, -1}), Error);
}

TEST(CpuSetText, runs_are_shown_as_ranges) {
  EXPECT_EQ((CpuSet{{0, 1, 2, 3, 8}}).text(), "0-3,8");
  EXPECT_EQ((CpuSet{{5}}).text(), "5");
  EXPECT_EQ(CpuSet{}.text(), "");
}

TEST(CpuShapeTest, says_what_of_the_machine_serves_the_set) {
  const auto two = Topology::synthetic("numa:2 l3:1(size=8388608) l2:2 l1:1 core:1 pu:2");
  EXPECT_EQ(two.shape().cores, 4);
  EXPECT_EQ(two.shape().cpus.threads(), 8);
  EXPECT_TRUE(two.shape().has_siblings());
  EXPECT_EQ(two.shape().cores_of_nodes, (std::vector<int>{2, 2}));
  EXPECT_THAT(two.shape().caches, testing::Contains("L3 8192 KiB of 4 CPUs x2"));
  const auto one = Topology::synthetic("core:4 pu:1");
  EXPECT_FALSE(one.shape().has_siblings());
  EXPECT_EQ(one.shape().cores_of_nodes, std::vector<int>{4});
}

}  // namespace
}  // namespace halmark
