#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"
#include "synthetic_report.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

class WriteReport : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("halmark_report_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ / name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(WriteReport, chooses_the_format_by_suffix_and_leaves_no_other_file) {
  const RunReport report = test::synthetic_report();
  write_report(report, path("a.html"));
  write_report(report, path("a.csv"));
  write_report(report, path("a.md"));
  write_report(report, path("a.json"));
  EXPECT_EQ(content(path("a.html")), report_html(report));
  EXPECT_EQ(content(path("a.csv")), report_csv(report));
  EXPECT_EQ(content(path("a.md")), report_markdown(report));
  EXPECT_EQ(parse_json(content(path("a.json")), "a.json"),
            parse_json(dump_json(report_json(report)), "x"));
  EXPECT_EQ(files(), 4u);
}

TEST_F(WriteReport, refuses_an_unknown_suffix_and_writes_nothing) {
  try {
    write_report(test::synthetic_report(), path("a.pdf"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::refused);
    EXPECT_NE(e.line().find(".html"), std::string::npos);
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(WriteReport, an_impossible_place_is_a_storage_error_that_names_the_path) {
  const std::string target = path("absent/a.html");
  try {
    write_report(test::synthetic_report(), target);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::error);
    EXPECT_NE(e.line().find(target), std::string::npos);
  }
}

// A folder under the target's name stops the last step, the rename: as after a kill just before it,
// what was there is untouched.
TEST_F(WriteReport, what_was_there_survives_a_write_that_did_not_finish) {
  fs::create_directories(path("a.html/inside"));
  try {
    write_report(test::synthetic_report(), path("a.html"));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit_code(), ExitCode::error);
  }
  EXPECT_TRUE(fs::is_directory(path("a.html/inside")));
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteReport, replaces_the_file_instead_of_writing_into_it) {
  std::ofstream(path("a.md")) << "old";
  fs::create_hard_link(path("a.md"), path("old.txt"));
  write_report(test::synthetic_report(), path("a.md"));
  EXPECT_EQ(content(path("old.txt")), "old");
  EXPECT_EQ(content(path("a.md")), report_markdown(test::synthetic_report()));
}

}  // namespace
}  // namespace halmark
