// The looks of a table: widths by hand, what gives way first, and what a cell may hold.
#include <gmock/gmock.h>

#include "report/text/clean_text.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

using testing::ElementsAre;

Table table(std::vector<TableColumn> columns, std::vector<std::vector<std::string>> rows) {
  Table out{.columns = std::move(columns), .rows = {}};
  for (const auto& row : rows) {
    auto& cells = out.rows.emplace_back();
    for (const std::string& text : row) cells.push_back({.text = text, .anchor = {}, .note = {}});
  }
  return out;
}

TEST(TableText, has_two_spaces_while_nothing_gives_way_and_one_from_then_on) {
  const Table t = table({{"name", false}, {"n", true}}, {{"abcdefgh", "1"}, {"ij", "234"}});
  EXPECT_EQ(table_text(t, 13), "name        n\nabcdefgh    1\nij        234\n");
  EXPECT_EQ(table_text(t, 12), "name       n\nabcdefgh   1\nij       234\n");
  EXPECT_EQ(table_text(t, 11), "name      n\nabcdef~   1\nij      234\n");
  EXPECT_EQ(table_text(t, 10), "name     n\nabcde~   1\nij     234\n");
  EXPECT_EQ(table_text(t, 1), table_text(t, 10)) << "six columns stay";
}

TEST(TableText, the_widest_text_gives_way_first_then_numbers) {
  const std::string long_name(20, 'a'), short_name(12, 'b'), number(10, '1');
  const Table t =
      table({{"x", false}, {"y", false}, {"z", true}}, {{long_name, short_name, number}});
  const auto widths = [&](int width) {
    const std::string text = table_text(t, width);
    const std::string row = text.substr(text.find('\n') + 1);
    std::vector<std::size_t> out;
    for (std::size_t at = 0; at < row.size();) {
      const std::size_t end = row.find_first_of(" \n", at);
      out.push_back(end - at);
      at = row.find_first_not_of(" \n", end);
    }
    return out;
  };
  EXPECT_EQ(widths(46), (std::vector<std::size_t>{20, 12, 10})) << "42 and two gaps of two";
  EXPECT_EQ(widths(44), (std::vector<std::size_t>{20, 12, 10}));
  EXPECT_EQ(widths(40), (std::vector<std::size_t>{16, 12, 10}));
  EXPECT_EQ(widths(34), (std::vector<std::size_t>{11, 11, 10}));
  EXPECT_EQ(widths(24), (std::vector<std::size_t>{6, 6, 10}));
  EXPECT_EQ(widths(23), (std::vector<std::size_t>{6, 6, 9}));
  EXPECT_EQ(widths(20), (std::vector<std::size_t>{6, 6, 6}));
  EXPECT_EQ(widths(5), (std::vector<std::size_t>{6, 6, 6}));
}

TEST(TableText, counts_columns_of_the_terminal_and_cleans_its_cells) {
  const std::string han = "\xE6\xBC\xA2";
  const Table t = table({{"a", false}, {"b", true}}, {{han + han, "1"}, {"x\x1b[2J", "2"}});
  EXPECT_EQ(table_text(t, 80), "a      b\n" + han + han + "   1\nx?[2J  2\n");
}

