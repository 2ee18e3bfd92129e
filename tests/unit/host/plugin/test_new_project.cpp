// A plugin's project from the template: which names and folders are none, and what is written.
#include "host/plugin/new_project.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NewProject : public testing::Test {
 protected:
  NewProject() {
    std::filesystem::create_directory(from);
    test::write_file((from / "b.cpp").string(), "@NAME@ is @NAME@@NAME@, not @NAME");
    test::write_file((from / "a.txt").string(), "nothing to fill in");
  }
  Error refusal(const std::string& name, const std::string& to = "to") {
    return test::error_of([&] { write_plugin_project(from, folder.path() / to, name); });
  }
  test::ScratchFolder folder;
  std::filesystem::path from = folder.path() / "from";
};

TEST_F(NewProject, is_the_template_with_the_name_filled_in) {
  const auto to = folder.path() / "new" / "project";
  EXPECT_THAT(write_plugin_project(from, to, "n"), ElementsAre("a.txt", "b.cpp"));
  EXPECT_EQ(test::file_bytes((to / "a.txt").string()), "nothing to fill in");
  EXPECT_EQ(test::file_bytes((to / "b.cpp").string()), "n is nn, not @NAME");
  const Error again = refusal("n", "new/project");
  EXPECT_EQ(again.exit_code(), ExitCode::refused);
  EXPECT_THAT(again.line(), HasSubstr("this folder is not empty; name another folder: --out"));
}

TEST_F(NewProject, has_a_name_that_a_file_and_a_target_may_have) {
  const std::string longest(32, 'a');
  int number = 0;
  for (const std::string& name :
       {longest, std::string("z9_"), std::string("a"), std::string("az09_")}) {
    EXPECT_EQ(write_plugin_project(from, folder.path() / std::to_string(number++), name).size(), 2u)
        << name;
  }
  for (const std::string& name :
       {longest + "a", std::string(), std::string("9a"), std::string("_a"), std::string("aB"),
        std::string("a-b"), std::string("A"), std::string("a`"), std::string("a{")}) {
    const Error error = refusal(name);
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_EQ(error.line(),
              "'" + name +
                  "' is no name of a backend; start with a lower-case letter, then lower-case "
                  "letters, digits and '_', at most 32 in all: for example my_npu");
  }
}

TEST_F(NewProject, is_not_written_over_a_file_or_where_none_can_be) {
  test::write_file(folder / "file", "x");
  EXPECT_THAT(refusal("n", "file").line(), HasSubstr("there is a file of this name"));
  const Error below = refusal("n", "file/below");
  EXPECT_EQ(below.exit_code(), ExitCode::error);
  EXPECT_THAT(below.line(), HasSubstr("cannot create the folder: "));
  std::filesystem::create_directory(folder.path() / "empty");
  EXPECT_EQ(write_plugin_project(from, folder.path() / "empty", "n").size(), 2u);
}

TEST(NewProjectSteps, are_commands_to_copy) {
  const std::string steps =
      "\ncmake -S /p -B /p/build -DCMAKE_PREFIX_PATH=/usr\ncmake --build /p/build\n"
      "ctest --test-dir /p/build --output-on-failure\n"
      "/usr/bin/halmark bench --plugin /p/build --backend npu --op gemm --params m=64,n=256,k=256 "
      "--dtype f32 --variants all\n";
  EXPECT_EQ(plugin_project_steps("/p", "npu", "/usr", "/usr/bin/halmark"), steps);
  const std::string own = plugin_project_steps("/p", "npu", "", "halmark");
  EXPECT_THAT(own, HasSubstr("-DCMAKE_PREFIX_PATH=<where halmark is installed>\n"));
  EXPECT_THAT(own, HasSubstr("\nThis halmark runs from its build tree: cmake --install makes the "
                             "package that the project needs.\n"));
}

}  // namespace
}  // namespace halmark
