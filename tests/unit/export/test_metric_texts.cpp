// Every format of other tools written out for one kernel and one point.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "export/exchange/exchange.hpp"
#include "small_deployment.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/full_values.hpp"

namespace halmark::exports {
namespace {

using test::HasValues;
using testing::ElementsAre;

MetricTable one_kernel() {
  RunReport report{.title = "small",
                   .command = "halmark bench",
                   .started_utc = "2026-11-21T04:17:27Z",
                   .tool = "halmark 9",
                   .fingerprint = "cpu-1"};
  KernelPoint k{
      .key = "gemm \"a\"", .op = "gemm", .place = "cpu:0", .status = Status::ok, .rounds = 3};
  k.duration_ns = 2000, k.low_ns = 1900, k.high_ns = 2100;
  k.matmul_flops = 4000, k.bytes = 1000, k.mfu = 0.5;
  report.kernels = {k};
  return kernel_rows(report, {});
}

TEST(MetricTexts, rows_of_kernels_have_their_figures_in_order) {
  const MetricTable t = one_kernel();
  EXPECT_EQ(t.title, "small");
  EXPECT_EQ(t.origin, "halmark bench");
  EXPECT_EQ(t.tool, "halmark 9");
  EXPECT_TRUE(t.is_of_kernels);
  const MetricRow& row = t.rows.at(0);
  EXPECT_EQ(row.provenance, "measured");
  EXPECT_EQ(row.status, "ok");
  EXPECT_EQ(row.processes, 3);
  std::vector<std::string> names;
  for (const Metric& m : row.metrics) {
    names.push_back(m.name + (m.is_bigger_better ? " up" : " down"));
  }
  EXPECT_THAT(names,
              ElementsAre("duration_ns down", "flops_per_s up", "bytes_per_s up", "mfu_ratio up"));
  EXPECT_EQ(row.metrics[0].low, 1900);
  EXPECT_EQ(row.metrics[0].high, 2100);
  EXPECT_EQ(row.metrics[3].value, 0.5);
}

TEST(MetricTexts, a_kernel_without_a_time_or_work_has_no_rate) {
  RunReport report;
  KernelPoint k{.key = "k", .status = Status::ok};
  report.kernels = {k};
  EXPECT_EQ(kernel_rows(report, {}).left.at("ok"), 1) << "no duration";
  report.kernels[0].status = Status::out_of_memory;
  EXPECT_EQ(kernel_rows(report, {}).left.at("out_of_memory"), 1);
  report.kernels[0].status = Status::ok;
  report.kernels[0].duration_ns = 0;
  EXPECT_TRUE(kernel_rows(report, {}).rows.empty());
  report.kernels[0].duration_ns = 0.5;
  EXPECT_EQ(kernel_rows(report, {}).rows.at(0).metrics.size(), 1u) << "no FLOPs, no bytes, no MFU";
}

TEST(MetricTexts, an_empty_table_and_another_format_are_refused) {
  test::expect_error([] { exchange_files("csv", {}); }, "", ExitCode::refused);
  test::expect_error([] { exchange_files("xls", one_kernel()); }, "csv");
}

TEST(MetricTexts, csv_has_a_line_for_each_figure) {
  EXPECT_EQ(metrics_csv(one_kernel()),
            "name,op,device,status,provenance,processes,metric,value,low,high,interval_reason\r\n"
            "\"gemm \"\"a\"\"\",gemm,cpu:0,ok,measured,3,duration_ns,2000,1900,2100,\r\n"
            "\"gemm \"\"a\"\"\",gemm,cpu:0,ok,measured,3,flops_per_s,2e+09,,,no interval is "
            "known\r\n"
            "\"gemm \"\"a\"\"\",gemm,cpu:0,ok,measured,3,bytes_per_s,5e+08,,,no interval is "
            "known\r\n"
            "\"gemm \"\"a\"\"\",gemm,cpu:0,ok,measured,3,mfu_ratio,0.5,,,no interval is known\r\n");
}

TEST(MetricTexts, prometheus_has_a_family_for_each_figure) {
  const auto family = [](const std::string& name, const std::string& value) {
    return "# HELP halmark_kernel_" + name + " Of one execution of a kernel by halmark.\n# TYPE " +
           "halmark_kernel_" + name + " gauge\nhalmark_kernel_" + name +
           "{case=\"gemm \\\"a\\\"\",device=\"cpu:0\",provenance=\"measured\"} " + value + '\n';
  };
  EXPECT_EQ(prometheus_text(one_kernel()),
            family("duration_seconds", "2e-06") + family("flops_per_second", "2e+09") +
                family("bytes_per_second", "5e+08") + family("mfu_ratio", "0.5"));
  MetricTable two{.rows = {{.name = "a\nb\\", .metrics = {{.name = "memory_bytes", .value = 1}}},
                           {.name = "c", .metrics = {{.name = "memory_bytes", .value = 2}}}}};
  EXPECT_EQ(prometheus_text(two),
            "# HELP halmark_deployment_memory_bytes Of a point of a front by halmark.\n"
            "# TYPE halmark_deployment_memory_bytes gauge\n"
            "halmark_deployment_memory_bytes{case=\"a\\nb\\\\\",device=\"\",provenance=\"\"} 1\n"
            "halmark_deployment_memory_bytes{case=\"c\",device=\"\",provenance=\"\"} 2\n");
}

TEST(MetricTexts, google_benchmark_has_counters_beside_its_times) {
  const Json out = Json::parse(gbench_text(one_kernel()));
  EXPECT_THAT(out, HasValues(R"({"/benchmarks/0": {"name": "gemm \"a\"", "family_index": 0,
      "per_family_instance_index": 0, "run_name": "gemm \"a\"", "run_type": "iteration",
      "repetitions": 1, "repetition_index": 0, "threads": 1, "iterations": 3, "real_time": 2000.0,
      "cpu_time": 2000.0, "time_unit": "ns", "flops_per_s": 2e9, "bytes_per_s": 5e8,
      "mfu_ratio": 0.5}, "/context": {"date": "2026-11-21T04:17:27Z", "host_name": "cpu-1",
      "executable": "halmark 9", "num_cpus": 1, "mhz_per_cpu": 0, "cpu_scaling_enabled": false,
      "caches": [], "load_avg": [], "library_version": "halmark 9",
      "library_build_type": "release", "json_schema_version": 1,
      "halmark_origin": "halmark bench"}})"));
  MetricTable unmeasured{.rows = {{.name = "a", .metrics = {{.name = "ttft_ns", .value = 1}}},
                                  {.name = "b", .metrics = {{.name = "latency_ns", .value = 2}}}}};
  const Json rows = Json::parse(gbench_text(unmeasured))["benchmarks"];
  ASSERT_EQ(rows.size(), 1u) << "a row without the time of one execution is none";
  EXPECT_THAT(rows, HasValues(R"({"/0/family_index": 1, "/0/iterations": 1,
      "/0/real_time": 2.0})"));
}

TEST(MetricTexts, actions_get_units_and_half_the_width_of_intervals) {
  const Json smaller = Json::parse(gha_text(one_kernel(), false));
  EXPECT_EQ(smaller, Json::parse(R"([{"name": "gemm \"a\" duration_ns", "unit": "ns",
      "value": 2000.0, "range": "± 5 %", "extra": "device cpu:0, measured, halmark bench"}])"));
  const Json bigger = Json::parse(gha_text(one_kernel(), true));
  ASSERT_EQ(bigger.size(), 3u);
  EXPECT_THAT(bigger, HasValues(R"({"/0/unit": "FLOP/s", "/1/unit": "bytes/s",
      "/2/unit": "1"})"));
  EXPECT_FALSE(bigger[0].contains("range"));
  const auto unit = [](const std::string& name) {
    const MetricTable t{.rows = {{.metrics = {{.name = name, .value = 0, .low = 0, .high = 1}}}}};
    const Json out = Json::parse(gha_text(t, false))[0];
    EXPECT_FALSE(out.contains("range")) << "of nothing";
    return out["unit"].get<std::string>();
  };
  EXPECT_EQ(unit("memory_bytes"), "bytes");
  EXPECT_EQ(unit("energy_j_per_token"), "J/token");
  EXPECT_EQ(unit("tokens_per_s"), "tokens/s");
  EXPECT_EQ(unit("tokens_per_s_per_device"), "tokens/s");
  EXPECT_EQ(unit("usd_per_million_tokens"), "USD/M tokens");
  EXPECT_EQ(unit("other"), "1");
}

