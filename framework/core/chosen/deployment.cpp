#include "core/chosen/deployment.hpp"

#include <algorithm>

namespace halmark {

Admission admission_of(const Configuration& c) {
  if (c.served) {
    const RequestShape& request = c.served->request;
    return {.sequences = c.served->concurrency,
            .tokens_per_step = c.served->token_budget,
            .longest = request.input_tokens + request.output_tokens};
  }
  // A replica takes its sequences in pp parts, each a step of its own.
  const std::int64_t parts = std::int64_t{c.parallel.dp} * c.parallel.pp;
  const std::int64_t of_step = (c.workload.batch + parts - 1) / parts;
  return {.sequences = c.workload.batch,
          .tokens_per_step = std::max<std::int64_t>(1, of_step * c.workload.new_tokens),
          .longest = c.workload.context};
}

}  // namespace halmark
