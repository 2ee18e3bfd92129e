// The URLs and paths that Optuna takes, given to Halmark; and those that it cannot open.
#include <filesystem>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class StudyUrls : public HalmarkTest {};

TEST_F(StudyUrls, optuna_and_halmark_open_the_same_study_by_the_same_text) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "there is no Python with Optuna (pip install optuna)";
  const bool has_server = std::filesystem::exists("/usr/lib/postgresql") &&
                          test::python_with("optuna, psycopg2") &&
                          halmark({"study", "list", "--study", "postgresql:///x"}).exit_code != 5;
  Launch out = base_;
  out.arguments = {*python,
                   "-B",
                   test::in_source("/tests/integration/study/urls.py"),
                   test::in_build("/bin/halmark"),
                   base_.folder,
                   has_server ? "postgresql" : "files"};
  out.limit_s = 280;
  const Outcome done = run(out);
  EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("urls ok"));
  if (has_server) {
    EXPECT_THAT(done.out, HasSubstr("same study: postgresql+psycopg2://"));
  }
}

TEST_F(StudyUrls, what_cannot_be_opened_is_refused_in_one_line_and_nothing_is_written) {
  const std::vector<std::string> before = files();
  for (const char* url : {"mysql+pymysql://u:secret@h/d", "sqlite://a.db", "sqlite:///a%20b.db"}) {
    const Outcome done = halmark({"study", "list", "--study", url});
    EXPECT_EQ(done.exit_code, 2) << url;
    EXPECT_TRUE(is_one_line(done.err)) << done.err;
    EXPECT_THAT(done.err, HasSubstr("sqlite:"));
    EXPECT_THAT(done.err, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace halmark::integration
