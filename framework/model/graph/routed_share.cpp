#include "model/graph/routed_share.hpp"

#include "core/chosen/configuration.hpp"
#include "core/numeric/cast.hpp"
#include "kernels/routing.hpp"
#include "model/graph/expert_imbalance.hpp"

namespace halmark {

Work scaled(Work work, const WorkShare& share) {
  const double activations_read = work.bytes_read - work.constant_bytes;
  work.matmul_flops *= share.rows;
  work.vector_flops *= share.rows;
  work.constant_bytes *= share.weights;
  work.bytes_read = activations_read * share.rows + work.constant_bytes;
  work.bytes_written *= share.rows;
  return work;
}

double RoutedShare::imbalance(std::int64_t tokens) const {
  return imbalance_ppm == Workload::uniform_ppm
             ? expected_imbalance(experts, top_k, ep, tokens * across)
             : as_double(imbalance_ppm) / as_double(Workload::balanced_ppm);
}

WorkShare RoutedShare::at(std::int64_t tokens) const {
  const std::int64_t ranks = is_of_group ? ep : ep / across;
  const std::int64_t own_tokens = is_of_group ? tokens * across : tokens;
  const auto counts = routing_counts(own_tokens, top_k, experts, 0);
  const ExpertRange heaviest = local_experts(experts, ranks, heaviest_rank(counts, ranks));
  const double mean = as_double(own_tokens * top_k) / as_double(ranks);
  WorkShare out;
  out.rows = mean / as_double(rows_of(counts, heaviest)) * imbalance(tokens);
  out.weights = expected_distinct_experts(experts, top_k, own_tokens) /
                as_double(ranks * active_experts(counts, heaviest));
  return out;
}

}  // namespace halmark
