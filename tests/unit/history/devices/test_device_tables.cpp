// Every cell of what people read of devices side by side, by hand.
#include <gmock/gmock.h>

#include "../../scratch_folder.hpp"
#include "core/json/json.hpp"
#include "history/devices/device_comparison.hpp"
#include "history/devices/shape_class.hpp"
#include "history/view/device_comparison_view.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::history {
namespace {

using halmark::test::has_all;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two classes of gemm: the first side is twice as fast at m = 1, the second at m = 64, and 8 ties.
DeviceComparison compared() {
  DeviceComparison c;
  c.sides = {{.name = "a/x.db"}, {.name = "y.db"}};
  c.sides[0].usd_per_hour = 2.5;
  c.sides[0].power_w = 700;
  c.sides[0].lines = {"made in May"};
  c.sides[1].left_out = {{"no time", 4}};
  DevicePair pair{.first = 0, .second = 1};
  ClassRow one{.op = "gemm", .dtype = "bf16", .shapes = "m 1", .is_matmul = true, .kernels = 3};
  one.first_ahead = 2;
  one.ties = 1;
  one.ratio = 2;
  one.ratio_interval = {1.5, 2.5};
  one.ahead = Ahead::first;
  one.shares[0] = {.of_bound = 0.4, .mfu = 0.25, .limiter = Limiter::memory, .usd = 0.5};
  ClassRow two{.op = "norm", .dtype = "f32", .shapes = "rows 1", .kernels = 2};
  two.second_ahead = 2;
  two.ratio = 0.5;
  two.ratio_interval = {0.4, 0.6};
  two.ahead = Ahead::second;
  pair.classes = {one, two};
  pair.kernels = 5;
  pair.only_first = 1;
  pair.only_second = 2;
  pair.series = 3;
  c.pairs = {pair};
  return c;
}

std::vector<std::string> texts_of(const std::vector<report::TableCell>& row) {
  std::vector<std::string> out;
  for (const report::TableCell& cell : row) out.push_back(cell.text);
  return out;
}
std::vector<std::string> titles_of(const report::Table& table) {
  std::vector<std::string> out;
  for (const report::TableColumn& column : table.columns) out.push_back(column.title);
  return out;
}

TEST(DeviceTables, classes_have_a_row_each_without_columns_that_say_nothing) {
  DeviceComparison c = compared();
  const report::Table table = class_table(c, c.pairs[0]);
  EXPECT_THAT(titles_of(table), ElementsAre("op", "dtype", "shapes", "both", "ahead", "time 2/1",
                                            "interval", "share x.db", "wins 1:2", "TIE"))
      << "nothing is open, and of the second side no bound is known";
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre("gemm", "bf16", "m 1", "3", "x.db", "2.00",
                                                   "1.50..2.50", "40.0 % memory", "2:0", "1"));
  EXPECT_THAT(texts_of(table.rows[1]), ElementsAre("norm", "f32", "rows 1", "2", "y.db", "0.500",
                                                   "0.400..0.600", "-", "0:2", "0"));
  c.pairs[0].classes[0].ahead = Ahead::tie;
  c.pairs[0].classes[1].ahead = Ahead::open;
  c.sides[0].basis = TimeBasis::bound;
  const report::Table open = class_table(c, c.pairs[0]);
  EXPECT_EQ(open.rows[0][4].text, "TIE");
  EXPECT_EQ(open.rows[1][4].text, "open");
  EXPECT_EQ(open.rows[0][7].text, "bound, memory");
}

