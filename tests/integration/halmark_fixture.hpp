// A halmark of this build with a world of its own: folder, state, cache, plugins, tiny sweep.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "process.hpp"

namespace halmark::integration {

using Arguments = std::vector<std::string>;

// A served search by the roofline, two points in a moment.
inline constexpr const char* served_sweep = R"(name = "served"
model = "qwen3-30b-a3b"
device_file = "h200"
latency = ["roofline"]
shards = [4]
dtypes = ["bf16"]
objectives = ["ttft", "tpot", "tokens_per_s_per_device"]
[request]
input_tokens = 2000
output_tokens = 100
concurrency = [4, 64]
token_budget = [2048]
)";

// Every test runs in a fresh folder that is removed afterwards; XDG folders point into it.
class HalmarkTest : public testing::Test {
 protected:
  HalmarkTest();
  ~HalmarkTest() override;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;  // returns the path
  std::string read(const std::string& name) const;

  Launch launch(Arguments arguments) const;
  Outcome halmark(Arguments arguments) const { return run(launch(std::move(arguments))); }
  // `data` of the envelope; a failure of the test when the exit code is not 0.
  Json data_of(Arguments arguments) const;

  // Whether the CPU can be cut into two shards.
  bool has_two_cores() const;
  // Two layers, hidden 64, vocabulary 512; a sweep of it over the backend.
  std::string tiny_model() const;
  std::string tiny_sweep(const std::string& backend, const std::string& more = "") const;
  // Runs what measures and must end with 0. Neighbours of this machine can spoil a row (exit code
  // 4): then once more from the start, with the folder as it was before, twice at most.
  Outcome undisturbed(const std::function<Outcome()>& run_it) const;
  Outcome undisturbed(const Arguments& arguments) const;
  Json undisturbed_data_of(Arguments arguments) const;
  // That sweep, measured into a new database of this name. It is measured once for all tests of a
  // build that ask for the same, and kept below the build folder.
  void tune_tiny(const std::string& db) const;
  // One device file that says what this machine's peaks are, so that nothing measures them first.
  // `ceilings`: [[peak]] and [[bandwidth]] entries. Returns its path below the folder.
  std::string know_peaks(const std::string& ceilings = "") const;
  // With the default limits of the validity gate; otherwise those of this machine are so wide that
  // neighbours spoil no row.
  void gate_as_users_do() const;

  // Every path below the folder, for "nothing was written".
  std::vector<std::string> files() const;

  Launch base_;  // environment and folder of every launch

 private:
  std::string fingerprint() const;
  std::string limits_file() const;
  std::string measured_key(const std::string& db) const;
  // What a command writes, by its name: not what it learns of this machine, and no cache.
  std::vector<std::string> written() const;
  std::map<std::string, std::string> contents() const;
  void restore(const std::map<std::string, std::string>& before) const;

  std::filesystem::path folder_;
};

// The whole document; fails the test unless `text` is one JSON object and a newline.
Json envelope_of(const std::string& text);
// Names of the members, in their order.
std::vector<std::string> keys(const Json& object);
// A number, or null beside a reason: on a busy machine the validity gate withholds figures.
testing::AssertionResult is_figure_or_has_reason(const Json& object, const std::string& key);
// "tune 17/50 failed ..." on stderr -> 17, the last that was told whole; 0 before the first.
int told_trials(const std::string& err);
// One line, ending in a newline.
testing::AssertionResult is_one_line(const std::string& text);
// First value of a query, as text; "" when there is no row.
std::string sql(const std::string& database, const std::string& query);
std::int64_t sql_count(const std::string& database, const std::string& query);

}  // namespace halmark::integration
