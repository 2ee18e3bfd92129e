#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/machine.hpp"
#include "host/plugin/discovery.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Discovery : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::canonical(testing::TempDir()).string() + "/halmark-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    options.search_installed = false;
    options.worker_program = test::in_build("/tests/scripted_worker");
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string file(const std::string& name, mode_t mode = 0644) {
    const auto path = folder / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "content of " << name;
    ::chmod(path.c_str(), mode);
    return path.string();
  }
  std::vector<std::string> candidate_names() {
    std::vector<std::string> names;
    for (const auto& candidate : plugin_candidates(options)) {
      names.push_back(fs::path(candidate.path).filename().string());
    }
    return names;
  }
  fs::path folder;
  DiscoveryOptions options;
};

TEST_F(Discovery, a_folder_gives_its_plugins_in_name_order_and_nothing_else) {
  file("hm_b.so");
  file("hm_a.so");
  file("libother.so");
  file("hm_notes.txt");
  options.paths = {folder.string()};
  EXPECT_THAT(candidate_names(), ElementsAre("hm_a.so", "hm_b.so"));
}

TEST_F(Discovery, given_paths_come_first_then_the_path_variable_and_each_file_once) {
  const auto given = file("given/hm_z.so");
  file("listed/hm_a.so");
  options.paths = {given};
  options.search_installed = true;
  const test::ScopedVariable listed("HALMARK_PLUGIN_PATH",
                                    (folder / "listed").string() + ":" + given + ":relative");
  const auto candidates = plugin_candidates(options);
  ASSERT_GE(candidates.size(), 3u);
  EXPECT_EQ(candidates[0].path, given);
  EXPECT_THAT(candidates[1].path, HasSubstr("listed/hm_a.so"));
  EXPECT_EQ(candidates[2].path, "relative");
  EXPECT_THAT(candidates[2].refusal, HasSubstr("absolute"));
}

TEST_F(Discovery, a_given_path_that_does_not_exist_is_listed_and_refused) {
  options.paths = {(folder / "hm_absent.so").string()};
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].status, Status::refused);
  EXPECT_EQ(found[0].refusal, "no such file");
}

TEST_F(Discovery, a_loaded_plugin_carries_its_hash_and_description) {
  options.paths = {file("hm_a.so")};
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_TRUE(found[0].is_loaded()) << found[0].refusal;
  EXPECT_EQ(found[0].description->name, "scripted");
  EXPECT_EQ(found[0].hash, sha256_hex("content of hm_a.so"));
}

TEST_F(Discovery, of_two_plugins_with_one_name_the_first_wins) {
  options.paths = {file("hm_a.so"), file("hm_b.so")};
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].is_loaded());
  EXPECT_FALSE(found[1].is_loaded());
  EXPECT_THAT(found[1].refusal, HasSubstr("hm_a.so"));
}

TEST_F(Discovery, a_plugin_that_kills_its_worker_is_an_entry_and_not_the_end) {
  const test::ScopedVariable fake("HALMARK_FAKE_HOST", "abort_load");
  options.paths = {file("hm_a.so"), file("hm_b.so")};
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 2u);
  for (const auto& plugin : found) {
    EXPECT_EQ(plugin.status, Status::crashed);
    EXPECT_THAT(plugin.refusal, HasSubstr("signal 6"));
  }
}

struct Permission {
  const char* name;
  mode_t file, parent;
  bool foreign_group, foreign_owner;
  bool refused;
};

class DiscoveryPermission : public Discovery, public testing::WithParamInterface<Permission> {};