TEST(DeviceTables, costs_are_per_unit_of_work_where_somebody_states_them) {
  DeviceComparison c = compared();
  report::Table table = cost_table(c, c.pairs[0]);
  EXPECT_THAT(titles_of(table),
              ElementsAre("op", "dtype", "shapes", "unit of work", "MFU x.db", "USD x.db"));
  EXPECT_THAT(texts_of(table.rows[0]),
              ElementsAre("gemm", "bf16", "m 1", "1e15 FLOP", "25.0 %", "0.500"));
  EXPECT_EQ(table.rows[1][3].text, "1e12 B");
  c.pairs[0].classes[0].shares[1].joule = 30;
  EXPECT_EQ(titles_of(cost_table(c, c.pairs[0])).back(), "J y.db");
  c.sides[0].basis = TimeBasis::bound;
  EXPECT_THAT(titles_of(cost_table(c, c.pairs[0])), Not(testing::Contains(HasSubstr("MFU"))))
      << "of a bound there is none";
  c.pairs[0].classes[0].shares = {};
  EXPECT_TRUE(cost_table(c, c.pairs[0]).rows.empty());
}

TEST(DeviceTables, crossovers_of_lines_that_cross_once_come_first) {
  DeviceComparison c = compared();
  c.pairs[0].crossovers = {
      {"s", "m", 2, 4, true}, {"s", "m", 8, 16, false}, {"t", "m", 1, 3, false}};
  const report::Table table = crossover_table(c, c.pairs[0]);
  EXPECT_THAT(texts_of(table.rows[0]), ElementsAre("y.db", "1", "x.db", "3", "m", "t"));
  EXPECT_THAT(texts_of(table.rows[1]), ElementsAre("x.db", "2", "y.db", "4", "m", "s"));
  EXPECT_EQ(crossover_summary(c.pairs[0]),
            "crossovers, where who is ahead changes between two sizes: of 3 series 1 have one, 1 "
            "have more");
  c.pairs[0].crossovers.push_back({"u", "m", 1, 3, false});
  EXPECT_THAT(crossover_summary(c.pairs[0]), HasSubstr("of 3 series 2 have one, 1 have more"));
}

TEST(DeviceTables, sides_are_told_by_file_device_and_number) {
  DeviceComparison c = compared();
  EXPECT_EQ(side_title(c, 0),
            "1 x.db: measured, 0 kernels; made in May; 2.5 USD an hour; 700 W "
            "stated");
  c.sides[1].name = "b/x.db";
  EXPECT_EQ(side_label(c, 0), "x.db #1");
  EXPECT_EQ(side_label(c, 1), "x.db #2");
  c.sides[1].device = "h100";
  EXPECT_EQ(side_label(c, 1), "x.db #2") << "what was measured is known by its file";
  c.sides[1].basis = TimeBasis::bound;
  EXPECT_EQ(side_label(c, 1), "h100 bound");
  EXPECT_EQ(side_label(c, 0), "x.db");
  c.sides[1].basis = TimeBasis::imported;
  EXPECT_EQ(side_label(c, 1), "h100");
}

TEST(DeviceTables, a_pair_is_summed_up) {
  DeviceComparison c = compared();
  EXPECT_EQ(
      pair_summary(c, c.pairs[0]),
      "x.db against y.db: 5 kernels in common; ahead in 2 and 2, 1 TIE; 1 and 2 kernels are of "
      "one side alone");
  c.pairs[0].classes[0].open = 4;
  c.pairs[0].only_first = c.pairs[0].only_second = 0;
  EXPECT_THAT(pair_summary(c, c.pairs[0]), testing::EndsWith("1 TIE, 4 open"));
  c.sides[0].basis = c.sides[1].basis = TimeBasis::bound;
  EXPECT_THAT(pair_summary(c, c.pairs[0]),
              testing::HasSubstr("takes 0.500 to 2.00 of the time of "));
  c.sides[0].basis = c.sides[1].basis = TimeBasis::measured;
  c.pairs[0].kernels = 0;
  EXPECT_EQ(pair_summary(c, c.pairs[0]), "x.db against y.db: no kernel in common");
  c.what_ifs = {{.side = 1, .factor = 2, .text = "peak=x2"}, {.text = "link=x2"}};
  EXPECT_THAT(
      what_if_text(c),
      testing::StartsWith("what if (model, not measured): peak=x2 of y.db, link=x2 of x.db;"));
}

