#include "core/serving.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

namespace halmark {

namespace {

constexpr std::array all_objectives = {ServingObjective::ttft,
                                       ServingObjective::tpot,
                                       ServingObjective::request_latency,
                                       ServingObjective::tokens_per_s,
                                       ServingObjective::tokens_per_s_per_device,
                                       ServingObjective::memory,
                                       ServingObjective::energy,
                                       ServingObjective::cost,
                                       ServingObjective::mfu};

constexpr std::array<ServiceLevelKey, 9> level_keys = {{
    {"ttft_ms", ServingObjective::ttft, 1e6},
    {"tpot_ms", ServingObjective::tpot, 1e6},
    {"request_latency_ms", ServingObjective::request_latency, 1e6},
    {"tokens_per_s", ServingObjective::tokens_per_s, 1},
    {"tokens_per_s_per_device", ServingObjective::tokens_per_s_per_device, 1},
    {"memory_gb", ServingObjective::memory, 1e9},
    {"energy_j_per_token", ServingObjective::energy, 1},
    {"usd_per_million_tokens", ServingObjective::cost, 1},
    {"mfu_percent", ServingObjective::mfu, 0.01},
}};

// Three significant digits, the same in every locale.
std::string short_number(double value) {
  std::array<char, 64> text{};
  const int digits_before =
      value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, std::clamp(3 - digits_before, 0, 9));
  return {text.data(), end.ptr};
}

std::string_view title(ServingObjective objective) {
  switch (objective) {
    case ServingObjective::ttft:
      return "TTFT";
    case ServingObjective::tpot:
      return "TPOT";
    case ServingObjective::mfu:
      return "MFU";
    case ServingObjective::request_latency:
      return "request latency";
    case ServingObjective::tokens_per_s:
    case ServingObjective::tokens_per_s_per_device:
    case ServingObjective::memory:
    case ServingObjective::energy:
    case ServingObjective::cost:
      return serving_objective_name(objective);
  }
  return "";
}

double normal_distribution(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

}  // namespace

std::span<const ServingObjective> serving_objectives() { return all_objectives; }

std::string_view serving_objective_name(ServingObjective objective) {
  switch (objective) {
    case ServingObjective::ttft:
      return "ttft";
    case ServingObjective::tpot:
      return "tpot";
    case ServingObjective::request_latency:
      return "request_latency";
    case ServingObjective::tokens_per_s:
      return "tokens_per_s";
    case ServingObjective::tokens_per_s_per_device:
      return "tokens_per_s_per_device";
    case ServingObjective::memory:
      return "memory";
    case ServingObjective::energy:
      return "energy";
    case ServingObjective::cost:
      return "cost";
    case ServingObjective::mfu:
      return "mfu";
  }
  return "ttft";
}

std::optional<ServingObjective> parse_serving_objective(std::string_view text) {
  if (text == "latency") return ServingObjective::request_latency;
  if (text == "throughput") return ServingObjective::tokens_per_s;
  for (const ServingObjective o : all_objectives) {
    if (serving_objective_name(o) == text) return o;
  }
  return std::nullopt;
}

bool is_maximised(ServingObjective objective) {
  return objective == ServingObjective::tokens_per_s ||
         objective == ServingObjective::tokens_per_s_per_device ||
         objective == ServingObjective::mfu;
}

std::optional<double> serving_value(const ServingFigures& f, ServingObjective objective) {
  switch (objective) {
    case ServingObjective::ttft:
      return f.ttft_ns;
    case ServingObjective::tpot:
      return f.tpot_ns;
    case ServingObjective::request_latency:
      return f.request_ns;
    case ServingObjective::tokens_per_s:
      return f.tokens_per_s;
    case ServingObjective::tokens_per_s_per_device:
      return f.tokens_per_s_per_device;
    case ServingObjective::memory:
      return static_cast<double>(f.memory_bytes);
    case ServingObjective::energy:
      return f.energy_j_per_token;
    case ServingObjective::cost:
      return f.usd_per_million_tokens;
    case ServingObjective::mfu:
      return f.mfu;
  }
  return std::nullopt;
}

std::string serving_value_text(ServingObjective objective, double value) {
  switch (objective) {
    case ServingObjective::ttft:
    case ServingObjective::tpot:
    case ServingObjective::request_latency:
      return short_number(value / 1e6) + " ms";
    case ServingObjective::tokens_per_s:
    case ServingObjective::tokens_per_s_per_device:
      return short_number(value) + " tokens/s";
    case ServingObjective::memory:
      return short_number(value / 1e9) + " GB";
    case ServingObjective::energy:
      return short_number(value) + " J/token";
    case ServingObjective::cost:
      return short_number(value) + " USD per million tokens";
    case ServingObjective::mfu:
      return short_number(value * 100) + " %";
  }
  return {};
}

std::span<const ServiceLevelKey> service_level_keys() { return level_keys; }

std::string ServiceViolation::text() const {
  return std::string(title(objective)) + ' ' + serving_value_text(objective, value) + ", " +
         serving_value_text(objective, amount()) + (value > limit ? " over " : " under ") +
         serving_value_text(objective, limit);
}

std::vector<ServiceViolation> violations(const ServingFigures& figures,
                                         std::span<const ServiceLevel> levels) {
  std::vector<ServiceViolation> out;
  for (const ServiceLevel& level : levels) {
    const double value = serving_value(figures, level.objective).value_or(std::nan(""));
    const bool is_kept =
        is_maximised(level.objective) ? value >= level.limit : value <= level.limit;
    if (!is_kept) out.push_back({level.objective, value, level.limit});
  }
  std::ranges::stable_sort(out, std::greater{}, [](const ServiceViolation& v) {
    return v.value > v.limit ? v.value / v.limit : v.limit / v.value;
  });
  return out;
}

double probability_at_most(double limit, double value, double low, double high) {
  constexpr double z95 = 1.6448536269514722;  // 95 % quantile of the standard normal law
  if (!(limit > 0)) return 0;
  if (!(value > 0)) return 1;
  const double end = limit < value ? low : high;
  const double width = std::abs(std::log(end / value));
  if (!(end > 0) || width < 1e-12) return limit >= value ? 1 : 0;
  return normal_distribution(z95 * std::log(limit / value) / width);
}

double service_level_probability(const ServedEstimate& estimate,
                                 std::span<const ServiceLevel> levels) {
  double least = 1;
  for (const ServiceLevel& level : levels) {
    const auto value = serving_value(estimate.figures, level.objective);
    const auto fast = serving_value(estimate.fast, level.objective);
    const auto slow = serving_value(estimate.slow, level.objective);
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
