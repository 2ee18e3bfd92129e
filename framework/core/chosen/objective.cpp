#include "core/chosen/objective.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

namespace halmark {

namespace {

using Figures = ServingFigures;
using Value = std::optional<double>;

constexpr std::array rows = {
    ObjectiveRow{.objective = Objective::latency,
                 .name = "latency",
                 .unit = "ns",
                 .of_step = [](const Estimate& e) -> Value { return e.step_ns; },
                 .title = "latency",
                 .shown_as = "ms",
                 .shown_unit = 1e6},
    ObjectiveRow{.objective = Objective::throughput,
                 .name = "throughput",
                 .unit = "tokens/s",
                 .is_maximised = true,
                 .of_step = [](const Estimate& e) -> Value { return e.tokens_per_s; },
                 .title = "throughput",
                 .shown_as = "tokens/s"},
    ObjectiveRow{
        .objective = Objective::memory,
        .name = "memory",
        .unit = "bytes",
        .of_step = [](const Estimate& e) -> Value { return as_double(e.memory_bytes_total); },
        .of_requests = [](const Figures& f) -> Value { return as_double(f.memory_bytes); },
        .title = "memory",
        .shown_as = "GB",
        .shown_unit = 1e9,
        .level_key = "memory_gb",
        .level_unit = 1e9},
    ObjectiveRow{.objective = Objective::ttft,
                 .name = "ttft",
                 .unit = "ns",
                 .of_requests = [](const Figures& f) -> Value { return f.ttft_ns; },
                 .title = "TTFT",
                 .shown_as = "ms",
                 .shown_unit = 1e6,
                 .level_key = "ttft_ms",
                 .level_unit = 1e6},
    ObjectiveRow{.objective = Objective::tpot,
                 .name = "tpot",
                 .unit = "ns",
                 .of_requests = [](const Figures& f) -> Value { return f.tpot_ns; },
                 .title = "TPOT",
                 .shown_as = "ms",
                 .shown_unit = 1e6,
                 .level_key = "tpot_ms",
                 .level_unit = 1e6},
    ObjectiveRow{.objective = Objective::request_latency,
                 .name = "request_latency",
                 .unit = "ns",
                 .of_requests = [](const Figures& f) -> Value { return f.request_ns; },
                 .title = "request latency",
                 .shown_as = "ms",
                 .shown_unit = 1e6,
                 .level_key = "request_latency_ms",
                 .level_unit = 1e6},
    ObjectiveRow{.objective = Objective::tokens_per_s,
                 .name = "tokens_per_s",
                 .unit = "tokens/s",
                 .is_maximised = true,
                 .of_requests = [](const Figures& f) -> Value { return f.tokens_per_s; },
                 .title = "tokens/s",
                 .shown_as = "tokens/s",
                 .level_key = "tokens_per_s"},
    ObjectiveRow{.objective = Objective::tokens_per_s_per_device,
                 .name = "tokens_per_s_per_device",
                 .unit = "tokens/s",
                 .is_maximised = true,
                 .of_requests = [](const Figures& f) -> Value { return f.tokens_per_s_per_device; },
                 .title = "tokens/s per device",
                 .shown_as = "tokens/s",
                 .level_key = "tokens_per_s_per_device"},
    ObjectiveRow{.objective = Objective::energy,
                 .name = "energy",
                 .unit = "J/token",
                 .of_step = [](const Estimate& e) -> Value {
                   const double tokens = e.tokens_per_s * e.step_ns * 1e-9;
                   if (!e.energy || tokens <= 0) return std::nullopt;
                   return e.energy->joules / tokens;
                 },
                 .is_asked_for = true,
                 .of_requests = [](const Figures& f) -> Value { return f.energy_j_per_token; },
                 .title = "energy",
                 .shown_as = "J/token",
                 .level_key = "energy_j_per_token"},
    ObjectiveRow{.objective = Objective::cost,
                 .name = "cost",
                 .unit = "USD per million tokens",
                 .of_requests = [](const Figures& f) -> Value { return f.usd_per_million_tokens; },
                 .title = "cost",
                 .shown_as = "USD per million tokens",
                 .level_key = "usd_per_million_tokens"},
    ObjectiveRow{.objective = Objective::mfu,
                 .name = "mfu",
                 .unit = "1",
                 .is_maximised = true,
                 .of_requests = [](const Figures& f) -> Value { return f.mfu; },
                 .title = "MFU",
                 .shown_as = "%",
                 .shown_unit = 0.01,
                 .level_key = "mfu_percent",
                 .level_unit = 0.01},
    // What one user sees while an answer streams; InferenceMAX sets it against tokens/s per device.
    ObjectiveRow{.objective = Objective::interactivity,
                 .name = "interactivity",
                 .unit = "tokens/s",
                 .is_maximised = true,
                 .of_requests = [](const Figures& f) -> Value {
                   if (f.tpot_ns <= 0) return std::nullopt;  // no token follows the first
                   return 1e9 / f.tpot_ns;
                 },
                 .title = "interactivity",
                 .shown_as = "tokens/s per user",
                 .level_key = "interactivity"},
};
static_assert(has_row_of_each(rows, &ObjectiveRow::objective));

// Three significant digits, the same in every locale.
std::string short_number(double value) {
  std::array<char, 64> text{};
  const int digits_before =
      value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, std::clamp(3 - digits_before, 0, 9));
  return {text.data(), end.ptr};
}

bool is_kept(const ServiceLevel& level, double value) {
  return is_maximised(level.objective) ? value >= level.limit : value <= level.limit;
}

}  // namespace