TEST_P(DiscoveryPermission, decides_what_is_loaded) {
  const Permission& permission = GetParam();
  if ((permission.foreign_group || permission.foreign_owner) && ::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const auto path = file("inner/hm_a.so", permission.file);
  const uid_t owner = permission.foreign_owner ? 12345 : ::geteuid();
  const gid_t group = permission.foreign_group ? 12345 : ::getegid();
  ASSERT_EQ(::chown(path.c_str(), owner, group), 0);
  ::chmod(path.c_str(), permission.file);
  ::chmod((folder / "inner").c_str(), permission.parent);
  const auto problem = insecurity_of(path);
  EXPECT_EQ(problem.has_value(), permission.refused) << problem.value_or("accepted");
  options.paths = {path};
  EXPECT_EQ(discover(options).at(0).is_loaded(), !permission.refused);
  options.allow_insecure = true;
  const auto allowed = discover(options);
  EXPECT_TRUE(allowed.at(0).is_loaded()) << allowed.at(0).refusal;
  EXPECT_EQ(allowed.at(0).is_insecure, permission.refused);
}

INSTANTIATE_TEST_SUITE_P(
    Matrix, DiscoveryPermission,
    testing::Values(Permission{"private_file", 0600, 0700, false, false, false},
                    Permission{"readable_by_all", 0644, 0755, false, false, false},
                    Permission{"own_group_may_write", 0664, 0775, false, false, false},
                    Permission{"foreign_group_may_read", 0644, 0755, true, false, false},
                    Permission{"foreign_group_may_write", 0664, 0755, true, false, true},
                    Permission{"others_may_write", 0646, 0755, false, false, true},
                    Permission{"others_may_write_the_folder", 0644, 0777, false, false, true},
                    Permission{"sticky_folder", 0644, 01777, false, false, false},
                    Permission{"foreign_owner", 0644, 0755, false, true, true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Discovery, a_symbolic_link_is_judged_by_its_target) {
  const auto target = file("inner/hm_a.so", 0646);
  const auto link = folder / "hm_link.so";
  fs::create_symlink(target, link);
  options.paths = {link.string()};
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].is_loaded());
  EXPECT_EQ(found[0].path, target);
}

class EffectiveGroup {
 public:
  explicit EffectiveGroup(gid_t group) : before_(::getegid()), is_taken_(::setegid(group) == 0) {}
  ~EffectiveGroup() { EXPECT_EQ(::setegid(before_), 0); }
  bool is_taken() const { return is_taken_; }

 private:
  const gid_t before_;
  const bool is_taken_;
};

// What newgrp and sg change is the group of the process; the user's own stays.
TEST_F(Discovery, a_group_that_the_process_took_on_is_not_the_user_s_own) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can take on any group";
  const auto path = file("inner/hm_a.so", 0664);
  ASSERT_EQ(::chown(path.c_str(), 0, 12345), 0);
  ::chmod(path.c_str(), 0664);
  const EffectiveGroup other(12345);
  ASSERT_TRUE(other.is_taken());
  const auto problem = insecurity_of(path);
  ASSERT_TRUE(problem);
  EXPECT_THAT(*problem, HasSubstr("is writable by group 12345"));
}

TEST_F(Discovery, an_accepted_insecure_plugin_says_what_it_is_accepted_in_spite_of) {
  options.paths = {file("hm_a.so", 0646)};
  options.allow_insecure = true;
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_insecure);
  EXPECT_THAT(found[0].insecurity, HasSubstr("hm_a.so is writable by others"));
}

TEST_F(Discovery, what_is_no_regular_file_or_too_large_is_refused_unopened) {
  const std::string fifo = (folder / "hm_fifo.so").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string large = file("hm_large.so");
  fs::resize_file(large, (std::uintmax_t{1} << 30) + 1);
  options.paths = {fifo, large, "/dev/zero"};
  const auto found = discover(options);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(found[0].refusal, HasSubstr("it is a FIFO"));
  EXPECT_THAT(found[1].refusal, HasSubstr("has 1073741825 bytes; the limit of a plugin"));
  for (const auto& plugin : found) EXPECT_EQ(plugin.status, Status::refused) << plugin.refusal;
}

}  // namespace
}  // namespace halmark
