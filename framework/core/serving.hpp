// What the users and the owner of a served model see: figures of a stream of equal requests, and
// limits on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halmark {

struct RequestShape {
  std::int64_t input_tokens = 1;   // prompt
  std::int64_t output_tokens = 1;  // generated, the first included
};

// Of the whole deployment, all replicas together, in steady state.
struct ServingFigures {
  double ttft_ns = 0;     // arrival to first token, waiting included
  double tpot_ns = 0;     // mean time between later tokens; 0 with a single one
  double request_ns = 0;  // arrival to last token
  double requests_per_s = 0;
  double tokens_per_s = 0;  // generated
  double tokens_per_s_per_device = 0;
  double concurrency = 0;  // requests in the system: requests_per_s x request_ns (Little's law)
  std::optional<double> mfu;
  std::optional<double> energy_j_per_token;      // generated token; at the device's stated power
  std::optional<double> usd_per_million_tokens;  // generated tokens
};

}  // namespace halmark
