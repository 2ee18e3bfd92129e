// The verbs of GraphBuilder for what ranks exchange.
#include <utility>

#include "model/graph/draft.hpp"

namespace halmark {

using draft::exchanged;
using draft::shape;

void GraphBuilder::all_reduce(std::string name, const Size& columns) {
  if (tp_ == 1) return;
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::row,
       .local = exchanged("all_reduce", precision().activation, tokens_.local * columns, tp_),
       .shape_in = shape({tokens_.whole, columns})});
}

void GraphBuilder::all_gather(std::string name, Extent rows, Extent columns) {
  if (tp_ == 1) return;
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::vocab,
       .local = exchanged("all_gather", precision().activation, rows.local * columns.local, tp_),
       .shape_in = shape({rows.whole, columns.whole})});
}

void GraphBuilder::send_recv(std::string name, std::int64_t columns) {
  const int pp = graph_.configuration.parallel.pp;
  if (pp == 1) return;
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::pipeline,
       .local = exchanged("send_recv", precision().activation, tokens_.local * columns, pp),
       .shape_in = shape({tokens_.whole, columns})});
}

// One step passes on the keys of one rank; cp - 1 steps show them to all. A window that leaves out
// cached keys shortens the messages, and not the way around.
void GraphBuilder::ring_exchange(std::string name, const Size& keys, Extent columns, Dtype dtype) {
  const int cp = graph_.configuration.parallel.cp;
  if (cp == 1) return;
  const Size of_rank = ceiling(keys, cp);
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::context,
       .local = exchanged("send_recv", dtype, batch_.local * of_rank * columns.local, cp),
       .shape_in = shape({batch_.whole, keys, columns.whole})});
  std::vector<std::int32_t>& steps = graph_.layer_types.back().operators;
  steps.insert(steps.end(), static_cast<std::size_t>(cp - 2), steps.back());
}

}  // namespace halmark
