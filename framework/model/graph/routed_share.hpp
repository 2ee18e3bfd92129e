// What the rank that decides a step has of routed rows where no skew states the routing: the
// rational share tokens x top_k / ranks times an imbalance, and the weights of the expected number
// of distinct experts, where a kernel has whole rows and whole experts.
#pragma once

#include <compare>
#include <cstdint>

#include "kernels/contract.hpp"

namespace halmark {

// Factors on the work of whole rows.
struct WorkShare {
  double rows = 1;     // all but the weights
  double weights = 1;  // constant bytes
};
Work scaled(Work work, const WorkShare& share);

struct RoutedShare {
  std::int64_t experts = 1, top_k = 1;
  std::int64_t ep = 1;      // ranks of the expert group
  std::int64_t across = 1;  // replicas that fill it, each with its own tokens
  // Rows of all its replicas, on all its ranks; or those of one replica, on its ep / across.
  bool is_of_group = true;
  std::int64_t imbalance_ppm = 0;  // as the workload states it

  // Where each replica has so many tokens; at least one.
  WorkShare at(std::int64_t tokens) const;
  // Rows of the rank with the most over the mean.
  double imbalance(std::int64_t tokens) const;
  auto operator<=>(const RoutedShare&) const = default;
};

}  // namespace halmark
