// What cannot be simulated is refused before anything is.
#include <cmath>

#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "simulate/serving/server/server.hpp"

namespace halmark::serving {
namespace {

void require(bool holds, const std::string& what, const std::string& remedy) {
  if (!holds) throw refused(what, {}, remedy);
}

void check_engine(const EnginePlan& plan) {
  require(plan.token_budget >= 1, "a step of " + std::to_string(plan.token_budget) + " tokens",
          "--token-budget is 1 or more");
  require(plan.block_tokens >= 1, "KV blocks of " + std::to_string(plan.block_tokens) + " tokens",
          "--block-tokens is 1 or more");
  require(plan.blocks >= 1, "a KV cache of " + std::to_string(plan.blocks) + " blocks",
          "the weights leave no room, or --kv-blocks is below 1");
}

void check_request(const EnginePlan& plan, const RequestPlan& request, std::size_t index,
                   std::int64_t tokens) {
  const std::int64_t blocks = (tokens + plan.block_tokens - 1) / plan.block_tokens;
  require(blocks <= plan.blocks,
          "request " + std::to_string(index) + " of " + std::to_string(request.input_tokens) +
              " + " + std::to_string(request.output_tokens) + " tokens needs " +
              std::to_string(blocks) + " KV blocks, and an engine has " +
              std::to_string(plan.blocks),
          "more memory, more devices per engine, or shorter requests");
}

}  // namespace

void check_server(const ServerPlan& plan, const Load& load) {
  check_engine(plan.engine);
  if (plan.prefill) check_engine(*plan.prefill);
  require(plan.engines >= 1 && plan.prefill_workers >= 1 && plan.decode_workers >= 1,
          "a server without engines", "one of each at least");
  require(plan.mode != ServerMode::disaggregated || plan.link_bytes_per_s > 0,
          "prefill and decode workers without a link between them",
          "state --link-gb-per-s, or a device file with a link");
  require(!plan.migrates || plan.link_bytes_per_s > 0, "migration without a link",
          "state --link-gb-per-s, or a device file with a link");
  require(!plan.migrates || plan.mode == ServerMode::aggregated,
          "migration in a server that is not aggregated",
          "requests move between engines that are alike");
  require(plan.mode != ServerMode::shared || (plan.prefill_share > 0 && plan.prefill_share < 1),
          "a prefill share of " + number_text(plan.prefill_share),
          "it lies between 0 and 1: both need some of the device");
  require(!load.requests.empty(), "a load without requests", "ask for 1 or more");
  double work = 0;
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const RequestPlan& r = load.requests[i];
    check_request(plan.engine, r, i, r.input_tokens + r.output_tokens);
    if (plan.prefill) check_request(*plan.prefill, r, i, r.input_tokens);
    work += static_cast<double>(r.output_tokens) +
            std::ceil(static_cast<double>(r.input_tokens) /
                      static_cast<double>(plan.engine.token_budget));
  }
  require(work <= plan.work_max,
          "the load has " + number_text(work, 3) +
              " tokens and pieces to step over, and the limit "
              "is " +
              number_text(plan.work_max, 3),
          "ask for fewer --requests or a shorter trace: nothing was simulated");
}

}  // namespace halmark::serving
