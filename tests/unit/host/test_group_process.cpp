// How mpirun is found and started: which it is, on which CPUs, with what said to Open MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/numeric/cast.hpp"
#include "host/group.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GroupProcess, starts_a_rank_per_set_of_cpus_and_binds_none) {
  const std::vector<CpuSet> cpus = {{{4, 5}}, {{0, 4}}, {{2}}};
  const ProcessSpec spec = group_process("/opt/mpirun", {"program", "--connect"}, cpus, {});
  EXPECT_EQ(spec.program, "/opt/mpirun");
  EXPECT_THAT(spec.arguments, ElementsAre("-n", "3", "--oversubscribe", "--bind-to", "none",
                                          "program", "--connect"));
  EXPECT_TRUE(spec.is_launcher);
  EXPECT_TRUE(spec.limit_data) << "shared segments do not count";
  EXPECT_THAT(spec.cpus.cpus, ElementsAre(0, 2, 4, 5));
  EXPECT_EQ(spec.environment.at("OMP_NUM_THREADS"), "2") << "as the first rank has";
}

TEST(GroupProcess, says_to_open_mpi_what_one_host_needs_unless_it_is_named) {
  const std::vector<CpuSet> cpus = {{{0}}};
  const Environment plain = group_process("/m", {}, cpus, {}).environment;
  const std::pair<const char*, const char*> said[] = {
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl", "^tcp,openib,ofi,uct,usnic,ugni,portals4,smcuda"},
      {"OMPI_MCA_mtl", "^ofi,psm2"},
      {"OMPI_MCA_osc", "^ucx"},
      {"OMPI_MCA_coll", "^hcoll,ucc"},
      {"OMPI_MCA_btl_base_warn_component_unused", "0"},
      {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
      {"PRTE_MCA_odls_base_sigkill_timeout", "0"},
      {"OMPI_MCA_mpi_yield_when_idle", "0"},
  };
  for (const auto& [name, value] : said) {
    ASSERT_TRUE(plain.contains(name)) << name;
    EXPECT_EQ(plain.at(name), value);
  }
  const Environment named =
      group_process("/m", {}, cpus, {{"OMPI_MCA_pml", "ucx"}, {"OTHER", "1"}}).environment;
  EXPECT_EQ(named.at("OMPI_MCA_pml"), "ucx");
  EXPECT_EQ(named.at("OTHER"), "1");
}

class PathVariable : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/halmark-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    before = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  }
  void TearDown() override {
    ::setenv("PATH", before.c_str(), 1);
    fs::remove_all(folder);
  }
  std::string put(const std::string& name, fs::perms permissions) {
    fs::create_directories(folder / name);
    std::ofstream(folder / name / "mpirun") << "#!/bin/sh\n";
    fs::permissions(folder / name / "mpirun", permissions);
    return (folder / name).string();
  }
  fs::path folder;
  std::string before;
};

TEST_F(PathVariable, names_the_first_absolute_folder_with_an_executable_mpirun) {
  const std::string text = put("text", fs::perms::owner_read);
  const std::string first = put("first", fs::perms::owner_all);
  const std::string second = put("second", fs::perms::owner_all);
  const auto with = [&](const std::string& path) {
    ::setenv("PATH", path.c_str(), 1);
    return find_mpirun();
  };
  EXPECT_EQ(with(first + ":" + second), first + "/mpirun");
  EXPECT_EQ(with("/nonexistent::" + text + ":" + second + ":" + first), second + "/mpirun");
  EXPECT_EQ(with(fs::relative(first).string() + ":" + second), second + "/mpirun");
  EXPECT_EQ(with(text), "");
  EXPECT_EQ(with(""), "");
}

TEST_F(PathVariable, without_mpirun_groups_are_unsupported) {
  ::setenv("PATH", folder.c_str(), 1);
  const auto group = start_group(WorkerOptions{}, 2);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.failure.status, Status::unsupported);
  EXPECT_THAT(group.failure.reason, HasSubstr("openmpi-bin"));
}

// A launcher that starts nobody: it ends at once, or only sleeps.
TEST_F(PathVariable, a_launcher_that_starts_nobody_is_named_with_what_it_said) {
  const std::string place = put("mine", fs::perms::owner_all);
  ::setenv("PATH", (place + ":" + before).c_str(), 1);
  WorkerOptions options;
  options.cpus = CpuSet{};
  std::ofstream(place + "/mpirun") << "#!/bin/sh\nprintf '%0400d' 0\nexit 3\n";
  const auto ended = start_group(std::vector<WorkerOptions>(2, options));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.failure.status, Status::worker_lost);
  EXPECT_EQ(ended.failure.reason, "mpirun ended before all ranks connected, exit code 3: " +
                                      std::string(297, '0') + "...");
  EXPECT_EQ(ended.failure.phase, "hello");
  EXPECT_TRUE(ended.failure.worker_is_gone);
  std::ofstream(place + "/mpirun") << "#!/bin/sh\nexec sleep 100\n";
  options.limits.hello_s = 0.3;
  const auto slept = start_group(std::vector<WorkerOptions>(2, options));
  ASSERT_FALSE(slept);
  EXPECT_EQ(slept.failure.status, Status::timed_out);
  EXPECT_EQ(slept.failure.reason, "only 0 of 2 ranks connected");
}

TEST(GroupOfOneKind, gives_each_rank_its_part_of_the_machine) {
  if (find_mpirun().empty()) GTEST_SKIP() << "mpirun is not installed";
  const auto sets = cut(1);
  if (sets.front().threads() < 2) GTEST_SKIP() << "one core cannot be cut in two";
  WorkerOptions options;
  options.program = test::in_build("/tests/scripted_worker");
  auto group = start_group(options, 2);
  ASSERT_TRUE(group) << group.failure.reason;
  for (int rank = 0; rank < 2; ++rank) {
    const auto& worker = group->at(as_size(rank));
    EXPECT_EQ(worker->cpus().cpus, cut(2).at(as_size(rank)).cpus);
    EXPECT_EQ(worker->hello().rank, rank);
  }
}

}  // namespace
}  // namespace halmark
