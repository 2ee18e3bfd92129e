#include "history/google_benchmark.hpp"

#include <gmock/gmock.h>

#include "history/side.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::expect_error;

// As version 1.7.1 writes it, shortened.
std::string entry(const std::string& name, int repetition, double time, const char* unit = "us") {
  return "{\"name\":\"" + name + "\",\"run_name\":\"" + name +
         "\",\"run_type\":\"iteration\",\"repetitions\":3,\"repetition_index\":" +
         std::to_string(repetition) +
         ",\"threads\":1,\"iterations\":100,\"real_time\":" + std::to_string(time) +
         ",\"cpu_time\":1.0,\"time_unit\":\"" + unit + "\"}";
}

std::string file_of(const std::string& entries, const std::string& host = "h",
                    const std::string& build = "release") {
  return "{\"context\":{\"date\":\"2026-11-22T10:00:00+00:00\",\"host_name\":\"" + host +
         "\",\"executable\":\"./bench\",\"num_cpus\":2,\"mhz_per_cpu\":2600,\"caches\":[],"
         "\"library_build_type\":\"" +
         build + "\"},\"benchmarks\":[" + entries + "]}";
}

class GoogleBenchmarkJson : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    halmark::test::write_file(folder_ / name, text);
    return folder_ / name;
  }
  GoogleBenchmarkFile read(const std::string& text) {
    return read_google_benchmark(file("x.json", text));
  }
  halmark::test::ScratchFolder folder_;
};

TEST_F(GoogleBenchmarkJson, repetitions_are_rows_in_nanoseconds) {
  const GoogleBenchmarkFile f = read(file_of(
      entry("BM_a/8", 0, 1.5) + ',' + entry("BM_b", 0, 2, "ms") + ',' + entry("BM_a/8", 1, 1.75) +
      ",{\"name\":\"BM_a/8_mean\",\"run_name\":\"BM_a/8\",\"run_type\":\"aggregate\","
      "\"aggregate_name\":\"mean\",\"real_time\":1.6,\"time_unit\":\"us\"}"));
  ASSERT_EQ(f.series.size(), 2u);
  EXPECT_EQ(f.fingerprint, "h, 2 CPUs, release library");
  EXPECT_EQ(f.series[0].name.what, "BM_a/8");
  ASSERT_EQ(f.series[0].rows.size(), 2u);
  EXPECT_DOUBLE_EQ(f.series[0].rows[1].ns, 1750);
  EXPECT_DOUBLE_EQ(f.series[1].rows[0].ns, 2e6);
}

TEST_F(GoogleBenchmarkJson, two_files_are_two_sides) {
  const auto three = [](double time) {
    return entry("BM_a", 0, time) + ',' + entry("BM_a", 1, time * 1.002) + ',' +
           entry("BM_a", 2, time * 0.998);
  };
  const std::string a = file("a.json", file_of(three(10))), b = file("b.json", file_of(three(11)));
  const Comparison c = compare_sides(load_side(a, ""), load_side(b, ""), {});
  ASSERT_EQ(c.changes.size(), 1u);
  EXPECT_EQ(c.changes[0].change, Change::slower);
  EXPECT_NEAR(*c.changes[0].ratio, 1.1, 1e-6);
  const std::string debug = file("d.json", file_of(three(11), "h", "debug"));
  expect_error([&] { compare_sides(load_side(a, ""), load_side(debug, ""), {}); },
               "different machines: h, 2 CPUs, release library and h, 2 CPUs, debug library");
}

// As the library writes them: family_index tells families of one name apart; older ones have
// repetition_index alone.
TEST_F(GoogleBenchmarkJson, families_of_one_name_are_series_of_their_own) {
  const auto of = [](int family, int repetition, double time) {
    return "{\"name\":\"BM_a\",\"run_name\":\"BM_a\",\"run_type\":\"iteration\"," +
           (family < 0 ? std::string() : "\"family_index\":" + std::to_string(family) + ',') +
           "\"repetition_index\":" + std::to_string(repetition) +
           ",\"real_time\":" + std::to_string(time) + ",\"time_unit\":\"ns\"}";
  };
  for (const std::array<int, 2> family : {std::array{0, 3}, {-1, -1}}) {
    const GoogleBenchmarkFile f =
        read(file_of(of(family[0], 0, 1) + ',' + of(family[0], 1, 2) + ',' + of(family[1], 0, 7) +
                     ',' + of(family[1], 1, 8)));
    ASSERT_EQ(f.series.size(), 2u) << family[0];
    EXPECT_EQ(f.series[0].name.what, "BM_a");
    EXPECT_EQ(f.series[1].name.what, "BM_a (2 of this name)");
    ASSERT_EQ(f.series[0].rows.size(), 2u);
    EXPECT_DOUBLE_EQ(f.series[1].rows[0].ns, 7);
    EXPECT_EQ(f.series[1].rows[1].round, 1);
  }
  // Repetitions of several families may come in turns.
  const GoogleBenchmarkFile mixed =
      read(file_of(of(0, 0, 1) + ',' + of(3, 0, 7) + ',' + of(0, 1, 2) + ',' + of(3, 1, 8)));
  ASSERT_EQ(mixed.series.size(), 2u);
  EXPECT_EQ(mixed.series[0].rows.size(), 2u);
}