TEST(TableMarkdown, aligns_numbers_to_the_right) {
  const Table t = table({{"a|b", false}, {"n", true}}, {{"x|y", "1"}});
  EXPECT_EQ(table_markdown(t), "| a\\|b | n |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST(TableHtml, names_its_number_columns_from_one_and_links_and_notes_cells) {
  Table t = table({{"a", false}, {"k", true}, {"m", true}}, {{"<x>", "1", "2"}});
  t.rows[0][0].anchor = "here";
  t.rows[0][1].note = "\"why\"";
  EXPECT_EQ(table_html(t, "c & d"),
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"c &amp; d\">"
            "<table class=\"r2 r3\"><thead><tr><th scope=\"col\">a</th>"
            "<th scope=\"col\" class=\"n\">k</th><th scope=\"col\" class=\"n\">m</th></tr></thead>"
            "<tbody>\n<tr><td><a href=\"#here\">&lt;x&gt;</a></td>"
            "<td title=\"&quot;why&quot;\">1</td><td>2</td></tr>\n</tbody></table></div>\n");
}

TEST(TextTableOfATerminal, leaves_columns_out_from_the_right_and_cuts_no_cell) {
  TextTable t({"name", "n", "third", "last"}, {false, true, true, false});
  t.add({"a_rather_long_name", "1", "22", "behind"});
  EXPECT_EQ(t.text(80), t.text());
  EXPECT_EQ(t.text(36),
            "name                n  third  last\n"
            "a_rather_long_name  1     22  behind\n");
  EXPECT_EQ(t.text(30),
            "name                n  third\n"
            "a_rather_long_name  1     22\n"
            "no room in 30 columns for:\n  last\n");
  // What tells rows apart stays, whole, even where it does not fit.
  EXPECT_EQ(t.text(10),
            "name                n\n"
            "a_rather_long_name  1\n"
            "no room in\n  10\n  columns\n  for:\n  third,\n  last\n");
}

// Two columns stay, and a line of a table is never cut: 6 + 1 + 5 columns, one between each.
TEST(FittedText, leaves_out_what_has_no_room_to_the_last_column) {
  const Table t = table({{"aaa", false}, {"bb", true}, {"cc", true}}, {{"abcdef", "1", "12345"}});
  EXPECT_EQ(fitted_text(t, 16).find("no room"), std::string::npos);
  EXPECT_EQ(fitted_text(t, 15).find("no room"), std::string::npos) << "6 + 2 + 5 and two blanks";
  EXPECT_NE(fitted_text(t, 14).find("no room in 14"), std::string::npos);
  EXPECT_NE(fitted_text(t, 14).find("cc"), std::string::npos);
}

Table table_of(const std::vector<std::string>& titles,
               const std::vector<std::vector<std::string>>& rows) {
  Table out;
  for (const std::string& title : titles) out.columns.push_back({title});
  for (const auto& row : rows) {
    auto& cells = out.rows.emplace_back();
    for (const std::string& text : row) cells.push_back({text});
  }
  return out;
}

TEST(StackedTable, what_has_no_room_follows_in_blocks_that_repeat_the_first_column) {
  const Table table = table_of({"id", "one", "two"}, {{"a", "11111", "22222"}, {"b", "3", "4"}});
  EXPECT_EQ(stacked_text(table, 16), "id  one    two\na   11111  22222\nb   3      4\n");
  EXPECT_EQ(stacked_text(table, 15), "id  one\na   11111\nb   3\n\nid  two\na   22222\nb   4\n");
  EXPECT_EQ(stacked_text(table, unlimited_width), stacked_text(table, 16));
}

TEST(StackedTable, a_wide_first_column_is_a_numbered_list) {
  const Table table =
      table_of({"problem", "time"}, {{"gemm m=1 n=1", "5 ms"}, {"gemm m=2 n=1", "6 ms"}});
  EXPECT_EQ(stacked_text(table, 17),
            "problem:\n  1  gemm m=1 n=1\n  2  gemm m=2 n=1\n\n#  time\n1  5 ms\n2  6 ms\n");
}

TEST(StackedTable, a_cell_wider_than_the_terminal_is_wrapped_and_whole) {
  const Table table = table_of({"id", "why"}, {{"a", "one two three four"}, {"b", "five"}});
  EXPECT_EQ(stacked_text(table, 14), "why:\n  a: one two\n    three four\n  b: five\n");
}

TEST(StackedTable, another_column_may_tell_rows_apart) {
  const Table table = table_of({"verdict", "x", "series"}, {{"SAME", "12345678", "s1"}});
  EXPECT_EQ(stacked_text(table, 16, 2),
            "series  verdict\ns1      SAME\n\nseries  x\ns1      12345678\n");
}

TEST(StackedTable, constant_columns_are_said_once_and_a_single_row_keeps_them) {
  Table table = table_of({"id", "kind", "power"}, {{"a", "gpu", "1 W"}, {"b", "gpu", "2 W"}});
  EXPECT_EQ(take_constants(table), "in every row: kind gpu");
  EXPECT_EQ(stacked_text(table, 80), "id  power\na   1 W\nb   2 W\n");
  Table one = table_of({"id", "kind"}, {{"a", "gpu"}});
  EXPECT_EQ(take_constants(one), "");
  EXPECT_EQ(one.columns.size(), 2u);
}

TEST(StackedTable, common_words_leave_what_differs) {
  std::vector<std::string> texts = {"gemm k=1 m=1", "gemm k=1 m=2"};
  EXPECT_EQ(take_common_words(texts), "gemm k=1");
  EXPECT_THAT(texts, ElementsAre("m=1", "m=2"));
  std::vector<std::string> equal = {"gemm", "gemm"};
  EXPECT_EQ(take_common_words(equal), "");
  EXPECT_THAT(equal, ElementsAre("gemm", "gemm"));
}

TEST(StackedTable, build_options_are_shown_where_they_tell_two_apart) {
  EXPECT_THAT(
      short_implementations({"gemm -DM=4 -DN=8 -cl-std=CL1.2", "gemm -DM=8 -DN=8 -cl-std=CL1.2",
                             "copy -DV=1", "gemm_onednn brgemm:avx2"}),
      ElementsAre("gemm M=4", "gemm M=8", "copy", "gemm_onednn brgemm:avx2"));
  EXPECT_THAT(short_implementations({"gemm -DM=4", "gemm -DM=4"}), ElementsAre("gemm", "gemm"));
}

TEST(StackedTable, only_options_give_way_and_only_defines_lose_their_prefix) {
  EXPECT_EQ(implementation_name("gemm - -q -O2 -DM=4 avx2"), "gemm - avx2");
  EXPECT_THAT(short_implementations({"gemm -O2 -DM=4", "gemm -O3 -DM=4"}),
              ElementsAre("gemm -O2", "gemm -O3"));
  EXPECT_EQ(implementation_name(""), "");
}

TEST(StackedTable, figures_stay_though_they_are_equal_and_absent_ones_are_said_once) {
  Table table =
      table_of({"id", "ms", "joule", "kind"}, {{"a", "5", "-", "gpu"}, {"b", "5", "-", "gpu"}});
  table.columns[1].is_number = table.columns[2].is_number = true;
  EXPECT_EQ(take_constants(table, {"kind"}), "in every row: joule -");
  EXPECT_EQ(stacked_text(table, 80), "id  ms  kind\na    5  gpu\nb    5  gpu\n");
}

// Two columns of five and a gap of two are twelve: what fits is left as it is.
TEST(StackedTable, what_fits_to_the_last_column_has_no_key_and_no_list_in_front) {
  const Table table = table_of({"aaaaa", "b"}, {{"1", "22222"}});
  EXPECT_EQ(stacked_text(table, 12, 1), "aaaaa  b\n1      22222\n");
  EXPECT_THAT(stacked_text(table, 11, 1), testing::StartsWith("aaaaa:\n"));
  const Table wide = table_of({"problem", "t"}, {{"gemm m=1 n=1", "5 ms"}});
  EXPECT_EQ(stacked_text(wide, 18), "problem       t\ngemm m=1 n=1  5 ms\n");
  EXPECT_THAT(stacked_text(wide, 17), testing::StartsWith("problem:\n  1  gemm"));
}

}  // namespace
}  // namespace halmark::report
