// Figures of a device file beside those of the part that it names: dies, links, memory, engines.
#include <gmock/gmock.h>

#include "plan/device/device_lint.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

std::string text(const std::string& id, const std::string& name, const std::string& root = {}) {
  return "id = '" + id + "'\nname = '" + name + "'\nkind = 'gpu'\n" + root;
}

std::string peak(const std::string& path, const std::string& dtype, double tflops,
                 const std::string& more = {}) {
  return "[[peak]]\npath = '" + path + "'\ndtype = '" + dtype +
         "'\nsource = 's'\nflops_per_s = " + std::to_string(tflops) + "e12\n" + more;
}

std::string memory(double gb_per_s, const std::string& more = {}) {
  return "[[bandwidth]]\nlevel = 'memory'\nsource = 's'\nbytes_per_s = " +
         std::to_string(gb_per_s) + "e9\n" + more;
}

std::string link(double gb_per_s, const std::string& more = {}) {
  return "[[link]]\nscope = 'scale_up'\nname = 'l'\nsource = 's'\nbytes_per_s = " +
         std::to_string(gb_per_s) + "e9\n" + more;
}

// "error: ..." or "warning: ..." a line, of the text of `own` beside the known parts.
std::string against(const std::string& own, const std::vector<std::string>& known) {
  std::vector<DeviceFile> files;
  for (std::size_t i = 0; i < known.size(); ++i) {
    files.push_back(parse_device_file(known[i], "known" + std::to_string(i) + ".toml"));
  }
  std::string out;
  for (const DeviceFinding& f : lint_against_known(parse_device_file(own, "own.toml"), files)) {
    out += std::string(severity_name(f.severity)) + ": " + f.text + '\n';
  }
  return out;
}

// Two dies of 100 TFLOP/s, 1000 GB/s, 64 GB and 50 GB/s each.
const std::string two_dies =
    text("part-x9", "Part X9", "devices_in_part = 2\nmemory_bytes = 128000000000\n") +
    peak("m", "bf16", 200) + memory(2000) + link(100);

std::string of_two(const std::string& figures, const std::string& root = {}) {
  return against(text("mine", "Part X9", root) + figures, {two_dies});
}

TEST(DeviceDies, figures_of_one_are_a_share_of_the_parts) {
  EXPECT_EQ(
      of_two(peak("m", "bf16", 100) + memory(1000) + link(50), "memory_bytes = 64000000000\n"), "");
  EXPECT_THAT(of_two(peak("m", "bf16", 100) + memory(1100)),
              HasSubstr("error: mine: memory bandwidth 1100 GB/s is above the 1000 of part-x9"));
  EXPECT_THAT(of_two(peak("m", "bf16", 100) + memory(900)),
              HasSubstr("warning: mine: memory bandwidth 900 GB/s is below the 1000 of part-x9"));
  EXPECT_THAT(of_two(peak("m", "bf16", 100) + link(25)),
              HasSubstr("link 25 GB/s is half of part-x9's 100"));
  EXPECT_THAT(of_two(peak("m", "bf16", 100), "memory_bytes = 128000000000\n"),
              HasSubstr("128 GB is twice the memory of part-x9"));
}

TEST(DeviceDies, up_to_three_quarters_of_the_whole_are_one) {
  EXPECT_THAT(of_two(peak("m", "bf16", 150)),
              HasSubstr("m 150 TFLOP/s is above the 100 of part-x9"));
  EXPECT_THAT(
      of_two(peak("m", "bf16", 151)),
      HasSubstr("which programs see as 2 devices of 100 TFLOP/s: state devices_in_part = 2"));
}

TEST(DeviceDies, a_peak_of_another_kind_or_type_tells_nothing_of_dies) {
  const std::string first =
      peak("m_fp16acc", "bf16", 1) + peak("v", "f64", 1) + peak("m", "bf16", 200);
  EXPECT_THAT(of_two(first), HasSubstr("which programs see as 2 devices"));
}

