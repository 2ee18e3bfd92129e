// Why the operands of an executed stack hold other bytes than the memory model counts: each cause
// from the graph alone.
#pragma once

#include <cstdint>

#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"

namespace halmark {

// Of one rank. What its kernels need of weights, one instance each, is modelled.weight_bytes +
// table_twice - unread - idle_experts; of the cache modelled.kv_bytes + beyond_window.
struct StackMemory {
  RankMemory modelled;
  std::int64_t table_twice_bytes = 0;    // a tied table and its head are two kernels' operands
  std::int64_t unread_bytes = 0;         // biases and scales that no kernel reads
  std::int64_t idle_expert_bytes = 0;    // experts of a rank that got no row
  std::int64_t beyond_window_bytes = 0;  // kernels get the whole context
};

StackMemory stack_memory(const OperatorGraph& graph, std::size_t stage, int expert_rank);

}  // namespace halmark
