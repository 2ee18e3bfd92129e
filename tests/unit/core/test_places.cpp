// Where files of a user and of an installation lie, by what the environment says.
#include "core/input/places.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <optional>

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

class Places : public testing::Test {
 protected:
  void set(const char* name, const std::string& value) {
    keep(name);
    ::setenv(name, value.c_str(), 1);
  }
  void unset(const char* name) {
    keep(name);
    ::unsetenv(name);
  }
  ~Places() override {
    for (const auto& [name, value] : before_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }

 private:
  void keep(const char* name) {
    const char* const value = ::getenv(name);
    before_.try_emplace(name, value ? std::optional<std::string>(value) : std::nullopt);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Places, state_is_where_the_environment_says_and_else_at_home) {
  set("XDG_STATE_HOME", "/somewhere");
  EXPECT_EQ(state_dir(), "/somewhere/halmark");
  EXPECT_EQ(measured_device_path("f0"), "/somewhere/halmark/devices/f0.toml");
  EXPECT_EQ(measured_limits_path("f0"), "/somewhere/halmark/devices/f0-limits.toml");
  EXPECT_EQ(builds_dir(), "/somewhere/halmark/builds");
  set("HOME", "/people/u");
  for (const char* odd : {"", "relative/path"}) {
    set("XDG_STATE_HOME", odd);
    EXPECT_EQ(state_dir(), "/people/u/.local/state/halmark") << odd;
  }
  unset("XDG_STATE_HOME");
  set("HOME", "");
  EXPECT_EQ(state_dir(), "/tmp/.local/state/halmark");
  unset("HOME");
  EXPECT_EQ(state_dir(), "/tmp/.local/state/halmark");
}

TEST_F(Places, a_cache_is_made_where_it_is_asked_for) {
  const test::ScratchFolder folder;
  set("XDG_CACHE_HOME", folder / "deep/er");
  EXPECT_EQ(cache_dir(), folder / "deep/er/halmark");
  EXPECT_TRUE(fs::is_directory(folder / "deep/er/halmark"));
  test::write_file(folder / "file", "");
  set("XDG_CACHE_HOME", folder / "file");
  const Error error = test::error_of([] { cache_dir(); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_NE(error.line().find("cannot create the folder"), std::string::npos) << error.line();
}

TEST_F(Places, configurations_named_by_the_user_go_first) {
  const test::ScratchFolder folder;
  set("HALMARK_CONFIG_PATH", "/a::/b:");
  set("XDG_CONFIG_HOME", folder.path().string());
  std::vector<fs::path> found = config_dirs("devices");
  ASSERT_EQ(found.size(), 3u) << "empty parts name nothing, an absent folder of the user neither";
  EXPECT_EQ(found[0], "/a/devices");
  EXPECT_EQ(found[1], "/b/devices");
  EXPECT_TRUE(fs::exists(found[2] / "a100.toml"));
  fs::create_directories(folder / "halmark/devices");
  found = config_dirs("devices");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[2], folder / "halmark/devices");
  unset("HALMARK_CONFIG_PATH");
  EXPECT_EQ(config_dirs("devices").size(), 2u);
  EXPECT_TRUE(config_dirs("no such kind").empty());
}

TEST_F(Places, of_a_program_that_is_not_installed_are_those_of_its_sources) {
  EXPECT_TRUE(program_path().filename().string().starts_with("test_core"));
  EXPECT_EQ(installation_prefix(), fs::path());
  EXPECT_TRUE(fs::is_directory(plugin_template_dir()));
}

}  // namespace
}  // namespace halmark
