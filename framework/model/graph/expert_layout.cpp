#include "model/graph/expert_layout.hpp"

#include <numeric>

namespace halmark {

ExpertLayout expert_layout(const Parallel& parallel) {
  const int in_tensor = std::gcd(parallel.ep, parallel.tp);
  return {.ep = parallel.ep,
          .in_tensor = in_tensor,
          .across_replicas = parallel.ep / in_tensor,
          .width = parallel.tp / in_tensor};
}

}  // namespace halmark