TEST(DeviceTables, notes_are_those_of_the_times_that_there_are) {
  DeviceComparison c = compared();
  EXPECT_EQ(reading_notes(c).size(), 3u);
  EXPECT_THAT(reading_notes(c)[2], testing::StartsWith("J: the stated power"));
  c.sides[0].power_w.reset();
  EXPECT_EQ(reading_notes(c).size(), 2u);
  EXPECT_THAT(reading_notes(c)[0], testing::EndsWith("the difference is below 3.00 %"));
  c.sides[1].basis = TimeBasis::imported;
  EXPECT_EQ(reading_notes(c).size(), 3u);
  c.sides[0].basis = TimeBasis::bound;
  EXPECT_EQ(reading_notes(c).size(), 4u);
}

// Two bounds have no spread and reach all of themselves: what is left to say is what binds.
TEST(DeviceTables, bounds_have_no_columns_that_say_the_same_in_every_row) {
  DeviceComparison c = compared();
  c.sides[0].basis = c.sides[1].basis = TimeBasis::bound;
  for (ClassRow& row : c.pairs[0].classes) row.ratio_interval = {row.ratio, row.ratio};
  std::string titles;
  for (const auto& column : class_table(c, c.pairs[0]).columns) titles += column.title + '|';
  EXPECT_THAT(titles, testing::HasSubstr("|bottleneck|"));
  EXPECT_THAT(titles, testing::Not(testing::HasSubstr("interval")));
  EXPECT_THAT(titles, testing::Not(testing::HasSubstr("share")));
}

TEST(DeviceTables, the_text_has_twelve_crossovers_and_counts_the_rest) {
  DeviceComparison c = compared();
  c.pairs[0].crossovers.assign(12, {"s", "m", 2, 4, true});
  EXPECT_THAT(device_comparison_view(c, 300).text, Not(HasSubstr("more: --json")));
  c.pairs[0].crossovers.assign(14, {"s", "m", 2, 4, true});
  const std::string text = device_comparison_view(c, 300).text;
  EXPECT_THAT(text, has_all({"\n  and 2 more: --json or --out has them all\n",
                             "\n  left out: 4 rows, no time\n", "\nwork and what it costs\nop "}));
  EXPECT_EQ(device_comparison_view(c, 300).data["pairs"][0]["crossovers"].size(), 14u);
}

TEST(DeviceTables, lines_of_files_have_every_figure) {
  DeviceComparison c = compared();
  EXPECT_THAT(
      device_comparison_csv(c),
      HasSubstr("\r\nas they are,x.db,y.db,gemm,bf16,m 1,3,first,2,1.5,2.5,2,0,1,0,0.4,0.25,"
                "memory,0.5,,,,"));
  EXPECT_THAT(device_comparison_csv(c),
              halmark::test::has_lines(
                  {"gemm.*,1e15 matmul FLOPs\r\n", "norm.*second,0.5,.*,1e12 bytes\r\n"}));
  const Json row = device_comparison_view(c, 80).data["pairs"][0]["classes"][0];
  EXPECT_THAT(row, halmark::test::HasValues(R"({"/ahead": "first", "/unit": "1e15 matmul FLOPs",
      "/first/mfu": 0.25, "/second/mfu": null})"));
  EXPECT_TRUE(device_comparison_view(c, 80).data["what_if"].is_null());
  EXPECT_EQ(device_comparison_view(c, 80).data["sides"][1]["left_out"]["no time"], 4);
  const std::string markdown = device_comparison_markdown(c);
  EXPECT_THAT(markdown, HasSubstr("\nWork and what it costs:\n\n| op |"));
  EXPECT_THAT(markdown, Not(HasSubstr("crossovers")));
  const halmark::test::ScratchFolder folder;
  for (const char* name : {"a.json", "a.csv", "a.md", "a.html"}) {
    write_device_comparison(c, {folder / name});
  }
  EXPECT_EQ(halmark::test::file_bytes(folder / "a.csv"), device_comparison_csv(c));
  EXPECT_EQ(halmark::test::file_bytes(folder / "a.html"), device_comparison_html(c));
}

