#include "model/graph/routed_share.hpp"

#include "core/chosen/configuration.hpp"
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
             : static_cast<double>(imbalance_ppm) / static_cast<double>(Workload::balanced_ppm);
}

WorkShare RoutedShare::at(std::int64_t tokens) const {
  const std::int64_t ranks = is_of_group ? ep : ep / across;
  const std::int64_t own_tokens = is_of_group ? tokens * across : tokens;
  const auto counts = routing_counts(own_tokens, top_k, experts, 0);
  const ExpertRange heaviest = local_experts(experts, ranks, heaviest_rank(counts, ranks));
  const double mean = static_cast<double>(own_tokens * top_k) / static_cast<double>(ranks);
  WorkShare out;
  out.rows = mean / static_cast<double>(rows_of(counts, heaviest)) * imbalance(tokens);
  out.weights = expected_distinct_experts(experts, top_k, own_tokens) /
                static_cast<double>(ranks * active_experts(counts, heaviest));
  return out;
}

}  // namespace halmark
