#include "study/values.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"

namespace halmark {

std::string_view state_name(TrialState state) {
  static_assert(trial_states == enumerators<TrialState>());
  return enum_names<TrialState>("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING").of(state);
}

ParamValue ParamDistribution::value(double internal) const {
  if (kind == Kind::real) return internal;
  const auto integer = as_int64(std::llround(internal));
  if (kind == Kind::integer) return integer;
  if (integer < 0 || as_size(integer) >= choices.size()) {
    throw refused("a trial has choice " + std::to_string(integer) + " of " +
                  std::to_string(choices.size()));
  }
  return choices[as_size(integer)];
}

bool ParamDistribution::is_compatible(const ParamDistribution& other) const {
  return kind == other.kind && is_log == other.is_log && choices == other.choices;
}

ParamDistribution distribution_of(const SearchDomain& domain) {
  ParamDistribution out;
  switch (domain.kind) {
    case DomainKind::categorical:
    case DomainKind::ordinal:
      out.choices = domain.values;
      break;
    case DomainKind::integer:
      out = {.kind = ParamDistribution::Kind::integer,
             .low = domain.low,
             .high = domain.high,
             .step = std::max(1.0, domain.step),
             .is_log = domain.is_log};
      break;
    case DomainKind::real:
      out = {.kind = ParamDistribution::Kind::real,
             .low = domain.low,
             .high = domain.high,
             .step = domain.step,
             .is_log = domain.is_log};
      break;
  }
  return out;
}

const std::string* find_attribute(const Attributes& attributes, std::string_view key) {
  for (const auto& [name, text] : attributes) {
    if (name == key) return &text;
  }
  return nullptr;
}

std::int64_t StudySummary::trials() const {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void TrialCursor::see(const TrialRow& row) {
  last_id = std::max(last_id, row.id);
  if (is_finished(row.state)) {
    unfinished.erase(row.id);
  } else {
    unfinished[row.id] = {row.state, row.params.size()};
  }
}

std::string utc_microseconds_now() { return utc_microseconds(std::chrono::system_clock::now()); }

std::string utc_microseconds(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  const auto seconds = static_cast<std::time_t>(us / 1'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text + n, sizeof text - n, ".%06d", as_int(us % 1'000'000));
  return text;
}

}  // namespace halmark
