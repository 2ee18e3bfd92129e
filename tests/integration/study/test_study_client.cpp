// The Python client of `halmark study serve`: from its folder, and installed without an index.
#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

const std::string package = test::in_source("/search/python");

class StudyClient : public HalmarkTest {
 protected:
  Outcome drive(const std::string& python, const std::string& modules,
                const std::string& version) const {
    Launch out = base_;
    out.environment["PYTHONPATH"] = modules;
    out.arguments = {python,
                     "-B",
                     test::in_source("/tests/integration/study/client.py"),
                     test::in_build("/bin/halmark"),
                     base_.folder,
                     version};
    out.limit_s = 120;
    return run(out);
  }
};

TEST_F(StudyClient, creates_asks_tells_lists_and_raises_what_the_server_refuses) {
  auto python = test::python_with("optuna");
  if (!python) python = test::python_with("json");
  if (!python) GTEST_SKIP() << "there is no python3";
  const Outcome done = drive(*python, package, "-");
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("client ok"));
}

TEST_F(StudyClient, commands_are_functions_and_the_guides_notebook_runs) {
  const auto python = test::python_with("json");
  if (!python) GTEST_SKIP() << "there is no python3";
  Launch launch = base_;
  launch.environment["PYTHONPATH"] = package;
  launch.environment["PATH"] = test::in_build("/bin") + ":/usr/bin:/bin";
  launch.arguments = {*python, "-B", test::in_source("/tests/integration/study/from_python.py"),
                      test::in_source("/results/guide/python.ipynb")};
  launch.limit_s = 120;
  const Outcome done = run(launch);
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("package ok"));
}

TEST_F(StudyClient, installs_from_the_tree_without_an_index_and_has_the_programs_version) {
  const auto python = test::python_with("pip");
  if (!python) GTEST_SKIP() << "there is no Python with pip";
  Launch install = base_;
  install.arguments = {*python,
                       "-B",
                       "-m",
                       "pip",
                       "install",
                       "-q",
                       "--no-index",
                       "--no-deps",
                       "--target",
                       path("site"),
                       "--no-cache-dir",
                       "--disable-pip-version-check",
                       package};
  install.limit_s = 120;
  const Outcome installed = run(install);
  ASSERT_EQ(installed.exit_code, 0) << installed.out << installed.err;
  const std::string said = halmark({"--version"}).out;  // "halmark 0.1.0 (...)"
  const std::string version = said.substr(8, said.find(' ', 8) - 8);
  const Outcome done = drive(*python, path("site"), version);
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("/site/halmark_study.py"));
}

}  // namespace
}  // namespace halmark::integration