TEST(MetricTexts, bencher_calls_the_time_latency) {
  EXPECT_EQ(Json::parse(bmf_text(one_kernel())), Json::parse(R"({"gemm \"a\"": {
                "latency": {"value": 2000.0, "lower_value": 1900.0, "upper_value": 2100.0},
                "flops_per_s": {"value": 2e9}, "bytes_per_s": {"value": 5e8},
                "mfu_ratio": {"value": 0.5}}})"));
}

TEST(MetricTexts, otlp_has_units_and_what_the_figures_are_of) {
  const Json resource = Json::parse(otlp_text(one_kernel()))["resourceMetrics"][0];
  std::map<std::string, std::string> about;
  for (const Json& a : resource["resource"]["attributes"]) {
    about[a["key"]] = a["value"]["stringValue"];
  }
  EXPECT_THAT(about, HasValues(R"({"/service.name": "halmark",
      "/halmark.fingerprint": "cpu-1", "/halmark.tool": "halmark 9", "/halmark.title": "small",
      "/halmark.origin": "halmark bench"})"));
  std::vector<std::string> lines;
  for (const Json& m : resource["scopeMetrics"][0]["metrics"]) {
    const Json& point = m["gauge"]["dataPoints"][0];
    lines.push_back(m["name"].get<std::string>() + " | " + m["unit"].get<std::string>() + " | " +
                    m["description"].get<std::string>() + " | " +
                    (point.contains("asInt") ? point["asInt"] : point["asDouble"]).dump());
  }
  EXPECT_THAT(
      lines,
      ElementsAre("halmark.kernel.duration | ns | less is better | 2000.0",
                  "halmark.kernel.duration.low | ns | end of the interval of duration | 1900.0",
                  "halmark.kernel.duration.high | ns | end of the interval of duration | 2100.0",
                  "halmark.kernel.flops_per_s | {FLOP}/s | more is better | 2000000000.0",
                  "halmark.kernel.bytes_per_s | By/s | more is better | 500000000.0",
                  "halmark.kernel.mfu | 1 | more is better | 0.5",
                  "halmark.kernel.processes | {process} | processes that the figure rests on | "
                  "\"3\""));
  const Json labels =
      resource["scopeMetrics"][0]["metrics"][0]["gauge"]["dataPoints"][0]["attributes"];
  ASSERT_EQ(labels.size(), 5u);
  EXPECT_THAT(labels, HasValues(R"({"/0/key": "case", "/4/value/stringValue": "measured"})"));
}

