// Rows to store, and SQL past the store: what a person with the sqlite3 program can do.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

#include "core/numeric/statistics.hpp"
#include "journal/store.hpp"
#include "tests/unit/full_values.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::test {

inline RunInfo run_info(const std::string& plan_hash = "00aa") {
  return {.command = "halmark tune a.toml",
          .plan_hash = plan_hash,
          .plan_text = "name = \"a\"\n",
          .fingerprint = "machine-1",
          .tool_version = "0.1",
          .tool_build = "abc",
          .started_utc = "2026-11-21T10:20:30Z"};
}

// Figures as they follow from the samples, worked out by hand: samples one apart, from `ns` down to
// `ns` up.
inline Measurement measurement_around(double ns, int samples = 3) {
  Measurement m = full_measurement();
  m.shard_wall_ns.resize(2);
  const double first = ns - (samples - 1) / 2.0;
  for (int i = 0; i < samples; ++i) {
    m.samples.push_back({.wall_ns = first + i, .cpu_ns = 2000.5 + i, .device_ns = {}, .set = i});
    m.shard_wall_ns[0].push_back(first + i);
    m.shard_wall_ns[1].push_back(first - 1 + i);
  }
  const double span = samples - 1;
  m.duration_ns_median = samples == 0 ? 0 : ns;
  m.duration_ns_min = samples == 0 ? 0 : first;
  m.duration_ns_interval = samples == 0 ? Interval{} : Interval{first, first + span};
  m.relative_iqr = samples == 0 ? 0 : span / 2 / ns;
  if (samples > 5) m.duration_ns_interval = median_interval(m.shard_wall_ns[0]).interval;
  if (samples == 0) m.status = Status::crashed;
  return m;
}

// Told apart by its seed; `samples` samples of two shards, around 1000.25 ns.
inline Measurement numbered_measurement(std::uint64_t number, int samples = 3) {
  Measurement m = measurement_around(1000.25, samples);
  m.seed = number;
  return m;
}

inline Validation full_validation() {
  return {
      .deployment_key = full_deployment().key(),
      .predicted_ns = 100.5,
      .predicted_interval_ns = {90, 120},
      .measured_ns = 110.25,
      .measured_interval_ns = {100.25, 130},
      .step_ns = {100.25, 110.25, 130},
      .bubble_share = 0.25,
      .composition = Composition{.composed_ns = 109,
                                 .error = -0.01,
                                 .error_interval = {-0.03, 0.02},
                                 .pairs = 5,
                                 .apart = 1,
                                 .paired_share = 0.975,
                                 .bytes_per_s = 4e10},
      .composition_reason = "none",
      .memory = MeasuredMemory{{{.rank = 0,
                                 .roles = {{"weights", 100, 130, {{"packed by the plugin", 25}}},
                                           {"workspace", 0, 7, {}}},
                                 .beside_bytes = 4096,
                                 .set_size = ProportionalSet{1000, 1 << 30, 1 << 29}},
                                {.rank = 1, .set_size_reason = "not readable"}}},
      .memory_reason = "none",
      .status = Status::suspect,
      .reason = "noisy",
      .operators = {{"lm_head", 10, 11}, {"attention", 5, 4}},
      .executions = {{{"attention", 0, 4}, {"lm_head", 5, 11}, {"attention", 16, 5}}, {}}};
}

// Drawn from rounds of the one variant of numbered_measurement.
inline Winner winner_of(const std::vector<Measurement>& rounds) {
  KernelCase question = rounds.front().kernel_case;
  const Variant variant{question.kernel, question.config, true};
  question.kernel.clear();
  question.config = {};
  return judge_variants(question, std::vector{variant}, rounds).value();
}

// A database of one run with `rows` measurements.
inline std::int64_t make_database(const std::string& path, int rows) {
  const std::unique_ptr<Store> store = open_store(path);
  const std::int64_t run = store->begin_run(run_info());
  for (int i = 1; i <= rows; ++i) store->append(run, numbered_measurement(i));
  return run;
}

inline void raw_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << sql << ": " << (message != nullptr ? message : "");
  sqlite3_free(message);
  sqlite3_close(db);
}

}  // namespace halmark::test