std::span<const ObjectiveRow> objective_rows() { return rows; }

const ObjectiveRow& row_of(Objective objective) { return rows[as_size(objective)]; }

std::string_view objective_name(Objective objective) { return row_of(objective).name; }

bool is_maximised(Objective objective) { return row_of(objective).is_maximised; }

std::optional<Objective> parse_objective(std::string_view name) {
  const auto* row = find_or_null(rows, name, &ObjectiveRow::name);
  return !row ? std::nullopt : std::optional(row->objective);
}

std::optional<Objective> parse_request_objective(std::string_view name) {
  if (name == "latency") return Objective::request_latency;
  if (name == "throughput") return Objective::tokens_per_s;
  const auto objective = parse_objective(name);
  return objective && row_of(*objective).of_requests != nullptr ? objective : std::nullopt;
}

std::optional<double> objective_value(const Evaluation& evaluation, Objective objective) {
  const ObjectiveRow& row = row_of(objective);
  if (evaluation.served && row.of_requests != nullptr) {
    return row.of_requests(evaluation.served->figures);
  }
  if (evaluation.estimate && row.of_step != nullptr) return row.of_step(*evaluation.estimate);
  return std::nullopt;
}

std::optional<std::vector<double>> minimised(const Evaluation& evaluation,
                                             std::span<const Objective> objectives) {
  std::vector<double> out;
  out.reserve(objectives.size());
  for (const Objective o : objectives) {
    const auto value = objective_value(evaluation, o);
    if (!value) return std::nullopt;
    out.push_back(is_maximised(o) ? -*value : *value);
  }
  return out;
}

std::vector<double> minimised(const Estimate& estimate, std::span<const Objective> objectives) {
  std::vector<double> out;
  for (const Objective o : objectives) {
    const auto value = row_of(o).of_step(estimate);
    if (!value) {
      out.push_back(std::numeric_limits<double>::max());
    } else {
      out.push_back(is_maximised(o) ? -*value : *value);
    }
  }
  return out;
}

std::string objective_text(Objective objective, double value) {
  const ObjectiveRow& row = row_of(objective);
  return short_number(value / row.shown_unit) + ' ' + std::string(row.shown_as);
}

std::string figure_text(Objective objective, double value) {
  const ObjectiveRow& row = row_of(objective);
  const std::string title(row.title);
  return title.starts_with(row.shown_as) ? short_number(value / row.shown_unit) + ' ' + title
                                         : title + ' ' + objective_text(objective, value);
}

std::string level_text(const ServiceLevel& level) {
  const ObjectiveRow& row = row_of(level.objective);
  return std::string(row.title) + (row.is_maximised ? " >= " : " <= ") +
         (row.title.starts_with(row.shown_as) ? short_number(level.limit / row.shown_unit)
                                              : objective_text(level.objective, level.limit));
}

std::string ServiceViolation::text() const {
  return figure_text(objective, value) + ", " + objective_text(objective, amount()) +
         (value > limit ? " over " : " under ") + objective_text(objective, limit);
}

std::vector<ServiceViolation> violations(const Evaluation& evaluation,
                                         std::span<const ServiceLevel> levels) {
  std::vector<ServiceViolation> out;
  for (const ServiceLevel& level : levels) {
    const double value = objective_value(evaluation, level.objective).value_or(std::nan(""));
    if (!is_kept(level, value)) out.push_back({level.objective, value, level.limit});
  }
  std::ranges::stable_sort(out, std::greater{}, [](const ServiceViolation& v) {
    return v.value > v.limit ? v.value / v.limit : v.limit / v.value;
  });
  return out;
}

double service_level_probability(const ServedEstimate& estimate,
                                 std::span<const ServiceLevel> levels) {
  double least = 1;
  for (const ServiceLevel& level : levels) {
    const auto of_requests = row_of(level.objective).of_requests;
    const auto value = of_requests(estimate.figures);
    const auto fast = of_requests(estimate.fast);
    const auto slow = of_requests(estimate.slow);
    if (!value || !fast || !slow) return 0;
    // A maximised figure is least where the times are longest: x >= limit is 1/x <= 1/limit.
    const double p = is_maximised(level.objective)
                         ? probability_at_most(1 / level.limit, 1 / *value, 1 / *fast, 1 / *slow)
                         : probability_at_most(level.limit, *value, *fast, *slow);
    least = std::min(least, p);
  }
  return least;
}

}  // namespace halmark
