#include "host/group.hpp"
#include "scripted_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace halmark {
namespace {

using testing::HasSubstr;

WorkerOptions scripted_rank(const std::string& fault) {
  WorkerOptions options = test::scripted(fault);
  options.cpus = CpuSet{};
  options.limits.hello_s = 60;
  return options;
}

class Group : public testing::Test {
 protected:
  void SetUp() override {
    if (find_mpirun().empty()) GTEST_SKIP() << "mpirun is not installed";
  }
};

TEST_F(Group, every_rank_is_a_worker_of_its_own_with_the_cpus_it_was_given) {
  std::vector<WorkerOptions> ranks(2, scripted_rank(""));
  ranks[0].cpus = CpuSet{{0}};
  ranks[1].cpus = CpuSet{{0, 1}};
  auto group = start_group(ranks);
  ASSERT_TRUE(group) << group.failure.reason;
  ASSERT_EQ(group->size(), 2u);
  EXPECT_NE((*group)[0]->pid(), (*group)[1]->pid());
  EXPECT_EQ((*group)[1]->hello().rank, 1);
  EXPECT_EQ((*group)[1]->hello().cpus, (std::vector<int>{0, 1}));
  for (auto& rank : *group) EXPECT_TRUE(rank->load("anything"));
  std::vector<pid_t> pids;
  for (auto& rank : *group) pids.push_back(static_cast<pid_t>(rank->pid()));
  (*group)[0]->kill();
  for (pid_t pid : pids) EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(Group, ranks_that_are_asked_to_leave_leave_together) {
  auto group = start_group(std::vector<WorkerOptions>(2, scripted_rank("")));
  ASSERT_TRUE(group) << group.failure.reason;
  const auto first = static_cast<pid_t>((*group)[0]->pid());
  const auto last = static_cast<pid_t>((*group)[1]->pid());
  (*group)[0]->quit();
  EXPECT_FALSE((*group)[0]->load("anything"));
  EXPECT_TRUE((*group)[1]->alive());
  (*group)[1]->quit();
  EXPECT_NE(::kill(first, 0), 0);
  EXPECT_NE(::kill(last, 0), 0);
}

TEST_F(Group, a_rank_that_dies_ends_the_group_and_names_the_signal) {
  auto group = start_group(std::vector<WorkerOptions>(2, scripted_rank("crash_load")));
  ASSERT_TRUE(group) << group.failure.reason;
  const auto plugin = (*group)[1]->load("anything");
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.failure.status, Status::crashed) << plugin.failure.reason;
  EXPECT_EQ(plugin.failure.signal, SIGSEGV);
  EXPECT_THAT(plugin.failure.reason, HasSubstr("(rank 1)"));
  EXPECT_FALSE((*group)[0]->alive());
}

TEST_F(Group, a_rank_without_the_token_is_not_admitted) {
  auto ranks = std::vector<WorkerOptions>(1, scripted_rank("wrong_token"));
  ranks[0].limits.hello_s = 2;
  const auto group = start_group(ranks);
  ASSERT_FALSE(group);
  EXPECT_TRUE(group.failure.status == Status::timed_out ||
              group.failure.status == Status::worker_lost);
}

}  // namespace
}  // namespace halmark
