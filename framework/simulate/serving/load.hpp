// What comes to a server: requests with their lengths, and when they come. A closed loop of
// clients, arrivals by chance, or a recorded trace; the same seed gives the same load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/chosen/serving.hpp"
#include "simulate/events/task_graph.hpp"

namespace halmark::serving {

using events::Picoseconds;

struct RequestPlan {
  static constexpr std::int64_t no_prefix = -1;
  Picoseconds arrival_ps = 0;
  std::int64_t input_tokens = 1, output_tokens = 1;
  std::int64_t prefix = no_prefix;  // requests of one prefix begin with the same tokens
  std::int64_t prefix_tokens = 0;   // of the input
  std::int32_t priority = 0;        // higher goes first
};

struct Load {
  std::vector<RequestPlan> requests;  // by arrival
  // Of a closed loop: the first of the requests come at their times, every later one when another
  // is answered. 0: all come at their times.
  std::int64_t clients = 0;
  std::vector<std::string> notes = {};  // what of a recorded trace was taken, and what was not
};

enum class Arrivals { closed_loop, poisson, bursty };

struct LoadQuestion {
  Arrivals arrivals = Arrivals::closed_loop;
  RequestShape shape;
  std::int64_t requests = 1;
  std::int64_t clients = 1;  // of a closed loop
  double spread_s = 0;       // over which they come first, evenly
  double rate_per_s = 1;     // of the others
  double variation = 1;      // bursty: standard deviation of the gaps over their mean (Gamma)
  std::int64_t prefix_tokens = 0;
  double prefix_share = 0;  // of requests that begin with it
  std::uint64_t seed = 1;
};
// Throws Error (exit 2) for numbers that mean no load.
Load load_of(const LoadQuestion& question);

// CSV: arrival_s,input_tokens,output_tokens, and optionally prefix_id,prefix_tokens,priority, in
// any order of columns. Or the columns of public traces and engines' logs (Azure's
// TIMESTAMP,ContextTokens,GeneratedTokens; JSON lines with arrival_time,input_toks,output_toks),
// whose times are dates, seconds since 1970 or of their own: the first request comes at 0, requests
// without an answer are left out and counted. Throws Error (exit 2) with file:line for a missing
// column or field, what is no number or below 1, a prefix beyond its prompt, and time that runs
// backwards.
Load read_trace(const std::string& path);
Load parse_trace(std::string_view text, const std::string& name);

}  // namespace halmark::serving
