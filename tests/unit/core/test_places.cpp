// Where files of a user and of an installation lie, by what the environment says.
#include "core/input/places.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

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

TEST_F(Places, a_file_that_can_be_written_gets_its_folder) {
  const test::ScratchFolder folder;
  require_writable(folder / "deep/er/file", "--db");
  EXPECT_TRUE(fs::is_directory(folder / "deep/er"));
  EXPECT_FALSE(fs::exists(folder / "deep/er/file"));
  test::write_file(folder / "deep/er/file", "");
  require_writable(folder / "deep/er/file", "--db");
}

// Below a file no folder can be made, by nobody.
TEST_F(Places, what_cannot_be_written_says_what_to_do) {
  const test::ScratchFolder folder;
  test::write_file(folder / "file", "");
  const auto said = [](const fs::path& file, std::string_view option) {
    const Error error = test::error_of([&] { require_writable(file, option); });
    EXPECT_EQ(error.exit_code(), ExitCode::error);
    EXPECT_EQ(error.where(), file.string());
    EXPECT_NE(error.line().find("its folder cannot be made: Not a directory"), std::string::npos)
        << error.line();
    return error.remedy();
  };
  EXPECT_EQ(said(folder / "file/x.db", "--db"), "name another file with --db");
  EXPECT_EQ(said(folder / "file/x.db", ""), "");
  set("XDG_STATE_HOME", folder / "file");
  const std::string variable = "set XDG_STATE_HOME to a folder that this user can write";
  EXPECT_EQ(said(state_dir() / "halmark.db", "--db"),
            "name another file with --db, or " + variable);
  EXPECT_EQ(said(measured_device_path("f0"), ""), variable);
}

// Root may write everywhere but where nobody may.
TEST_F(Places, a_folder_that_others_own_is_asked_before_any_work) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write into folders of others";
  const Error error = test::error_of([] { require_writable("/usr/x.db", "--db"); });
  EXPECT_EQ(error.line(),
            "/usr/x.db: cannot be written: Permission denied; name another file with --db");
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