TEST(MetricTexts, otlp_units_follow_from_names_and_fractions_are_cut_at_nanoseconds) {
  const auto metric = [](const std::string& name, const std::string& time) {
    MetricTable t{.started_utc = time};
    t.rows = {{.metrics = {{.name = name, .value = 1}}}, {.metrics = {{.name = name, .value = 2}}}};
    const Json all = Json::parse(otlp_text(t))["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    EXPECT_EQ(all.size(), 1u) << "one gauge of each name";
    EXPECT_EQ(all[0]["gauge"]["dataPoints"].size(), 2u);
    return all[0]["name"].get<std::string>().substr(19) + ' ' + all[0]["unit"].get<std::string>() +
           ' ' + all[0]["gauge"]["dataPoints"][0]["timeUnixNano"].get<std::string>();
  };
  const std::string second = "1970-01-01 00:00:01";
  EXPECT_EQ(metric("memory_bytes", second), "memory By 1000000000");
  EXPECT_EQ(metric("energy_j_per_token", second), "energy_j_per_token J/{token} 1000000000");
  EXPECT_EQ(metric("usd_per_million_tokens", second),
            "usd_per_million_tokens {USD}/{million_tokens} 1000000000");
  EXPECT_EQ(metric("tokens_per_s_per_device", second),
            "tokens_per_s_per_device {token}/s 1000000000");
  EXPECT_EQ(metric("other", second), "other 1 1000000000");
  EXPECT_EQ(metric("other", "1970-01-01T00:00:00.0000000019Z"), "other 1 1");
  EXPECT_EQ(metric("other", "1970-01-01 00:00:00.5"), "other 1 500000000");
  // date -u +%s
  EXPECT_EQ(metric("other", "2026-11-21T04:17:27Z"), "other 1 1795234647000000000");
}

TEST(MetricTexts, rows_of_a_front_have_the_objectives_of_each_point) {
  SearchedFront front{.origin = "run 1", .title = "t", .model = "small", .device = "h200"};
  Evaluation step = test::full_evaluation();
  front.points = {step, test::small_deployment({}).point};
  const MetricTable t = front_rows(front);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_FALSE(t.is_of_kernels);
  EXPECT_EQ(t.rows[0].op, "prefill");
  EXPECT_EQ(t.rows[0].provenance, "interpolated");
  EXPECT_EQ(t.rows[0].device, "h200");
  EXPECT_EQ(t.rows[1].op, "requests");
  EXPECT_EQ(t.rows[1].provenance, "priced");
  std::map<std::string, const Metric*> of_step;
  for (const Metric& m : t.rows[0].metrics) of_step[m.name] = &m;
  EXPECT_EQ(of_step.at("latency_ns")->value, 1e6 + 0.5);
  EXPECT_EQ(of_step.at("latency_ns")->low, 9e5);
  EXPECT_EQ(of_step.at("latency_ns")->high, 1.2e6);
  EXPECT_FALSE(of_step.at("latency_ns")->is_bigger_better);
  EXPECT_EQ(of_step.at("tokens_per_s")->value, 1234.5);
  EXPECT_TRUE(of_step.at("tokens_per_s")->is_bigger_better);
  EXPECT_FALSE(of_step.at("tokens_per_s")->low);
}

TEST(MetricTexts, names_of_objectives_end_in_their_unit) {
  std::vector<std::string> names;
  for (const ObjectiveRow& row : objective_rows()) names.push_back(metric_name(row));
  EXPECT_THAT(names, ElementsAre("latency_ns", "tokens_per_s", "memory_bytes", "ttft_ns", "tpot_ns",
                                 "request_latency_ns", "tokens_per_s", "tokens_per_s_per_device",
                                 "energy_j_per_token", "usd_per_million_tokens", "mfu_ratio",
                                 "interactivity_tokens_per_s"));
}

TEST(MetricTexts, files_of_formats_have_names_that_their_tools_know) {
  MetricTable t = one_kernel();
  t.study = [] { return std::string("a study"); };
  std::vector<std::string> names;
  for (const std::string& format : exchange_names()) {
    for (const TextFile& file : exchange_files(format, t)) {
      names.push_back(format + ' ' + file.name);
      EXPECT_FALSE(file.text.empty()) << format;
    }
  }
  EXPECT_THAT(names, ElementsAre("gbench gbench.json", "gha gha-smaller.json",
                                 "gha gha-bigger.json", "bmf bmf.json", "csv metrics.csv",
                                 "prometheus halmark.prom", "parquet metrics.parquet",
                                 "otlp otlp.json", "perfetto halmark.pftrace", "optuna study.log"));
  EXPECT_EQ(exchange_files("gha", t)[1].text, gha_text(t, true));
  const std::string parquet = metrics_parquet(t);
  EXPECT_EQ(parquet.substr(0, 4), "PAR1");
  for (const char* const column : {"name", "processes", "interval", "value", "low", "high"}) {
    EXPECT_EQ(parquet.find(column) != std::string::npos, std::string(column) != "interval");
  }
}

}  // namespace
}  // namespace halmark::exports
