// The two kinds of algorithms that lower() knows.
#pragma once

#include "simulate/collectives/message_writer.hpp"
#include "simulate/collectives/rank_order.hpp"

namespace halmark::simulate {

inline void append(Tasks& tasks, const Tasks& more) {
  tasks.insert(tasks.end(), more.begin(), more.end());
}

// `state`, by rank: what each begins after; then what it has all of its result after.
void lower_rounds(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
                  std::vector<Tasks>& state);
void lower_streams(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
                   std::vector<Tasks>& state);

}  // namespace halmark::simulate
