#include "journal/samples/retention.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "journal/sqlite/writer_lock.hpp"

namespace halmark {
namespace {

// Latest first; a run's own columns say when it began.
struct Begun {
  std::int64_t run;
  std::string utc;
};

std::vector<Begun> runs_of(const Store& store) {
  std::vector<Begun> out;
  for (const std::int64_t run : store.latest_runs(std::numeric_limits<std::int32_t>::max())) {
    out.push_back({run, store.run_info(run).started_utc});
  }
  std::ranges::reverse(out);
  return out;
}

std::set<std::int64_t> runs_that_keep(const std::vector<Begun>& runs,
                                      const RetentionPolicy& policy) {
  constexpr std::size_t date_characters = 10;
  std::set<std::string, std::greater<>> dates;
  for (const Begun& run : runs) dates.insert(run.utc.substr(0, date_characters));
  std::string first_date;
  if (policy.keep_nights && *policy.keep_nights < dates.size()) {
    first_date = *std::next(dates.begin(), as_int64(*policy.keep_nights) - 1);
  }
  std::set<std::int64_t> out;
  for (const auto i : indices(runs)) {
    const bool is_kept = (!policy.keep_runs || i < *policy.keep_runs) &&
                         runs[i].utc >= first_date && runs[i].utc >= policy.before_utc;
    if (is_kept) out.insert(runs[i].run);
  }
  return out;
}

}  // namespace

namespace {

std::int64_t parse_age_s(std::string_view text, const char* where) {
  constexpr std::int64_t hour_s = 3600, number_max = 100'000;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, as_size(text.data() + text.size() - end));
  const std::int64_t unit_s = unit == "h"   ? hour_s
                              : unit == "d" ? 24 * hour_s
                              : unit == "w" ? 7 * 24 * hour_s
                                            : 0;
  if (error != std::errc() || unit_s == 0 || number < 1 || number > number_max) {
    throw refused("'" + std::string(text) + "' is no age", where,
                  "write a whole number of hours, days or weeks: 12h, 30d, 8w");
  }
  return number * unit_s;
}

}  // namespace

RetentionPolicy retention_policy(int keep_runs, int keep_nights, const std::string& older_than) {
  RetentionPolicy out;
  const auto add = [&](const std::string& option) { append_item(out.text, " ", option); };
  if (keep_runs > 0) {
    out.keep_runs = as_size(keep_runs);
    add("--keep-runs " + std::to_string(keep_runs));
  }
  if (keep_nights > 0) {
    out.keep_nights = as_size(keep_nights);
    add("--keep-nights " + std::to_string(keep_nights));
  }
  if (!older_than.empty()) {
    out.before_utc =
        journal::utc_text(std::time(nullptr) - parse_age_s(older_than, "--older-than"));
    add("--older-than " + older_than);
  }
  if (!out.text.empty()) return out;
  throw refused("nothing says which runs keep their samples", {},
                "add --keep-runs N, --keep-nights N or --older-than 30d");
}

RetiredSamples samples_to_retire(const Store& store, const RetentionPolicy& policy) {
  const std::set<std::int64_t> kept = runs_that_keep(runs_of(store), policy);
  RetiredSamples out{.before = store.size()};
  for (const RunSamples& run : store.samples_by_run()) {
    out.rows_with_samples += run.rows;
    out.sample_bytes += run.bytes;
    if (!kept.contains(run.run)) out.runs.push_back(run);
  }
  out.after = out.before;
  store.require_sound();
  return out;
}

RetiredSamples retire_samples(Store& store, const RetentionPolicy& policy) {
  RetiredSamples out = samples_to_retire(store, policy);
  for (const RunSamples& run : out.runs) store.retire_samples(run.run, policy.text);
  out.after = store.size();
  return out;
}

std::string give_space_back(Store& store, RetiredSamples& retired) {
  constexpr std::int64_t parts = 20;
  const DatabaseSize size = store.size();
  if (size.free_bytes < (size.bytes + size.free_bytes) / parts) return {};
  try {
    store.shrink();
  } catch (const Error& e) {
    if (e.exit_code() != ExitCode::error) throw;
    return e.line();
  }
  retired.after = store.size();
  return {};
}

}  // namespace halmark