TEST(DeviceDies, who_states_them_is_compared_as_a_whole) {
  EXPECT_EQ(of_two(peak("m", "bf16", 200) + memory(2000) + link(100),
                   "devices_in_part = 2\nmemory_bytes = 128000000000\n"),
            "");
}

TEST(KnownPart, peaks_are_compared_by_path_and_else_by_type) {
  const std::string known =
      text("part-x9", "X") + peak("a", "bf16", 100) + peak("b", "bf16", 50) + peak("c", "f32", 10);
  EXPECT_EQ(against(text("part-x9", "Y") + peak("b", "bf16", 50), {known}), "");
  EXPECT_EQ(against(text("part-x9", "Y") + peak("other", "f32", 10), {known}), "");
  EXPECT_THAT(against(text("part-x9", "Y") + peak("b", "bf16", 75), {known}),
              HasSubstr("error: part-x9: b 75 TFLOP/s is above the 50 of part-x9"));
}

TEST(KnownPart, a_type_that_it_lacks_is_named_with_whose_figure_stands_there) {
  const std::string known = text("part-x9", "X") + peak("v", "f32", 10) + peak("m", "bf16", 100);
  const auto f8 = [&](double tflops) {
    return against(text("part-x9", "Y") + peak("e", "f8_e4m3fn", tflops), {known});
  };
  EXPECT_EQ(f8(50), "error: part-x9: part-x9 has no f8_e4m3fn\n");
  EXPECT_EQ(f8(100.9), "error: part-x9: part-x9 has no f8_e4m3fn; the figure is that of m\n");
  EXPECT_EQ(f8(101.5), "error: part-x9: part-x9 has no f8_e4m3fn\n");
  EXPECT_EQ(against(text("part-x9", "Y") + peak("e", "bf16", 1), {text("part-x9", "X")}), "")
      << "nothing is known of its peaks";
}

TEST(KnownPart, twice_a_figure_has_its_likely_reason) {
  const std::string known = text("part-x9", "X") + peak("m", "f16", 100) +
                            peak("m_fp16acc", "f16", 200) + peak("b", "bf16", 70) + memory(1000) +
                            link(100);
  const auto twice = [&](const std::string& figure) {
    return against(text("part-x9", "Y") + figure, {known});
  };
  EXPECT_THAT(twice(peak("m", "f16", 200)), HasSubstr("the rate with FP16 accumulation"));
  EXPECT_THAT(twice(peak("m", "f16", 203.5)), HasSubstr("probably sparse, or two devices"))
      << "1.75 % beside the rate with FP16 accumulation, within 2 % of twice";
  test::expect_each(twice, {{peak("b", "bf16", 140), "probably sparse, or two devices"},
                            {memory(2000), "of part-x9: two devices of a superchip"},
                            {link(200), "both directions; a link is stated one way"},
                            {memory(1960), "is twice the 1000"},
                            {memory(1959), "is above the 1000"},
                            {memory(2040), "is twice the 1000"},
                            {memory(2041), "is above the 1000"}});
}

TEST(KnownPart, bandwidths_and_links_have_ranges_too) {
  const std::string known = text("part-x9", "X") + memory(1000, "bytes_per_s_high = 1200e9\n") +
                            link(100, "bytes_per_s_high = 140e9\n");
  const auto lint = [&](const std::string& figure) {
    return against(text("part-x9", "Y") + figure, {known});
  };
  test::expect_each(lint,
                    {{memory(1100), "GB/s is in the range 1000 to 1200 that sources"},
                     {memory(1300), "above the 1200"},
                     {memory(2400), "is twice the 1000"},
                     {link(120), "warning: part-x9: link 120 GB/s is in the range 100 to 140"},
                     {link(150), "above the 140"},
                     {link(90), "warning: part-x9: link 90 GB/s is below the 100"},
                     {link(51), "half of part-x9's 100"},
                     {link(51.1), "below the 100"}});
  EXPECT_EQ(against(text("part-x9", "Y") + link(5), {text("part-x9", "X")}), "")
      << "nothing is known of its links";
}

