#include "pages/serve/state/served_state.hpp"

#include "core/text/error.hpp"

namespace halmark::pages {
namespace {

constexpr std::int64_t generated_max = 3'000'000;  // tokens of all requests: about ten seconds
constexpr std::int64_t batch_unstated = 16;        // where requests come by chance

}  // namespace

PageState decode_of(const PageState& state) {
  if (!state.load) return state;
  PageState out = state;
  const std::int64_t together = state.load->rate ? batch_unstated : state.load->clients;
  out.phase = Phase::decode;
  out.batch = (together + state.shards - 1) / state.shards * state.shards;
  out.new_tokens = 1;
  out.context = state.load->input + state.load->output;
  out.load.reset();
  out.served_by = state.load->engine;
  return out;
}

tune::ServingQuestion serving_question(const PageState& state, PricedSystem& system,
                                       const PageSources& sources) {
  const PageLoad& load = *state.load;
  if (sources.here && state.device == sources.here->id) {
    throw refused("a server of this machine is not simulated", {}, "choose a known accelerator");
  }
  const std::int64_t requests = load.requests > 0 ? load.requests : 8 * load.clients;
  if (requests * load.output > generated_max) {
    throw refused(std::to_string(requests * load.output) +
                      " generated tokens are not simulated while you wait",
                  {}, "choose fewer requests or tokens, or ask halmark simulate serving");
  }
  const Parallel parallel = system.configuration(decode_of(state)).parallel;
  tune::ServingQuestion out{.model = state.model,
                            .dtype = state.dtype,
                            .tp = parallel.tp,
                            .pp = parallel.pp,
                            .dp = parallel.dp,
                            .ep = parallel.ep};
  out.latency.device = state.device;
  out.latency.sources = sources.latency;
  out.load.shape = {load.input, load.output};
  out.load.requests = load.requests;
  out.has_rate = load.rate.has_value();
  if (!out.has_rate) out.load.clients = load.clients;
  out.load.rate_per_s = load.rate.value_or(1);
  out.latency.engine = parse_engine(load.engine);
  return out;
}

void check_served_page(const tune::ServingQuestion& q) {
  const tune::ServingQuestion none;
  for (const auto& [option, is_stated] :
       {std::pair{"--arrivals", !q.trace.empty()},
        {"--rate", q.has_rate},
        {"--mode", q.mode != none.mode},
        {"--burst", q.load.variation != none.load.variation},
        {"--prefix-tokens", q.load.prefix_tokens != 0},
        {"--token-budget", q.engine.token_budget != none.engine.token_budget},
        {"--kv-blocks", q.engine.blocks != 0},
        {"--block-tokens", q.engine.block_tokens != none.engine.block_tokens},
        {"--max-batch", q.engine.requests_max != 0},
        {"--cold-start", !q.cold_start.empty()},
        {"release of --engine", !q.latency.engine.release.empty()},
        {"--migrate", q.migrates}}) {
    if (!is_stated) continue;
    throw refused(std::string("the page around a server has no ") + option, "--html",
                  "leave one of the two out");
  }
}

PageState served_page(const tune::ServingQuestion& q, const tune::ServedSimulation& server,
                      const std::string& device) {
  return {.device = device,
          .model = server.spec.id,
          .dtype = q.dtype,
          .shards = server.configuration.devices(),
          .load = PageLoad{.clients = q.load.clients,
                           .input = q.load.shape.input_tokens,
                           .output = q.load.shape.output_tokens,
                           .requests = std::ssize(server.record.requests),
                           .engine = q.latency.engine.name}};
}

}  // namespace halmark::pages
