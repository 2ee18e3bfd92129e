// A load of several kinds of requests: what a mix of devices has to serve.
#pragma once

#include <string>
#include <vector>

#include "core/chosen/objective.hpp"
#include "core/chosen/serving.hpp"

namespace halmark {

// Requests of one size.
struct LoadBucket {
  RequestShape request;
  double requests_per_s = 0;
  std::string text() const;  // "512 + 128 tokens"
};

struct RequestLoad {
  std::vector<LoadBucket> buckets;
  std::vector<ServiceLevel> levels;  // that every request must keep
};

inline constexpr std::size_t buckets_max = 64;
// Of a prompt, an answer or a context, wherever a file states one.
inline constexpr std::int64_t tokens_max = 1 << 22;

// [[bucket]] input_tokens, output_tokens, requests_per_s; [slo] as in sweeps. Throws Error (exit 2)
// with file:line:column.
RequestLoad read_load(const std::string& path);
RequestLoad parse_load(std::string_view text, std::string_view where);

}  // namespace halmark