TEST_F(GoogleBenchmarkJson, entries_are_accounted_for_and_repetitions_are_no_processes) {
  const std::string failed =
      R"({"name":"BM_a","run_name":"BM_a","run_type":"iteration","error_occurred":true})";
  const std::string mean =
      R"({"name":"BM_a_mean","run_name":"BM_a","run_type":"aggregate","real_time":1})";
  const std::string rows = entry("BM_a", 0, 1.0) + ',' + entry("BM_a", 1, 1.1) + ',' +
                           entry("BM_a", 2, 1.05) + ',' + failed + ',' + mean + ',' + mean;
  const std::string a = file("a.json", file_of(rows));
  const Comparison c = compare_sides(load_side(a, ""), load_side(a, ""), {});
  EXPECT_EQ(c.before.account,
            "3 of 6 entries taken; left out: 2 aggregates, 1 without a valid time");
  EXPECT_EQ(c.changes[0].unit, Unit::repetitions);
  EXPECT_EQ(c.changes[0].units_before, 3);
  EXPECT_EQ(read(file_of(entry("BM_a", 0, 1.0))).account, "1 of 1 entries taken");
}

TEST_F(GoogleBenchmarkJson, a_failed_benchmark_is_a_row_with_its_message) {
  const GoogleBenchmarkFile f =
      read(file_of("{\"name\":\"BM_a\",\"run_name\":\"BM_a\",\"run_type\":\"iteration\","
                   "\"error_occurred\":true,\"error_message\":\"no device\"}"));
  EXPECT_EQ(f.series.at(0).rows.at(0).fault, "no device");
}

TEST_F(GoogleBenchmarkJson, what_is_none_is_refused) {
  for (const auto& [text, reason] : std::map<std::string, std::string>{
           {"[]", "no JSON of Google Benchmark"},
           {"{\"context\":{}}", "with the keys 'context', not the JSON of Google Benchmark"},
           {"{\"context\":", "x.json:1:"},
           {file_of(""), "only aggregates or nothing"},
           {file_of("3"), "benchmarks[0]"},
           {file_of(entry("a", 0, 1, "fortnight")), "'fortnight'"},
           {file_of(R"({"name":"a","real_time":"1","time_unit":"ns"})"), "no real_time"},
           {file_of(R"({"real_time":1,"time_unit":"ns"})"), "without a name"}}) {
    SCOPED_TRACE(text);
    expect_error([&] { read(text); }, reason, ExitCode::refused);
  }
}

TEST_F(GoogleBenchmarkJson, rows_have_their_round_and_the_program_and_names_of_their_own) {
  const GoogleBenchmarkFile f = read(file_of(
      entry("BM_a", 0, 2, "s") + ',' + entry("BM_a", 1, 3, "ns") +
      ",{\"name\":\"alone\",\"real_time\":0.0,\"time_unit\":\"ns\",\"error_occurred\":false}"));
  ASSERT_EQ(f.series.size(), 2u);
  EXPECT_DOUBLE_EQ(f.series[0].rows[0].ns, 2e9);
  EXPECT_DOUBLE_EQ(f.series[0].rows[1].ns, 3);
  EXPECT_EQ(f.series[0].rows[0].round, 0);
  EXPECT_EQ(f.series[0].rows[1].round, 1);
  EXPECT_EQ(f.series[0].rows[1].build, "./bench");
  EXPECT_EQ(f.series[0].name.fingerprint, f.fingerprint);
  EXPECT_EQ(f.series[1].name.what, "alone");
  EXPECT_EQ(f.series[1].rows[0].fault, "its time is not positive");
  EXPECT_EQ(f.series[1].rows[0].ns, 0);
}

TEST_F(GoogleBenchmarkJson, what_the_context_does_not_say_is_left_out) {
  const auto of = [&](const std::string& context) {
    return read("{\"context\":{" + context + "},\"benchmarks\":[" + entry("a", 0, 1) + "]}")
        .fingerprint;
  };
  EXPECT_EQ(of(""), "unknown host");
  EXPECT_EQ(of("\"host_name\":\"h\""), "h");
  EXPECT_EQ(of("\"host_name\":\"h\",\"num_cpus\":\"2\""), "h");
  EXPECT_EQ(of("\"num_cpus\":8"), "unknown host, 8 CPUs");
  EXPECT_EQ(of("\"host_name\":\"h\",\"library_build_type\":\"debug\""), "h, debug library");
  EXPECT_EQ(read(file_of("{\"name\":\"a\",\"error_occurred\":true}")).series[0].rows[0].fault,
            "the benchmark failed");
}

TEST_F(GoogleBenchmarkJson, a_time_below_zero_is_none) {
  const GoogleBenchmarkFile f = read(file_of(entry("a", 0, -5) + ',' + entry("a", 1, 2)));
  EXPECT_EQ(f.series.at(0).rows.at(0).ns, 0);
  EXPECT_EQ(f.series.at(0).rows.at(0).fault, "its time is not positive");
  EXPECT_EQ(f.series.at(0).rows.at(1).ns, 2000);
}

}  // namespace
}  // namespace halmark::history
