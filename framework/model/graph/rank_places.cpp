#include "model/graph/rank_places.hpp"

#include "model/graph/expert_layout.hpp"

namespace halmark {

std::int64_t group_stride(const Parallel& parallel, Split split) {
  const std::int64_t context = parallel.tp;
  const std::int64_t expert = context * parallel.cp;
  const std::int64_t pipeline = expert * expert_layout(parallel).across_replicas;
  switch (split) {
    case Split::context:
      return context;
    case Split::expert:
      return expert;
    case Split::pipeline:
      return pipeline;
    case Split::data:
      return pipeline * parallel.pp;
    case Split::replicated:
    case Split::column:
    case Split::row:
    case Split::head:
    case Split::vocab:
      break;
  }
  return 1;
}

}  // namespace halmark
