#include "latency/imported/table_layout.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using test::error_of;

constexpr std::string_view own = R"(
op = "gemm"
time = "t"
unit = "us"
series = ["lib"]
[[parameter]]
name = "m"
column = "rows"
offset = 1
[[parameter]]
name = "n"
value = "8"
[[parameter]]
name = "k"
value = "16"
[[parameter]]
name = "src_dtype"
column = "type"
[[parameter]]
name = "wei_dtype"
column = "type"
[[parameter]]
name = "dst_dtype"
value = "f32"
)";

std::string refusal_of(const std::string& text) {
  return error_of([&] { parse_layout(text, "l.toml"); }).line();
}

TEST(TableLayout, a_file_names_columns_constants_and_the_unit) {
  const CsvTable csv = CsvTable::parse("lib,rows,type,t\nx,3,f32,2.5\n", "t.csv");
  EXPECT_TRUE(known_layouts(csv).empty());
  const ImportedTable table = kernel_table(csv, {parse_layout(own, "l.toml")});
  ASSERT_EQ(table.series.size(), 1u);
  EXPECT_EQ(table.series[0].identity.text(), "gemm f32 x");
  const LatencyPoint point = point_of(table);
  // the contract's default
  expect_params(point.problem.params, {{"m", 4}, {"n", 8}, {"wei_trans", 0}});
  EXPECT_DOUBLE_EQ(point.ns, 2500);
}

TEST(TableLayout, a_required_parameter_that_nobody_gives_is_refused_with_the_row) {
  std::string text(own);
  text.resize(text.find("[[parameter]]\nname = \"dst_dtype\""));
  const CsvTable csv = CsvTable::parse("lib,rows,type,t\nx,3,f32,2.5\n", "t.csv");
  refuses([&] { kernel_table(csv, {parse_layout(text, "l.toml")}); },
          "t.csv:2: no value for dst_dtype");
}

TEST(TableLayout, faults_name_file_and_line) {
  says(refusal_of("op = \"gem\"\ntime = \"t\"\nunit = \"us\"\n"), "l.toml:1");
  says(refusal_of("op = \"gemm\"\ntime = \"t\"\nunit = \"h\"\n"), "l.toml:3");
  says(refusal_of("op = \"gemm\"\ntime = \"t\"\nunit = \"us\"\n"), "no [[parameter]]");
  says(refusal_of("op = \"gemm\"\ntime = \"t\"\nunit = \"us\"\n[[parameter]]\nname = \"q\"\n"
                  "value = \"1\"\n"),
       "l.toml:5");
  says(refusal_of("op = \"gemm\"\ntime = \"t\"\nunit = \"us\"\n[[parameter]]\nname = \"m\"\n"),
       "either column or value");
}

}  // namespace
}  // namespace halmark
