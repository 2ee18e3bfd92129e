// Objective: one figure by which configurations are judged. One row each, for steps and for served
// requests alike: what a sweep, a report, a study, a service level and a proof say of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/serving.hpp"

namespace halmark {

enum class Objective {
  latency,
  throughput,
  memory,
  ttft,
  tpot,
  request_latency,
  tokens_per_s,
  tokens_per_s_per_device,
  energy,
  cost,
  mfu,
  interactivity,
};

struct ObjectiveRow {
  Objective objective;
  std::string_view name;
  std::string_view unit;  // of its values
  bool is_maximised = false;
  // Its value; null = no figure of steps, or of requests.
  std::optional<double> (*of_step)(const Estimate&) = nullptr;
  bool is_asked_for = false;  // of steps: only where a sweep names it
  std::optional<double> (*of_requests)(const ServingFigures&) = nullptr;
  // For people: value / shown_unit, and what that is called.
  std::string_view title, shown_as;
  double shown_unit = 1;
  // Key of a sweep's [slo], and what one unit of it is; "" = no level of it can be stated.
  std::string_view level_key = {};
  double level_unit = 1;
};

std::span<const ObjectiveRow> objective_rows();
const ObjectiveRow& row_of(Objective objective);
std::string_view objective_name(Objective objective);
bool is_maximised(Objective objective);

// By name. Of requests also "latency" and "throughput": of a request, and generated tokens.
std::optional<Objective> parse_objective(std::string_view name);
std::optional<Objective> parse_request_objective(std::string_view name);
template <>
inline constexpr ClosedSet<Objective> closed_set<Objective>{"an objective", objective_name,
                                                            parse_objective};

// Nothing where the evaluation has no such figure.
std::optional<double> objective_value(const Evaluation& evaluation, Objective objective);
// All of them, maximised ones negated: here and nowhere else. Nothing where one is absent.
std::optional<std::vector<double>> minimised(const Evaluation& evaluation,
                                             std::span<const Objective> objectives);
// The same of a step's estimate alone, for objectives of steps; what is absent is worse than any
// figure.
std::vector<double> minimised(const Estimate& estimate, std::span<const Objective> objectives);
// "312 ms", "5.1 tokens/s", "41.9 %"
std::string objective_text(Objective objective, double value);
// "TTFT 312 ms", "1344 tokens/s per device": a title that begins with the unit has it once.
std::string figure_text(Objective objective, double value);

// A limit that a figure must keep: at most, or at least where it is maximised. In the units of the
// objective's values.
struct ServiceLevel {
  Objective objective = Objective::ttft;
  double limit = 0;
  std::string where;  // file:line:column
};
template <class V, Of<ServiceLevel> M>
void fields(V& v, M& m) {
  v("objective", m.objective);
  v("limit", m.limit);
}

std::string level_text(const ServiceLevel& level);  // "TTFT <= 200 ms", "tokens/s >= 100"

struct ServiceViolation {
  Objective objective = Objective::ttft;
  double value = 0, limit = 0;
  double amount() const { return value < limit ? limit - value : value - limit; }
  std::string text() const;  // "TTFT 312 ms, 112 ms over 200 ms"
};
// Limits that the figures do not keep, the one that is missed by the largest factor first. A figure
// that is absent keeps no limit: refuse such levels before.
std::vector<ServiceViolation> violations(const Evaluation& evaluation,
                                         std::span<const ServiceLevel> levels);

// That all levels are kept. All figures follow from the same step times, taken to err together: the
// probability is that of the level which is least sure.
double service_level_probability(const ServedEstimate& estimate,
                                 std::span<const ServiceLevel> levels);

}  // namespace halmark
