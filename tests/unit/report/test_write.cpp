#include <filesystem>

#include "core/json/json.hpp"
#include "report/report.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

class WriteReport : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }
  std::string content(const char* name) const { return test::file_bytes(path(name)); }
  test::ScratchFolder folder_;
};

TEST_F(WriteReport, chooses_the_format_by_suffix_and_leaves_no_other_file) {
  const RunReport report = test::synthetic_report();
  for (const char* name : {"a.html", "a.csv", "a.md", "a.json"}) write_report(report, path(name));
  EXPECT_EQ(content("a.html"), report_html(report));
  EXPECT_EQ(content("a.csv"), report_csv(report));
  EXPECT_EQ(content("a.md"), report_markdown(report));
  EXPECT_EQ(parse_json(content("a.json"), "a.json"),
            parse_json(dump_json(report_json(report)), "x"));
  EXPECT_EQ(folder_.names().size(), 4u);
}

TEST_F(WriteReport, refuses_an_unknown_suffix_and_writes_nothing) {
  test::expect_error([&] { write_report(test::synthetic_report(), path("a.pdf")); }, ".html",
                     ExitCode::refused);
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(WriteReport, an_impossible_place_is_a_storage_error_that_names_the_path) {
  const std::string target = path("absent/a.html");
  test::expect_error([&] { write_report(test::synthetic_report(), target); }, target,
                     ExitCode::error);
}

// A folder under the target's name stops the last step, the rename: as after a kill just before it,
// what was there is untouched.
TEST_F(WriteReport, what_was_there_survives_a_write_that_did_not_finish) {
  fs::create_directories(path("a.html/inside"));
  test::expect_error([&] { write_report(test::synthetic_report(), path("a.html")); }, "a.html",
                     ExitCode::error);
  EXPECT_TRUE(fs::is_directory(path("a.html/inside")));
  EXPECT_EQ(folder_.names().size(), 1u);
}

TEST_F(WriteReport, replaces_the_file_instead_of_writing_into_it) {
  std::ofstream(path("a.md")) << "old";
  fs::create_hard_link(path("a.md"), path("old.txt"));
  write_report(test::synthetic_report(), path("a.md"));
  EXPECT_EQ(content("old.txt"), "old");
  EXPECT_EQ(content("a.md"), report_markdown(test::synthetic_report()));
}

}  // namespace
}  // namespace halmark
