// The verbs of GraphBuilder for what ranks exchange.
#include <utility>

#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

void GraphBuilder::all_reduce(std::string name, const Size& columns) {
  if (tp_ == 1) return;
  const Dtype dtype = precision().activation;
  SizedProblem local =
      sized_problem("all_reduce", {{"bytes", dtype_bytes(dtype, tokens_.local * columns)},
                                   {"ranks", tp_},
                                   {"dtype", number(dtype)}});
  const std::string dims = shape({tokens_.whole, columns});
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::row,
       .whole = std::nullopt,
       .local = std::move(local),
       .shape_in = dims,
       .shape_out = dims});
}

void GraphBuilder::all_gather(std::string name, Extent rows, Extent columns) {
  if (tp_ == 1) return;
  const Dtype dtype = precision().activation;
  SizedProblem local =
      sized_problem("all_gather", {{"bytes", dtype_bytes(dtype, rows.local * columns.local)},
                                   {"ranks", tp_},
                                   {"dtype", number(dtype)}});
  const std::string dims = shape({rows.whole, columns.whole});
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::vocab,
       .whole = std::nullopt,
       .local = std::move(local),
       .shape_in = dims,
       .shape_out = dims});
}

void GraphBuilder::send_recv(std::string name, std::int64_t columns) {
  const int pp = graph_.configuration.parallel.pp;
  if (pp == 1) return;
  const Dtype dtype = precision().activation;
  SizedProblem local =
      sized_problem("send_recv", {{"bytes", dtype_bytes(dtype, tokens_.local * columns)},
                                  {"ranks", pp},
                                  {"dtype", number(dtype)}});
  const std::string dims = shape({tokens_.whole, columns});
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::pipeline,
       .whole = std::nullopt,
       .local = std::move(local),
       .shape_in = dims,
       .shape_out = dims});
}

// One step passes on the keys of one rank; cp - 1 steps show them to all. A window that leaves out
// cached keys shortens the messages, and not the way around.
void GraphBuilder::ring_exchange(std::string name, const Size& keys, Extent columns, Dtype dtype) {
  const int cp = graph_.configuration.parallel.cp;
  if (cp == 1) return;
  const Size of_rank = ceiling(keys, cp);
  SizedProblem local = sized_problem(
      "send_recv", {{"bytes", dtype_bytes(dtype, batch_.local * of_rank * columns.local)},
                    {"ranks", cp},
                    {"dtype", number(dtype)}});
  const std::string dims = shape({batch_.whole, keys, columns.whole});
  add({.name = std::move(name),
       .kind = OperatorKind::collective,
       .split = Split::context,
       .whole = std::nullopt,
       .local = std::move(local),
       .shape_in = dims,
       .shape_out = dims});
  std::vector<std::int32_t>& steps = graph_.layer_types.back().operators;
  steps.insert(steps.end(), static_cast<std::size_t>(cp - 2), steps.back());
}

}  // namespace halmark
