// What the users and the owner of a served model see: figures of a stream of equal requests, limits
// on them, and how sure a figure within its interval is to keep a limit.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

// What every request of a load is.
struct RequestShape {
  std::int64_t input_tokens = 1;   // prompt
  std::int64_t output_tokens = 1;  // generated, the first included
  auto operator<=>(const RequestShape&) const = default;
};

// Of the whole deployment, all replicas together, in steady state.
struct ServingFigures {
  double ttft_ns = 0;         // arrival to first token, waiting included
  double tpot_ns = 0;         // mean time between later tokens; 0 with a single one
  double request_ns = 0;      // arrival to last token
  double requests_per_s = 0;  // concurrency / request_ns (Little's law)
  double tokens_per_s = 0;    // generated
  double tokens_per_s_per_device = 0;
  std::int64_t memory_bytes_per_rank = 0;        // of the fullest rank
  std::int64_t memory_bytes = 0;                 // all ranks
  std::optional<double> energy_j_per_token;      // generated token, all devices at stated power
  std::optional<double> usd_per_million_tokens;  // generated tokens
  std::optional<double> mfu;                     // matmul FLOPs of the requests over the peaks
};

// Figures with the same computed from the low and the high ends of every step's interval.
struct ServedEstimate {
  ServingFigures figures, fast, slow;
  bool is_saturated = false;  // the token budget is full in every step: requests wait for it
  bool has_interval = false;  // false: no source of these times states a spread
};

// What a served deployment is judged by. `latency` and `throughput` of a step have the meaning of
// request_latency and tokens_per_s here.
enum class ServingObjective {
  ttft,
  tpot,
  request_latency,
  tokens_per_s,
  tokens_per_s_per_device,
  memory,
  energy,
  cost,
  mfu,
};
std::span<const ServingObjective> serving_objectives();
std::string_view serving_objective_name(ServingObjective objective);
// Also "latency" and "throughput".
std::optional<ServingObjective> parse_serving_objective(std::string_view text);
bool is_maximised(ServingObjective objective);
// Nothing where its figure is absent.
std::optional<double> serving_value(const ServingFigures& figures, ServingObjective objective);
// "312 ms", "5.1 tokens/s", "41.9 %"
std::string serving_value_text(ServingObjective objective, double value);

// A limit that a figure must keep: at most, or at least where it is maximised. In the units of
// ServingFigures.
struct ServiceLevel {
  ServingObjective objective = ServingObjective::ttft;
  double limit = 0;
  std::string where;  // file:line:column
};
// Keys of a sweep's [slo] and what one unit of them is in ServingFigures: "ttft_ms", 1e6.
struct ServiceLevelKey {
  std::string_view key;
  ServingObjective objective;
  double unit;
};
std::span<const ServiceLevelKey> service_level_keys();

struct ServiceViolation {
  ServingObjective objective = ServingObjective::ttft;
  double value = 0, limit = 0;
  double amount() const { return value < limit ? limit - value : value - limit; }
  std::string text() const;  // "TTFT 312 ms, 112 ms over 200 ms"
};
// Limits that the figures do not keep, the one that is missed by the largest factor first. A figure
// that is absent keeps no limit: refuse such levels before.
std::vector<ServiceViolation> violations(const ServingFigures& figures,
                                         std::span<const ServiceLevel> levels);

// Probability that a value whose 90 % interval is low..high around `value` is at most `limit`: the
// logarithm is normal on each side of `value`, with the ends as its 5 % and 95 % quantiles. Without
// an interval it is 0 or 1.
double probability_at_most(double limit, double value, double low, double high);
// That all levels are kept. All figures follow from the same step times, taken to err together: the
// probability is that of the level which is least sure.
double service_level_probability(const ServedEstimate& estimate,
                                 std::span<const ServiceLevel> levels);

}  // namespace halmark
