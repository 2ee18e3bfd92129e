// What halmark export hands to other tools, opened by the readers of those tools where they are
// installed: the same kernels and fronts in every format.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

// The databases and what is asked of them: kernels, a measured front, a served one.
struct Subject {
  std::string database;
  Arguments more;
};
const std::map<std::string, Subject> subjects = {
    {"kernels", {"m.db", {}}}, {"front", {"m.db", {"--front"}}}, {"served", {"s.db", {"--front"}}}};

class ExchangeReaders : public HalmarkTest {
 protected:
  void search() const {
    tiny_sweep("fake", "shards = [1]");
    write("s.toml", served_sweep);
    tune_tiny("m.db");
    ASSERT_EQ(halmark({"tune", "s.toml", "--db", "s.db"}).exit_code, 0);
  }

  Outcome exported(const std::string& subject, const std::string& as,
                   const std::string& file) const {
    Arguments arguments = {"export", "--db", subjects.at(subject).database, "--as", as,
                           "--out",  file};
    const Arguments& more = subjects.at(subject).more;
    arguments.insert(arguments.end(), more.begin(), more.end());
    Outcome out = halmark(arguments);
    EXPECT_EQ(out.exit_code, 0) << out.err;
    return out;
  }

  Json read_by(const std::string& python, const std::string& kind, const std::string& file) const {
    Launch launch = base_;
    launch.arguments = {python, "-B", test::in_source("/tests/integration/exchange/read.py"), kind,
                        path(file)};
    const Outcome o = run(launch);
    EXPECT_EQ(o.exit_code, 0) << o.err;
    return o.exit_code == 0 ? Json::parse(o.out) : Json::array();
  }

  Json csv_of(const std::string& python, const std::string& subject) const {
    exported(subject, "csv", subject + ".csv");
    return read_by(python, "csv", subject + ".csv");
  }
};

// Cases and metrics alike; values to the digits that a text has.
void expect_same_rows(const Json& rows, const Json& csv) {
  ASSERT_GT(csv.size(), 0u);
  ASSERT_EQ(rows.size(), csv.size());
  for (std::size_t i = 0; i < csv.size(); ++i) {
    EXPECT_EQ(rows[i][0], csv[i][0]);
    EXPECT_EQ(rows[i][1], csv[i][1]) << csv[i][0];
    const double value = csv[i][2];
    EXPECT_NEAR(rows[i][2].get<double>(), value, 1e-9 * std::abs(value)) << csv[i];
  }
}

double value_of(const Json& csv, const std::string& name, const std::string& metric) {
  for (const Json& row : csv) {
    if (row[0] == name && row[1] == metric) return row[2];
  }
  ADD_FAILURE() << name << ' ' << metric;
  return 0;
}

std::size_t rows_of(const Json& csv, const std::string& metric) {
  return static_cast<std::size_t>(
      std::ranges::count_if(csv, [&](const Json& row) { return row[1] == metric; }));
}

// The slices of a track that are in no other one.
std::vector<Json> outermost(const Json& track) {
  std::vector<Json> out;
  for (const Json& slice : track[2]) {
    if (slice["depth"] == 0) out.push_back(slice);
  }
  return out;
}

double sum_of(const std::vector<Json>& slices) {
  double out = 0;
  for (const Json& slice : slices) out += slice["duration"].get<double>();
  return out;
}

struct TableFormat {
  const char *name, *modules;
};

class ExchangeTables : public ExchangeReaders, public testing::WithParamInterface<TableFormat> {};

