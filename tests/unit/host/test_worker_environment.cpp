// What a worker sees of its parent's environment, and what measuring adds to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string>

#include "host/process/contained_process.hpp"
#include "host/process/interrupt.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark {
namespace {

using Variable = test::ScopedVariable;

// Whatever stands before or behind it in the caller's environment.
TEST(WorkerEnvironment, lets_through_what_is_listed_and_nothing_else) {
  const std::pair<const char*, const char*> listed[] = {
      {"HOME", "/h=1"},          {"OMPI_MCA_btl", "tcp"}, {"CUDA_VISIBLE_DEVICES", ""},
      {"HALMARK_FAKE_LIE", "1"}, {"OMP_STACKSIZE", "9"},  {"POCL_CACHE_DIR", "/c"}};
  const char* const others[] = {"AAA_SECRET",          "AWS_SECRET_ACCESS_KEY", "XPATH", "OMP",
                                "HALMARK_PLUGIN_PATH", "LD_PRELOAD_NOT",        "ZZZ"};
  std::deque<Variable> set;
  for (const auto& [name, value] : listed) set.emplace_back(name, value);
  for (const char* name : others) set.emplace_back(name, "x");
  const Environment seen = worker_environment({}, {});
  for (const auto& [name, value] : listed) EXPECT_EQ(seen.at(name), value);
  for (const char* name : others) EXPECT_FALSE(seen.contains(name)) << name;
}

TEST(WorkerEnvironment, makes_threads_spin_where_nobody_says_otherwise) {
  const std::pair<const char*, const char*> own[] = {{"OMP_WAIT_POLICY", "active"},
                                                     {"GOMP_SPINCOUNT", "300000"},
                                                     {"OMP_PROC_BIND", "close"},
                                                     {"OMP_DYNAMIC", "false"},
                                                     {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  std::deque<Variable> absent;
  for (const auto& [name, value] : own) absent.emplace_back(name);
  const Variable threads("OMP_NUM_THREADS");
  const Environment seen = worker_environment({}, {});
  for (const auto& [name, value] : own) EXPECT_EQ(seen.at(name), value);
  EXPECT_FALSE(seen.contains("OMP_NUM_THREADS")) << "no shard, no number";
  const Variable passive("OMP_WAIT_POLICY", "passive");
  EXPECT_EQ(worker_environment({}, {}).at("OMP_WAIT_POLICY"), "passive");
}

TEST(WorkerEnvironment, has_as_many_threads_as_its_shard_and_what_is_named_last) {
  const Variable threads("OMP_NUM_THREADS", "64"), pocl("POCL_MAX_PTHREAD_COUNT"),
      units("POCL_CPU_MAX_CU_COUNT", "9");
  const CpuSet shard{.cpus = {3, 5, 8}};
  const Environment seen = worker_environment(shard, {});
  EXPECT_EQ(seen.at("OMP_NUM_THREADS"), "3") << "the shard decides, not the shell";
  EXPECT_EQ(seen.at("POCL_MAX_PTHREAD_COUNT"), "3");
  EXPECT_EQ(seen.at("POCL_CPU_MAX_CU_COUNT"), "9");
  const Variable absent("POCL_CPU_MAX_CU_COUNT");
  EXPECT_EQ(worker_environment(shard, {}).at("POCL_CPU_MAX_CU_COUNT"), "3");
  const Environment named =
      worker_environment(shard, {{"OMP_NUM_THREADS", "2"}, {"MY_OWN", "value"}});
  EXPECT_EQ(named.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(named.at("MY_OWN"), "value");
}

using testing::ExitedWithCode;

// The whole program anew, up to what dies: a fork would have the signals and threads of earlier
// cases.
class InterruptsDeathTest : public testing::Test {
 protected:
  InterruptsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~InterruptsDeathTest() override { GTEST_FLAG_SET(death_test_style, style_); }
  const std::string style_ = GTEST_FLAG_GET(death_test_style);
};

TEST_F(InterruptsDeathTest, the_first_ends_the_process_where_nothing_holds_it) {
  EXPECT_EXIT((watch_interrupts(), ::raise(SIGINT), ::_exit(0)), ExitedWithCode(130),
              "halmark: interrupted");
  EXPECT_EXIT((watch_interrupts(), ::raise(SIGTERM), ::_exit(0)), ExitedWithCode(143),
              "halmark: interrupted");
  EXPECT_EXIT((watch_interrupts(), ::raise(SIGHUP), ::_exit(0)), ExitedWithCode(143),
              "halmark: interrupted");
}

int held_after(std::initializer_list<int> signals) {
  watch_interrupts();
  const HeldInterrupts outer;
  { const HeldInterrupts inner; }
  if (interrupted() || interrupts().stop_requested()) return 1;
  for (const int signal : signals) ::raise(signal);
  return interrupted() && interrupts().stop_requested()
             ? 50 + static_cast<int>(interrupt_exit_code())
             : 2;
}

TEST_F(InterruptsDeathTest, who_holds_them_is_told_and_the_second_leaves) {
  EXPECT_EXIT(::_exit(held_after({SIGINT})), ExitedWithCode(50 + 130), "^$");
  EXPECT_EXIT(::_exit(held_after({SIGTERM})), ExitedWithCode(50 + 143), "^$");
  EXPECT_EXIT(::_exit(held_after({SIGINT, SIGTERM})), ExitedWithCode(143), "^$");
  EXPECT_EXIT(::_exit(held_after({SIGTERM, SIGINT})), ExitedWithCode(130), "^$");
}

}  // namespace
}  // namespace halmark
