#include <gmock/gmock.h>

#include "plan/device/device_judgement.hpp"
#include "plan/device/device_query.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> chosen(const DeviceQuery& query) {
  Device small{.id = "small", .kind = "gpu", .memory_bytes = 24'000'000'000};
  small.vendor = "A";
  small.power_w = 72;
  small.bandwidths = {{.level = "memory", .bytes_per_s = 3e11}};
  Device large{.id = "large", .kind = "gpu", .memory_bytes = 80'000'000'000};
  large.vendor = "B";
  large.bandwidths = {{.level = "memory", .bytes_per_s = 3e12}};
  large.peaks = {{.path = "f8_e4m3fn_matrix", .dtype = Dtype::f8_e4m3fn, .flops_per_s = 2e15}};
  Device odd{.id = "odd", .kind = "cpu"};
  odd.vendor = "A";
  std::vector<std::string> out;
  for (const Device& d : select_devices({large, odd, small}, query)) out.push_back(d.id);
  return out;
}

TEST(DeviceQuery, filters_by_figures_and_words) {
  EXPECT_THAT(chosen({.where = "memory_bytes >= 80e9", .sort = ""}), ElementsAre("large"));
  EXPECT_THAT(chosen({.where = "memory_bytes < 80e9 and vendor == \"A\"", .sort = ""}),
              ElementsAre("small"));
  EXPECT_THAT(chosen({.where = "kind in {\"cpu\"}", .sort = ""}), ElementsAre("odd"));
}

// What a device does not state is neither small nor large.
TEST(DeviceQuery, an_absent_figure_fits_no_condition_on_it) {
  EXPECT_THAT(chosen({.where = "power_w < 100", .sort = ""}), ElementsAre("small"));
  EXPECT_THAT(chosen({.where = "power_w >= 100", .sort = ""}), ElementsAre());
  EXPECT_THAT(chosen({.where = "fp8 > 1e15", .sort = ""}), ElementsAre("large"));
}

TEST(DeviceQuery, sorts_numbers_from_the_largest_and_words_from_a) {
  EXPECT_THAT(chosen({.where = "", .sort = "bandwidth"}), ElementsAre("large", "small", "odd"));
  EXPECT_THAT(chosen({.where = "", .sort = "vendor"}), ElementsAre("odd", "small", "large"));
}

TEST(DeviceQuery, names_the_nearest_figure) {
  test::expect_error([] { (void)chosen({.where = "", .sort = "bandwith"}); }, "bandwidth");
  EXPECT_EQ(error_of([] { (void)chosen({.where = "memory_byte > 1", .sort = ""}); }).exit_code(),
            ExitCode::refused);
  EXPECT_EQ(error_of([] { (void)chosen({.where = "memory_bytes >", .sort = ""}); }).exit_code(),
            ExitCode::refused);
}

// Each figure of its own field: one value apiece, told apart by its size.
TEST(DeviceQuery, every_name_is_one_figure_of_the_device) {
  Device d{.id = "d", .kind = "gpu", .memory_bytes = 101};
  d.vendor = "V";
  d.bandwidths = {{.level = "l2", .bytes_per_s = 1}, {.level = "memory", .bytes_per_s = 102}};
  d.links = {{.name = "l", .bytes_per_s = 103, .domain_devices = 104}};
  d.power_w = 105;
  d.usd_per_hour = 106;
  const std::pair<const char*, Dtype> peaks[] = {{"fp64", Dtype::f64},    {"fp32", Dtype::f32},
                                                 {"tf32", Dtype::tf32},   {"bf16", Dtype::bf16},
                                                 {"fp16", Dtype::f16},    {"fp8", Dtype::f8_e4m3fn},
                                                 {"fp4", Dtype::f4_e2m1}, {"int8", Dtype::s8}};
  double rate = 200;
  for (const auto& [name, dtype] : peaks) {
    d.peaks.push_back({.path = std::string(dtype_name(dtype)) + "_vector",
                       .dtype = dtype,
                       .flops_per_s = ++rate});
  }
  const auto fits = [&](const std::string& where) {
    return select_devices({d}, {.where = where, .sort = ""}).size() == 1;
  };
  EXPECT_TRUE(fits("id == \"d\" and vendor == \"V\" and kind == \"gpu\""));
  EXPECT_TRUE(fits("memory_bytes == 101 and bandwidth == 102 and link == 103 and domain == 104"));
  EXPECT_TRUE(fits("power_w == 105 and usd_per_hour == 106"));
  rate = 200;
  for (const auto& [name, dtype] : peaks) {
    EXPECT_TRUE(fits(std::string(name) + " == " + std::to_string(++rate))) << name;
  }
  std::vector<std::string> names;
  for (const DeviceFigureName& figure : device_figures()) {
    EXPECT_FALSE(figure.meaning.empty()) << figure.name;
    names.push_back(figure.name);
  }
  EXPECT_EQ(names.size(), 17u);
  EXPECT_THAT(names, testing::IsSupersetOf({"id", "domain", "fp4", "int8"}));
}

TEST(DeviceQuery, a_link_without_a_domain_and_a_figure_of_zero_are_not_known) {
  Device d{.id = "d", .kind = "gpu"};
  d.links = {{.name = "l", .bytes_per_s = 103}};
  d.power_w = 0;
  const auto fits = [&](const std::string& where) {
    return select_devices({d}, {.where = where, .sort = ""}).size() == 1;
  };
  EXPECT_TRUE(fits("link == 103"));
  EXPECT_FALSE(fits("domain >= 0"));
  EXPECT_FALSE(fits("power_w >= 0"));
  EXPECT_FALSE(fits("memory_bytes >= 0"));
}

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
