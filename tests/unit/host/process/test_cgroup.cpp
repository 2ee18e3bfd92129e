// Where groups are made, what they hold, and what is removed of those who were killed.
#include "core/ranges.hpp"
#include "host/process/cgroup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/process/descendants.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return contains(words, word);
}

// The folder of this process in a hierarchy, by cgroups(7): "" where it is not writable.
std::string folder_by_hand(const std::string& type, const std::string& controller) {
  std::string path;
  for (const std::string& line : split(text_of("/proc/self/cgroup"), '\n')) {
    const auto fields = split(line, ':');
    const bool is_it =
        controller.empty() ? line.starts_with("0::") : has(split(fields.at(1), ','), controller);
    if (is_it && fields.size() > 2 && fields[2] != "/") path = fields[2];
  }
  for (const std::string& line : split(text_of("/proc/self/mounts"), '\n')) {
    const auto fields = split(line, ' ');
    if (fields.at(2) != type) continue;
    if (!controller.empty() && !has(split(fields.at(3), ','), controller)) continue;
    const std::string folder = fields.at(1) + path;
    return ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0 ? folder : "";
  }
  return "";
}

// The groups of this process in a folder.
std::vector<std::string> ours_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("halmark-" + std::to_string(::getpid()) + "-")) {
      found.push_back(entry.path().string());
    }
  }
  return found;
}

// Also run alone, as another process, by the test below.
TEST(CgroupPlaces, are_where_the_mount_table_and_our_own_group_say) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may surely make groups";
  const CgroupPlaces& places = cgroup_places();
  EXPECT_EQ(places.unified, folder_by_hand("cgroup2", ""));
  EXPECT_EQ(places.memory_v1, folder_by_hand("cgroup", "memory"));
  std::string enabled = text_of(places.unified + "/cgroup.subtree_control");
  std::ranges::replace(enabled, '\n', ' ');
  EXPECT_EQ(places.has_memory_v2, has(split(enabled, ' '), "memory"));
  for (const std::string& folder : {places.unified, places.memory_v1}) {
    EXPECT_FALSE(fs::exists(folder + "/halmark-probe-" + std::to_string(::getpid())));
  }
}

TEST(CgroupPlaces, lose_the_groups_of_who_is_gone_and_no_others) {
  const std::string self = std::to_string(::getpid());
  const std::string start = std::to_string(start_ticks_of(::getpid()).value());
  const std::vector<std::string> gone = {"halmark-2147483632-1-0", "halmark-" + self + "-1-0"};
  const std::vector<std::string> kept = {"halmark-" + self + "-" + start + "-999",
                                         "halmark-2147483632x1-0", "halmark-2147483632",
                                         "halmark-x", "other-2147483632-1-0"};
  std::vector<std::string> folders;
  for (const std::string& place : {cgroup_places().unified, cgroup_places().memory_v1}) {
    if (!place.empty()) folders.push_back(place + "/");
  }
  if (folders.empty()) GTEST_SKIP() << "no groups can be made";
  for (const std::string& folder : folders) {
    for (const std::string& name : gone) fs::create_directory(folder + name);
    for (const std::string& name : kept) fs::create_directory(folder + name);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    // What the runner asked of this process is not for that one: it would write the same report.
    for (const char* name : {"GTEST_OUTPUT", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX",
                             "GTEST_SHARD_STATUS_FILE", "TEST_PREMATURE_EXIT_FILE"}) {
      ::unsetenv(name);
    }
    ::execl("/proc/self/exe", "test", "--gtest_brief=1", "--gtest_filter=CgroupPlaces.are_where*",
            nullptr);
    ::_exit(9);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const std::string& folder : folders) {
    for (const std::string& name : gone) EXPECT_FALSE(fs::exists(folder + name)) << name;
    for (const std::string& name : kept) EXPECT_TRUE(fs::exists(folder + name)) << name;
    for (const std::string& name : kept) ::rmdir((folder + name).c_str());
  }
}

TEST(ProcessCgroup, without_a_limit_is_one_folder_that_goes_with_it) {
  const CgroupPlaces& places = cgroup_places();
  if (places.unified.empty()) GTEST_SKIP() << "no groups can be made";
  const std::size_t before = ours_in(places.unified).size();
  const auto before_v1 = ours_in(places.memory_v1);
  {
    const auto group = ProcessCgroup::create(0);
    ASSERT_TRUE(group);
    const auto second = ProcessCgroup::create(0);
    ASSERT_TRUE(second) << "each has a name of its own";
    const auto folders = ours_in(places.unified);
    ASSERT_THAT(folders, SizeIs(before + 2));
    const std::string start = std::to_string(start_ticks_of(::getpid()).value());
    EXPECT_NE(folders.back().find("-" + start + "-"), std::string::npos);
    EXPECT_THAT(group->join_fds(), SizeIs(1));
    EXPECT_FALSE(group->bounds_memory());
    EXPECT_TRUE(group->watches_processes());
    EXPECT_TRUE(group->is_empty());
    EXPECT_EQ(group->oom_kills().value_or(0), 0);
    EXPECT_THAT(ours_in(places.memory_v1), UnorderedElementsAreArray(before_v1));
  }
  EXPECT_THAT(ours_in(places.unified), SizeIs(before));
}

TEST(ProcessCgroup, bounds_memory_where_a_hierarchy_does) {
  const CgroupPlaces& places = cgroup_places();
  if (places.memory_v1.empty() || places.unified.empty() || places.has_memory_v2) {
    GTEST_SKIP() << "memory is not bounded by v1 beside v2 here";
  }
  constexpr std::int64_t limit = 64 << 20;
  // Groups of earlier cases may stay while the last of their processes ends.
  const auto before = ours_in(places.memory_v1);
  {
    const auto group = ProcessCgroup::create(limit);
    ASSERT_TRUE(group);
    EXPECT_TRUE(group->bounds_memory());
    EXPECT_THAT(group->join_fds(), SizeIs(2));
    auto folders = ours_in(places.memory_v1);
    std::erase_if(folders, [&](const std::string& f) { return has(before, f); });
    ASSERT_THAT(folders, SizeIs(1));
    EXPECT_EQ(text_of(folders[0] + "/memory.limit_in_bytes"), std::to_string(limit) + "\n");
    EXPECT_EQ(group->oom_kills(), 0);
  }
  EXPECT_THAT(ours_in(places.memory_v1), UnorderedElementsAreArray(before));
}

TEST(ProcessCgroup, knows_and_kills_who_joined) {
  if (cgroup_places().unified.empty()) GTEST_SKIP() << "no groups can be made";
  const auto group = ProcessCgroup::create(0);
  ASSERT_TRUE(group);
  const int join = group->join_fds().at(0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool joined = ::write(join, "0", 1) == 1;
    if (::write(ends[1], &joined, sizeof joined) != sizeof joined) ::_exit(1);
    for (;;) ::pause();
  }
  bool joined = false;
  ASSERT_EQ(::read(ends[0], &joined, sizeof joined), static_cast<ssize_t>(sizeof joined));
  ASSERT_TRUE(joined);
  EXPECT_FALSE(group->is_empty());
  group->kill();
  for (int i = 0; i < 2000 && ::waitpid(child, nullptr, WNOHANG) == 0; ++i) ::usleep(10'000);
  EXPECT_NE(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
  for (int i = 0; i < 2000 && !group->is_empty(); ++i) ::usleep(10'000);
  EXPECT_TRUE(group->is_empty());
}

}  // namespace
}  // namespace halmark
