#include "host/plugin/kept_builds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/checkout.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class KeptBuilds : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return folder_ / name;
  }
  BuildFiles files(const std::string& plugin, const std::string& library = "library") {
    return {.plugin_name = "fake",
            .plugin_path = file("hm_fake.so", plugin),
            .worker_program = file("worker", "worker"),
            .libraries = {file("libx.so.1", library)}};
  }
  KeptBuild keep(const std::string& plugin, const std::string& utc, const KeepLimits& limits = {}) {
    auto kept = keep_build(files(plugin), builds_, utc, limits);
    EXPECT_TRUE(kept) << kept.failure;
    return kept ? *kept : KeptBuild{};
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> dates() const {
    std::vector<std::string> out;
    for (const KeptBuild& b : kept_builds(builds_)) out.push_back(b.last_ran_utc);
    return out;
  }

  test::ScratchFolder folder_;
  std::string builds_ = folder_ / "builds";
};

TEST_F(KeptBuilds, plugin_worker_and_libraries_are_there_when_their_files_have_changed) {
  const KeptBuild old = keep("one", "2026-01-01T00:00:00Z");
  keep("two", "2026-01-02T00:00:00Z");
  EXPECT_EQ(content(old.plugin_path), "one");
  EXPECT_EQ(content(old.worker_program), "worker");
  EXPECT_EQ(content(old.library_folder + "/libx.so.1"), "library");
  EXPECT_THAT(old.id, SizeIs(64));
  EXPECT_EQ(fs::path(old.plugin_path).parent_path().filename(), "fake-" + old.id.substr(0, 16));
  EXPECT_EQ(find_kept_build(builds_, old.id.substr(0, 8))->plugin_path, old.plugin_path);
  EXPECT_FALSE(find_kept_build(builds_, old.id.substr(0, 5))) << "too short to name one";
  EXPECT_FALSE(find_kept_build(builds_, "000000"));
}

TEST_F(KeptBuilds, another_library_is_another_build_and_the_same_files_are_the_same) {
  const KeptBuild first = keep("one", "2026-01-01T00:00:00Z");
  const auto upgraded = keep_build(files("one", "newer"), builds_, "2026-01-02T00:00:00Z");
  ASSERT_TRUE(upgraded);
  EXPECT_NE(upgraded->id, first.id);
  EXPECT_EQ(keep("one", "2026-01-03T00:00:00Z").id, first.id);
  EXPECT_THAT(dates(), ElementsAre("2026-01-03T00:00:00Z", "2026-01-02T00:00:00Z"));
}

TEST_F(KeptBuilds, the_last_three_stay) {
  for (const char* day : {"1", "2", "3", "4"}) {
    keep(std::string("build ") + day, std::string("2026-01-0") + day + "T00:00:00Z");
  }
  EXPECT_THAT(dates(),
              ElementsAre("2026-01-04T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-02T00:00:00Z"));
}

TEST_F(KeptBuilds, they_stay_below_their_bytes_and_share_what_is_equal) {
  const KeptBuild one = keep("one", "2026-01-01T00:00:00Z", {.builds = 3, .bytes = 40});
  const KeptBuild two = keep("two", "2026-01-02T00:00:00Z", {.builds = 3, .bytes = 40});
  EXPECT_EQ(one.bytes, 16);  // one, worker, library
  EXPECT_EQ(fs::hard_link_count(two.library_folder + "/libx.so.1"), 2U);
  keep("three", "2026-01-03T00:00:00Z", {.builds = 3, .bytes = 40});
  EXPECT_THAT(dates(), ElementsAre("2026-01-03T00:00:00Z", "2026-01-02T00:00:00Z"));
  const auto large = keep_build(files("larger than all"), builds_, "2026-01-04T00:00:00Z",
                                {.builds = 3, .bytes = 20});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.failure, HasSubstr("kept at most"));
}

TEST_F(KeptBuilds, half_of_one_is_none_and_an_absent_folder_has_none) {
  EXPECT_THAT(kept_builds(builds_), IsEmpty());
  const KeptBuild one = keep("one", "2026-01-01T00:00:00Z");
  fs::create_directories(fs::path(builds_) / "fake-123.new");
  fs::create_directories(fs::path(builds_) / "fake-456");
  std::ofstream(fs::path(builds_) / "fake-456" / "build.json") << "{";
  EXPECT_THAT(kept_builds(builds_), SizeIs(1));
  BuildFiles gone = files("two");
  gone.libraries.push_back(folder_ / "libgone.so");
  EXPECT_THAT(keep_build(gone, builds_, "2026-01-02T00:00:00Z").failure, HasSubstr("libgone.so"));
  EXPECT_THAT(kept_builds(builds_), SizeIs(1));
}

TEST_F(KeptBuilds, what_a_killed_process_left_goes_once_it_is_old) {
  const fs::path left = fs::path(builds_) / "fake-123.new",
                 young = fs::path(builds_) / "fake-4.new";
  for (const fs::path& place : {left, young}) fs::create_directories(place);
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  keep("one", "2026-01-01T00:00:00Z");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(KeptBuilds, a_worker_says_what_a_plugin_loads) {
  const std::string plugin = test::in_build("/tests/plugins/hm_minimal.so");
  const auto found = build_files(plugin, {});
  ASSERT_TRUE(found) << found.failure;
  EXPECT_EQ(found->plugin_path, plugin);
  EXPECT_TRUE(fs::exists(found->worker_program));
  for (const std::string& library : found->libraries) {
    EXPECT_THAT(library, testing::Not(HasSubstr("libc.so")));
    EXPECT_TRUE(fs::exists(library)) << library;
  }
}

}  // namespace
}  // namespace halmark