TEST_P(ExchangeTables, have_the_values_of_every_kernel_and_point) {
  const auto python = test::python_with(GetParam().modules);
  if (!python) GTEST_SKIP() << "no Python with " << GetParam().modules;
  search();
  for (const auto& [subject, place] : subjects) {
    SCOPED_TRACE(subject);
    const Json csv = csv_of(*python, subject);
    const std::string file = subject + '.' + GetParam().name;
    exported(subject, GetParam().name, file);
    expect_same_rows(read_by(*python, GetParam().name, file), csv);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Readers, ExchangeTables,
    testing::Values(TableFormat{"parquet", "pyarrow.parquet"},
                    TableFormat{"prometheus", "prometheus_client"},
                    TableFormat{"otlp",
                                "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ExchangeReaders, a_trace_of_kernels_has_each_measured_row_and_each_kernel) {
  const auto python = test::python_with("perfetto.protos.perfetto.trace.perfetto_trace_pb2");
  if (!python) GTEST_SKIP() << "no Python with perfetto";
  search();
  const Json csv = csv_of(*python, "kernels");
  exported("kernels", "perfetto", "k.pftrace");
  std::size_t kernels = 0, rows = 0;
  for (const Json& track : read_by(*python, "perfetto", "k.pftrace")) {
    const std::vector<Json> slices = outermost(track);
    if (track[1] == "what was measured") rows = slices.size();
    if (track[1] != "one execution of each kernel") continue;
    kernels += slices.size();
    for (const Json& slice : slices) {
      const double ns = value_of(csv, slice["notes"]["case"], "duration_ns");
      EXPECT_EQ(slice["notes"]["duration_ns"], ns);
      EXPECT_NEAR(slice["duration"].get<double>(), ns, 1) << slice;  // begin and end are whole ns
    }
  }
  EXPECT_EQ(kernels, rows_of(csv, "duration_ns"));
  EXPECT_EQ(static_cast<std::int64_t>(rows),
            sql_count(path("m.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'"));
}

TEST_F(ExchangeReaders, a_trace_of_a_front_has_its_steps_operators_and_requests) {
  const auto python = test::python_with("perfetto.protos.perfetto.trace.perfetto_trace_pb2");
  if (!python) GTEST_SKIP() << "no Python with perfetto";
  search();
  for (const std::string subject : {"front", "served"}) {
    const Json csv = csv_of(*python, subject);
    exported(subject, "perfetto", subject + ".pftrace");
    const Json tracks = read_by(*python, "perfetto", subject + ".pftrace");
    EXPECT_EQ(tracks.size(), subject == "front" ? 2 * rows_of(csv, "latency_ns")
                                                : rows_of(csv, "request_latency_ns"));
    for (const Json& track : tracks) {
      const std::string group = track[1];
      const std::string point = group.substr(group.find(": ") + 2);
      // A step is the sum of its operators, a request that of its tokens.
      const double ns =
          value_of(csv, point, subject == "front" ? "latency_ns" : "request_latency_ns");
      const std::vector<Json> slices = outermost(track);
      EXPECT_NEAR(sum_of(slices), ns, 1e-6 * ns + static_cast<double>(slices.size())) << group;
    }
  }
}

TEST_F(ExchangeReaders, optuna_finds_the_same_front_in_either_storage) {
  const auto python = test::python_with("optuna");
  if (!python) GTEST_SKIP() << "no Python with optuna";
  search();
  for (const std::string subject : {"kernels", "front", "served"}) {
    const Json csv = csv_of(*python, subject);
    exported(subject, "optuna", subject + ".log");
    exported(subject, "optuna", subject + ".optuna.db");
    const Json studies = read_by(*python, "optuna", subject + ".log");
    EXPECT_EQ(studies, read_by(*python, "optuna", subject + ".optuna.db"));
    ASSERT_EQ(studies.size(), 1u) << subject;
    const Json& study = studies[0];
    if (subject == "kernels") {
      ASSERT_EQ(study["trials"].size(), rows_of(csv, "duration_ns"));
      for (const Json& trial : study["trials"]) {
        EXPECT_EQ(trial["values"][0], value_of(csv, trial["user"]["halmark:case"], "duration_ns"));
      }
      continue;
    }
    // Optuna compares all trials itself.
    const std::string metric = subject == "front" ? "latency_ns" : "ttft_ns";
    EXPECT_EQ(study["front"].size(), rows_of(csv, metric)) << subject;
    EXPECT_GE(study["trials"].size(), study["front"].size());
    for (const Json& number : study["front"]) {
      const Json& trial = study["trials"][number.get<std::size_t>()];
      const std::string point = trial["user"]["halmark:deployment"];
      EXPECT_NEAR(trial["values"][0].get<double>() * 1e6, value_of(csv, point, metric), 1e-3);
    }
  }
}

TEST_F(ExchangeReaders, the_compare_tool_of_google_benchmark_opens_two_runs) {
  const char* const tool = "/usr/share/benchmark/compare.py";
  if (!std::filesystem::exists(tool)) GTEST_SKIP() << "no " << tool << " (libbenchmark-tools)";
  const auto python = test::python_with("scipy.stats");
  if (!python) GTEST_SKIP() << "no Python with scipy, which compare.py wants";
  search();
  tune_tiny("n.db");
  exported("kernels", "gbench", "before.json");
  const Outcome again =
      halmark({"export", "--db", "n.db", "--as", "gbench", "--out", "after.json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  Launch launch = base_;
  launch.arguments = {*python,
                      "-B",
                      tool,
                      "--no-color",
                      "-d",
                      path("compared.json"),
                      "benchmarks",
                      path("before.json"),
                      path("after.json")};
  const Outcome o = run(launch);
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const Json csv = csv_of(*python, "kernels");
  std::size_t compared = 0;
  for (const Json& row : Json::parse(read("compared.json"))) {
    if (row["run_type"] != "iteration") continue;  // the last one is the geometric mean of all
    ++compared;
    const Json& figures = row["measurements"][0];
    EXPECT_EQ(figures["real_time"], value_of(csv, row["name"], "duration_ns"));
    const double before = figures["real_time"], after = figures["real_time_other"];
    EXPECT_NEAR(figures["time"].get<double>(), (after - before) / before, 1e-9);
  }
  EXPECT_EQ(compared, rows_of(csv, "duration_ns"));
}

}  // namespace
}  // namespace halmark::integration