TEST(DeviceTables, the_page_draws_a_line_for_each_class_and_120_at_most) {
  DeviceComparison c = compared();
  const auto bars = [&] {
    const std::string page = device_comparison_html(c);
    int out = 0;
    for (std::size_t at = page.find("class=\"bar\""); at != page.npos;
         at = page.find("class=\"bar\"", at + 1)) {
      ++out;
    }
    return out;
  };
  EXPECT_EQ(bars(), 2);
  const std::string page = device_comparison_html(c);
  EXPECT_THAT(page,
              has_all({"left out: 4 rows, no time", "<title>gemm bf16 m 1: 2.00, 3 kernels</title>",
                       "time of y.db / time of x.db: right of the line the latter is faster"}));
  c.pairs[0].classes.resize(121, c.pairs[0].classes[0]);
  EXPECT_EQ(bars(), 120);
}

TEST(ShapeClasses, have_both_ends_of_every_edge) {
  const auto of = [](const char* name, std::int64_t size) {
    const Params params = std::string(name) == "context"
                              ? Params{{"new_tokens", 1}, {"context", size}}
                              : Params{{name, size}};
    return shape_class_of({"op", params}).name;
  };
  for (const auto& [size, name] :
       std::map<std::int64_t, std::string>{{65536, "<= 64 KiB"},
                                           {65537, "<= 1 MiB"},
                                           {1 << 20, "<= 1 MiB"},
                                           {(1 << 20) + 1, "<= 64 MiB"},
                                           {64 << 20, "<= 64 MiB"},
                                           {(64 << 20) + 1, "> 64 MiB"}}) {
    EXPECT_EQ(of("bytes", size), "bytes " + name);
  }
  for (const auto& [size, name] : std::map<std::int64_t, std::string>{
           {1024, "<= 1024"}, {1025, "<= 8192"}, {8192, "<= 8192"}, {8193, "> 8192"}}) {
    EXPECT_EQ(of("context", size), "decode, context " + name);
  }
  EXPECT_EQ(of("tokens", 3), "tokens 2-16");
  EXPECT_EQ(of("rows", 300), "rows > 256");
  EXPECT_EQ(of("other", 3), "all");
  EXPECT_EQ(shape_class_of({"op", {{"new_tokens", 1}, {"batch", 4}}}).name, "decode, batch 2-16");
  EXPECT_EQ(shape_class_of({"op", {{"new_tokens", 1}}}).name, "decode, batch 1");
  EXPECT_LT(shape_class_of({"op", {{"new_tokens", 1}, {"context", 9000}}}).rank,
            shape_class_of({"op", {{"new_tokens", 2}, {"context", 9000}}}).rank);
}

// From 0.4 / 1.1 to 2.5 x 1.1 on 330 to 1080: x = 330 + 750 ln(t / 0.3636) / ln(2.75 / 0.3636).
TEST(DevicePicture, has_its_lines_where_its_ratios_are) {
  const DeviceComparison c = compared();
  const std::string page = device_comparison_html(c);
  EXPECT_THAT(page, has_all({
                        "viewBox=\"0 0 1100 98\"",
                        "<line class=\"roof\" x1=\"705\" y1=\"14\" x2=\"705\" y2=\"54\"/>",
                        "x=\"322\" y=\"28\" text-anchor=\"end\">gemm bf16 m 1<",
                        "x=\"322\" y=\"48\" text-anchor=\"end\">norm f32 rows 1<",
                        "<line class=\"bar\" x1=\"855.3\" y1=\"24\" x2=\"1044.7\" y2=\"24\"/>",
                        "<line class=\"bar\" x1=\"365.3\" y1=\"44\" x2=\"515.6\" y2=\"44\"/>",
                        "x=\"705\" y=\"70\" text-anchor=\"middle\">1.00<",
                        "x=\"705\" y=\"88\" text-anchor=\"middle\">time of",
                        "cx=\"448.1\" cy=\"44\" r=\"4\"",
                    }));
}

}  // namespace
}  // namespace halmark::history
