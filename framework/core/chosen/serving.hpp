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

#include "core/fields/fields.hpp"

namespace halmark {

// What every request of a load is.
struct RequestShape {
  std::int64_t input_tokens = 1;   // prompt
  std::int64_t output_tokens = 1;  // generated, the first included
  auto operator<=>(const RequestShape&) const = default;
};
template <class V, Of<RequestShape> M>
void fields(V& v, M& m) {
  v("input_tokens", m.input_tokens);
  v("output_tokens", m.output_tokens);
}

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
// An absent figure is null; which fact is missing says who writes a report.
template <class V, Of<ServingFigures> M>
void fields(V& v, M& m) {
  v("ttft_ns", m.ttft_ns);
  v("tpot_ns", m.tpot_ns);
  v("request_ns", m.request_ns);
  v("requests_per_s", m.requests_per_s);
  v("tokens_per_s", m.tokens_per_s);
  v("tokens_per_s_per_device", m.tokens_per_s_per_device);
  v("memory_bytes_per_rank", m.memory_bytes_per_rank);
  v("memory_bytes", m.memory_bytes);
  v.later("energy_j_per_token", m.energy_j_per_token);
  v.later("usd_per_million_tokens", m.usd_per_million_tokens);
  v.later("mfu", m.mfu);
}

// Figures with the same computed from the low and the high ends of every step's interval.
struct ServedEstimate {
  ServingFigures figures, fast, slow;
  bool is_saturated = false;  // the token budget is full in every step: requests wait for it
  bool has_interval = false;  // false: no source of these times states a spread
};
template <class V, Of<ServedEstimate> M>
void fields(V& v, M& m) {
  v("figures", m.figures);
  v("is_saturated", m.is_saturated);
  v("has_interval", m.has_interval);
  if (m.has_interval) {
    v("fast", m.fast);
    v("slow", m.slow);
  } else if constexpr (V::reads) {
    m.fast = m.slow = m.figures;
  }
}

// Probability that a value whose 90 % interval is low..high around `value` is at most `limit`: the
// logarithm is normal on each side of `value`, with the ends as its 5 % and 95 % quantiles. Without
// an interval it is 0 or 1.
double probability_at_most(double limit, double value, double low, double high);

}  // namespace halmark
