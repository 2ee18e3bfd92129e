#include "simulate/serving/summary.hpp"

#include <vector>

#include "core/numeric/statistics.hpp"

namespace halmark::serving {
namespace {

double ns_of(Picoseconds time) { return static_cast<double>(time) * 1e-3; }

Percentiles percentiles(const std::vector<double>& values) {
  if (values.empty()) return {};
  return {values.size(), mean(values), quantile(values, 0.5), quantile(values, 0.9),
          quantile(values, 0.99)};
}

}  // namespace

MeanRanges mean_ranges(const ServerSummary& s, const Ratios& ttft, const Ratios& tpot,
                       bool is_closed_loop) {
  MeanRanges out{.ttft = {ttft.low * s.ttft.mean, ttft.high * s.ttft.mean},
                 .tpot = {tpot.low * s.tpot.mean, tpot.high * s.tpot.mean}};
  // Both err together, as a faster or a slower engine has them.
  const double later = s.request.mean - s.ttft.mean;
  out.request = {out.ttft.low + tpot.low * later, out.ttft.high + tpot.high * later};
  if (is_closed_loop && out.request.low > 0) {
    out.requests_per_s = {s.requests_per_s * s.request.mean / out.request.high,
                          s.requests_per_s * s.request.mean / out.request.low};
  }
  return out;
}

double kv_bytes(const EnginePlan& plan, std::int64_t blocks) {
  return static_cast<double>(blocks) * plan.block_bytes;
}

namespace {

// Mean time to the first token of requests [begin, end), in order of arrival.
double mean_wait_ps(const std::vector<RequestRecord>& requests, std::size_t begin,
                    std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += static_cast<double>(requests[i].first_ps - requests[i].arrival_ps);
  }
  return sum / static_cast<double>(end - begin);
}

}  // namespace

Saturation saturation_of(const ServerRecord& record) {
  constexpr double seconds_per_ps = 1e-12, growth = 1.5, lag = 0.05;
  constexpr std::size_t least = 8;
  const std::vector<RequestRecord>& requests = record.requests;
  Saturation out;
  if (requests.size() < least) return out;
  const std::size_t n = requests.size(), half = n / 2, quarter = n / 4;
  const Picoseconds first = requests.front().arrival_ps, last = requests.back().arrival_ps;
  if (last == first) return out;  // all at once: a batch
  const double span_s = static_cast<double>(last - first) * seconds_per_ps;
  out.offered_per_s = static_cast<double>(n - 1) / span_s;
  out.served_per_s =
      static_cast<double>(n) / (static_cast<double>(record.makespan_ps) * seconds_per_ps);
  // Of those that arrived in the second half, how many began to be answered while others still
  // arrived.
  const auto begun = std::ranges::count_if(requests, [&](const RequestRecord& r) {
    return r.first_ps > requests[half].arrival_ps && r.first_ps <= last;
  });
  const auto arrived = static_cast<double>(n - half);
  const bool lags = arrived - static_cast<double>(begun) > lag * arrived + 3;
  const bool waits_longer =
      mean_wait_ps(requests, n - quarter, n) > growth * mean_wait_ps(requests, quarter, half);
  out.is_saturated = lags && waits_longer;
  return out;
}

ServerSummary summary_of(const ServerRecord& record, const Levels& levels, std::size_t skip) {
  ServerSummary out;
  std::vector<double> ttft, tpot, request;
  std::size_t good = 0;
  for (std::size_t i = 0; i < record.requests.size(); ++i) {
    const RequestRecord& r = record.requests[i];
    out.generated_tokens += r.output_tokens;
    out.prompt_tokens += r.input_tokens;
    if (i < skip) continue;
    ttft.push_back(ns_of(r.first_ps - r.arrival_ps));
    request.push_back(ns_of(r.end_ps - r.arrival_ps));
    std::optional<double> between;
    if (r.output_tokens > 1) {
      between = ns_of(r.end_ps - r.first_ps) / static_cast<double>(r.output_tokens - 1);
      tpot.push_back(*between);
    }
    const bool is_soon = !levels.ttft_ns || ttft.back() <= *levels.ttft_ns;
    const bool is_fluent = !levels.tpot_ns || !between || *between <= *levels.tpot_ns;
    good += is_soon && is_fluent ? 1 : 0;
  }
  out.ttft = percentiles(ttft);
  out.tpot = percentiles(tpot);
  out.request = percentiles(request);
  out.makespan_s = events::seconds_of(record.makespan_ps);
  if (out.makespan_s <= 0) return out;
  out.requests_per_s = static_cast<double>(record.requests.size()) / out.makespan_s;
  out.tokens_per_s = static_cast<double>(out.generated_tokens) / out.makespan_s;
  if (levels.is_any() && !ttft.empty()) {
    out.goodput_share = static_cast<double>(good) / static_cast<double>(ttft.size());
    out.goodput_requests_per_s = *out.goodput_share * out.requests_per_s;
  }
  return out;
}

}  // namespace halmark::serving
