// What if every op ran on the backend that is fastest at it? A sum of kernels alone: what moves
// between devices is not in it, so it is shown beside the comparison and is on no front.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/views/backend_views.hpp"

namespace halmark::report {

struct BackendMix {
  struct Choice {
    std::string op, backend;
    double duration_ns = 0;  // the op's problems, each once, by the best variant of the backend
  };
  std::vector<Choice> ops;                             // in the order of the comparison
  std::map<std::string, std::optional<double>> alone;  // all problems; nothing where one lacks
  double duration_ns() const;
};

// Only backends that have a time of every problem of an op are asked for it. Nothing where an op
// has none, or where one backend is the choice of all.
std::optional<BackendMix> best_mix(std::span<const BackendComparison> comparisons);

// {"ops": [...], "duration_ns": x, "alone": {...}} and two lines.
View mix_view(const BackendMix& mix);

}  // namespace halmark::report
