#include "plan/device/device_judgement.hpp"

#include <gmock/gmock.h>

#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

// A part whose eight bits are `f8` times its sixteen: twice is right, 4 times is probably sparse,
// anything else is a warning.
std::string part(const std::string& id, const std::string& f8) {
  return "id = '" + id + "'\nname = 'Own'\nkind = 'gpu'\n" +
         "[[peak]]\npath = 'bf16_matrix'\ndtype = 'bf16'\nflops_per_s = 1e14\nsource = 's'\n"
         "[[peak]]\npath = 'f8_matrix'\ndtype = 'f8_e4m3fn'\nflops_per_s = " +
         f8 + "e14\nsource = 's'\n";
}

class Judged : public testing::Test {
 protected:
  Judged() {
    test::write_file(folder_ / "a.toml", part("a", "4.0"));
    test::write_file(folder_ / "b.toml", part("b", "2.0"));
    test::write_file(folder_ / "c.toml", part("c", "1.0"));
    test::write_file(folder_ / "notes.txt", "no device");
  }
  test::ScratchFolder folder_;
};

TEST_F(Judged, without_a_path_it_is_what_is_known_with_errors_and_warnings_counted_apart) {
  const DeviceJudgement all = judge_devices({}, {folder_.path()});
  EXPECT_EQ(all.errors, 1u);
  EXPECT_THAT(all.text,
              test::has_all({"a.toml:12:15: error: a: f8_matrix is 400 TFLOP/s",
                             "c.toml:12:15: warning: c: f8_matrix is 1 times bf16_matrix"}));
  EXPECT_TRUE(all.text.ends_with("3 device files, 1 errors, 1 warnings\n")) << all.text;
  EXPECT_THAT(all.data, test::HasValues(R"({"/files": 3, "/errors": 1, "/findings/0/device": "a",
      "/findings/0/severity": "error", "/findings/1/severity": "warning"})"));
  ASSERT_EQ(all.data["findings"].size(), 2u);
  EXPECT_EQ(all.data["findings"][0]["where"], folder_ / "a.toml:12:15");
  EXPECT_THAT(all.data["findings"][0]["text"].get<std::string>(), HasSubstr("sparse"));
}

TEST_F(Judged, files_and_folders_are_judged_in_their_order) {
  EXPECT_EQ(judge_devices({folder_ / "b.toml"}, {}).text, "1 device files, 0 errors, 0 warnings\n");
  EXPECT_TRUE(judge_devices({folder_ / "c.toml", folder_.path().string(), folder_ / "b.toml"}, {})
                  .text.ends_with("5 device files, 1 errors, 2 warnings\n"));
}

TEST_F(Judged, a_folder_without_a_device_and_an_absent_file_are_refused) {
  const test::ScratchFolder empty;
  test::expect_error([&] { judge_devices({empty.path().string()}, {}); },
                     "no device file (*.toml) is here");
  EXPECT_EQ(test::error_of([&] { judge_devices({empty / "x.toml"}, {}); }).exit_code(),
            ExitCode::refused);
}

}  // namespace
}  // namespace halmark
