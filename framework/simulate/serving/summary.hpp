// What requests experienced, as figures.
#pragma once

#include <cstddef>
#include <optional>

#include "model/serving/engine_terms.hpp"
#include "simulate/serving/server/server.hpp"

namespace halmark::serving {

struct Percentiles {
  std::size_t n = 0;
  double mean = 0, p50 = 0, p90 = 0, p99 = 0;  // ns
};

struct Levels {
  std::optional<double> ttft_ns, tpot_ns;
  bool is_any() const { return ttft_ns || tpot_ns; }
};

struct ServerSummary {
  Percentiles ttft, tpot, request;  // tpot: of requests with more than one token
  double makespan_s = 0;
  double requests_per_s = 0, tokens_per_s = 0;  // generated, over the makespan
  std::int64_t generated_tokens = 0, prompt_tokens = 0;
  // Of requests that keep all levels: per second, and their share.
  std::optional<double> goodput_requests_per_s, goodput_share;
};

// Where a measured mean lies in 90 % of cases.
struct MeanRange {
  double low = 0, high = 0;
};
struct MeanRanges {
  MeanRange ttft, tpot, request;            // ns
  std::optional<MeanRange> requests_per_s;  // of a closed loop: of others it is their rate
  bool has_rows_of_device = true;           // that the ratios behind them were held to
};
MeanRanges mean_ranges(const ServerSummary& summary, const Ratios& ttft, const Ratios& tpot,
                       bool is_closed_loop);

// Of requests that come at their own times: whether more come than are served, so that those that
// wait become more and more. A closed loop offers what it is served.
struct Saturation {
  bool is_saturated = false;
  double offered_per_s = 0, served_per_s = 0;
};
Saturation saturation_of(const ServerRecord& record);

// Bytes of so many blocks.
double kv_bytes(const EnginePlan& plan, std::int64_t blocks);

// `skip`: of the first requests, which find an empty server.
ServerSummary summary_of(const ServerRecord& record, const Levels& levels, std::size_t skip = 0);

}  // namespace halmark::serving