TEST(KnownPart, memory_of_two_is_found_within_two_percent) {
  const std::string known = text("part-x9", "X", "memory_bytes = 100000000000\n");
  const auto lint = [&](const std::string& bytes) {
    return against(text("part-x9", "Y", "memory_bytes = " + bytes + "\n"), {known});
  };
  test::expect_each(lint, {{"204000000000", "204 GB is twice the memory of part-x9"},
                           {"196000000000", "196 GB is twice the memory of part-x9"}});
  EXPECT_EQ(lint("204100000000"), "");
  EXPECT_EQ(lint("195900000000"), "");
  EXPECT_EQ(lint("0"), "");
  EXPECT_EQ(against(text("part-x9", "Y"), {text("part-x9", "X")}), "") << "of neither is it known";
}

TEST(KnownPart, is_the_one_called_alike_or_named_with_the_most_words) {
  const std::string x9 = text("x9", "X9") + peak("m", "bf16", 100);
  const std::string x9_pro = text("x9-pro", "P") + peak("m", "bf16", 200);
  const std::string pro_max = text("z", "Z", "aliases = ['x9-pro-max']\n") + peak("m", "bf16", 300);
  const auto of = [&](const std::string& id, const std::string& name, double tflops) {
    return against(text(id, name) + peak("m", "bf16", tflops), {x9, x9_pro, pro_max});
  };
  EXPECT_EQ(of("mine", "Maker X9 16 GB", 100), "");
  EXPECT_EQ(of("mine", "Maker X9 Pro", 200), "");
  EXPECT_EQ(of("mine", "Maker X9 pro MAX", 300), "");
  EXPECT_EQ(of("my-x9-pro", "Maker", 200), "") << "named by its id";
  EXPECT_EQ(of("x9", "X9 Pro Max", 100), "") << "called alike";
  EXPECT_EQ(of("mine", "Maker X90", 100), "") << "no part of it, nothing to compare";
  EXPECT_NE(of("mine", "Maker X9", 200), "");
  EXPECT_NE(of("mine", "Pro X9 Max", 200), "") << "words in another order are no name";
}

TEST(KnownPart, a_file_is_not_compared_with_itself) {
  const test::ScratchFolder folder;
  test::write_file(folder / "x9.toml", text("x9", "X9") + peak("m", "bf16", 100));
  DeviceFile file = read_device_file(folder / "x9.toml");
  file.device.peaks[0].flops_per_s = 300e12;
  EXPECT_TRUE(lint_against_known(file, {{read_device_file(folder / "x9.toml")}}).empty());
  DeviceFile same = read_device_file((folder.path() / "." / "x9.toml").string());
  EXPECT_TRUE(lint_against_known(file, {{same}}).empty());
  same.path = "elsewhere.toml";
  EXPECT_FALSE(lint_against_known(file, {{same}}).empty());
}

// B100: 1750 dense TFLOP/s of 16 bits, 3500 of 8.
TEST(SparseTraps, hold_for_each_type_of_a_part_without_a_file) {
  const auto b100 = [](const std::string& dtype, double tflops) {
    return against(text("mine", "NVIDIA B100") + peak("m", dtype, tflops), {});
  };
  EXPECT_EQ(b100("f16", 3500),
            "error: mine: m 3500 TFLOP/s is twice the dense 1750 of b100: probably sparse\n");
  EXPECT_THAT(b100("bf16", 3568), HasSubstr("twice the dense 1750"));
  EXPECT_THAT(b100("f8_e4m3fn", 7000), HasSubstr("twice the dense 3500"));
  EXPECT_EQ(b100("bf16", 3575), "");
  EXPECT_EQ(b100("bf16", 1750), "");
  EXPECT_EQ(b100("f8_e4m3fn", 3500), "");
  EXPECT_EQ(against(text("mine", "NVIDIA B1000") + peak("m", "f16", 3500), {}), "");
  EXPECT_THAT(against(text("my-b100", "Mine") + peak("m", "f16", 3500), {}), HasSubstr("sparse"));
}

}  // namespace
}  // namespace halmark
