// The quick reader says of every row what the whole value says.
#include "journal/rows/row_figures.hpp"

#include <gtest/gtest.h>

#include "core/json/json.hpp"
#include "journal_fixture.hpp"

namespace halmark::journal {
namespace {

void expect_same(const Measurement& row) {
  const Measurement read = figures_from(dump_json(Json(row)));
  EXPECT_EQ(read.kernel_case.backend, row.kernel_case.backend);
  EXPECT_EQ(read.kernel_case.device, row.kernel_case.device);
  EXPECT_EQ(read.round, row.round);
  EXPECT_EQ(read.status, row.status);
  EXPECT_EQ(read.reason, row.reason);
  EXPECT_EQ(read.plugin_name, row.plugin_name);
  EXPECT_EQ(read.plugin_version, row.plugin_version);
  EXPECT_EQ(read.plugin_build, row.plugin_build);
  EXPECT_EQ(read.plugin_hash, row.plugin_hash);
  EXPECT_EQ(read.duration_ns_median, row.duration_ns_median);
  EXPECT_EQ(read.bandwidth.before, row.bandwidth.before);
  EXPECT_EQ(read.bandwidth.after, row.bandwidth.after);
  EXPECT_EQ(read.clock_hz_before, row.clock_hz_before);
  EXPECT_EQ(read.clock_hz_after, row.clock_hz_after);
}

TEST(RowFigures, are_those_of_the_whole_row) {
  Measurement row = test::numbered_measurement(1);
  row.reason = "a \"quoted\" reason, \n, \\ and \u00e9";
  row.bandwidth.before = 7e10;
  row.bandwidth.after = std::nullopt;
  row.clock_hz_after = 3'700'000'000.0;
  expect_same(row);
  row.duration_ns_median = 100;  // stands as a whole number
  expect_same(row);
  expect_same(test::numbered_measurement(2, 0));
}

// Names of fields elsewhere: labels and parameters of a kernel, a signal, an implementation.
TEST(RowFigures, are_not_taken_from_elsewhere) {
  Measurement row = test::numbered_measurement(1);
  row.kernel_case.config.labels.emplace_back("status", "crashed");
  row.kernel_case.config.params.set("duration_ns_median", 1);
  row.kernel_case.kernel = "reason";
  row.kernel_case.problem.params.set("round", 9);
  row.signals.push_back({"status", 5.0, "duration_ns_median"});
  row.implementation.name = "plugin";
  expect_same(row);
}

TEST(RowFigures, of_what_is_no_measurement_are_refused) {
  for (const char* body :
       {"", "[", "{}", "[1]", "7", R"({"status": "ok"})", R"({"duration_ns_median": 1})",
        R"({"status": "x", "duration_ns_median": 1})",
        R"({"a": {"status": "ok", "duration_ns_median": 1}})",
        R"({"status": "ok", "duration_ns_median": 1)"}) {
    EXPECT_ANY_THROW(figures_from(body)) << body;
  }
}

// At every place but its own, a key of a figure says nothing.
TEST(RowFigures, are_read_at_their_own_place_alone) {
  const Measurement read = figures_from(R"({
      "a": [{"status": "crashed"}, "reason", 5], "round": 4, "reason": "why",
      "clock_hz_before": 1e9, "clock_hz_after": 2e9, "bandwidth_before": 3e9, "bandwidth_after": 4e9,
      "backend": "x", "device": "x", "name": "x", "version": "x", "build": "x", "hash": "x",
      "case": {"backend": "cpu", "device": "1", "name": "x", "version": "x", "build": "x",
               "hash": "x", "reason": "x", "status": "crashed", "round": 9,
               "problem": {"backend": "x", "device": "x", "duration_ns_median": 9}},
      "plugin": {"name": "p", "version": "2", "build": "b", "hash": "h", "backend": "x",
                 "device": "x", "reason": "x", "list": ["x"],
                 "of": [{"name": "x", "version": "x"}]},
      "other": {"backend": "x", "device": "x", "name": "x", "hash": "x", "clock_hz_before": 9,
                "bandwidth_after": 9},
      "samples": [9, [9], {"round": 9}], "flag": true, "nothing": null,
      "duration_ns_median": -7, "status": "suspect"})");
  EXPECT_EQ(read.kernel_case.backend, "cpu");
  EXPECT_EQ(read.kernel_case.device, "1");
  EXPECT_EQ(read.plugin_name, "p");
  EXPECT_EQ(read.plugin_version, "2");
  EXPECT_EQ(read.plugin_build, "b");
  EXPECT_EQ(read.plugin_hash, "h");
  EXPECT_EQ(read.reason, "why");
  EXPECT_EQ(read.round, 4);
  EXPECT_EQ(read.status, Status::suspect);
  EXPECT_EQ(read.duration_ns_median, -7);
  EXPECT_EQ(read.clock_hz_before, 1e9);
  EXPECT_EQ(read.clock_hz_after, 2e9);
  EXPECT_EQ(read.bandwidth.before, 3e9);
  EXPECT_EQ(read.bandwidth.after, 4e9);
}

TEST(RowFigures, of_a_list_belong_to_no_key) {
  const Measurement read = figures_from(
      R"({"status": "ok", "duration_ns_median": 5, "round": [7], "reason": ["x"],
          "clock_hz_after": [1, 2], "case": {"backend": ["x"]}, "plugin": [{"name": "x"}]})");
  EXPECT_EQ(read.round, Measurement{}.round);
  EXPECT_EQ(read.reason, "");
  EXPECT_EQ(read.clock_hz_after, std::nullopt);
  EXPECT_EQ(read.kernel_case.backend, Measurement{}.kernel_case.backend);
  EXPECT_EQ(read.plugin_name, "");
}

TEST(RowFigures, say_what_their_row_lacks) {
  const auto fault = [](const char* body) {
    try {
      figures_from(body);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault(R"({"status": "ok"})"), "it has no status or no time");
  EXPECT_EQ(fault(R"({"duration_ns_median": 1})"), "it has no status or no time");
  EXPECT_EQ(fault(R"({"status": "x", "duration_ns_median": 1})"), "unknown status");
  EXPECT_NE(fault("{").find("parse error"), std::string::npos) << fault("{");
}

}  // namespace
}  // namespace halmark::journal
