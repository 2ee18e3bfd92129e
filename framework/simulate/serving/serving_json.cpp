#include "simulate/serving/serving_json.hpp"

namespace halmark::serving {
namespace {

Json percentiles_json(const Percentiles& p) {
  if (p.n == 0) return nullptr;
  return {{"n", p.n},
          {"mean_ms", p.mean * 1e-6},
          {"p50_ms", p.p50 * 1e-6},
          {"p90_ms", p.p90 * 1e-6},
          {"p99_ms", p.p99 * 1e-6}};
}

Json kv_json(const EnginePlan& plan, const EngineRecord& engine) {
  const KvCounters& kv = engine.kv;
  return {{"blocks", plan.blocks},
          {"block_tokens", plan.block_tokens},
          {"block_bytes", plan.block_bytes},
          {"blocks_peak", engine.blocks_peak},
          {"allocated", kv.allocated},
          {"reused", kv.reused},
          {"freed", kv.freed},
          {"evicted", kv.evicted},
          {"recomputed", kv.recomputed},
          {"evicted_bytes", kv_bytes(plan, kv.evicted)}};
}

template <class Number>
Json or_null(const std::optional<Number>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

Json server_json(const ServerPlan& plan, const ServerRecord& record, const ServerSummary& s) {
  Json engines = Json::array();
  for (const EngineRecord& e : record.engines) {
    const bool is_prefill = e.name.starts_with("prefill");
    engines.push_back(
        {{"name", e.name},
         {"steps", e.steps},
         {"busy_s", events::seconds_of(e.busy_ps)},
         {"prompt_tokens", e.prompt_tokens},
         {"generated_tokens", e.generated_tokens},
         {"put_off", e.put_off},
         {"kv", kv_json(is_prefill && plan.prefill ? *plan.prefill : plan.engine, e)}});
  }
  return {{"mode", server_mode_name(plan.mode)},
          {"requests", record.requests.size()},
          {"makespan_s", s.makespan_s},
          {"ttft", percentiles_json(s.ttft)},
          {"tpot", percentiles_json(s.tpot)},
          {"request", percentiles_json(s.request)},
          {"requests_per_s", s.requests_per_s},
          {"tokens_per_s", s.tokens_per_s},
          {"generated_tokens", s.generated_tokens},
          {"prompt_tokens", s.prompt_tokens},
          {"in_system_mean", record.in_system},
          {"goodput_requests_per_s", or_null(s.goodput_requests_per_s)},
          {"goodput_share", or_null(s.goodput_share)},
          {"migrations", record.migrations},
          {"handed_over_bytes", record.handed_over_bytes},
          {"cold_start_s",
           record.cold_start_ps ? Json(events::seconds_of(*record.cold_start_ps)) : Json(nullptr)},
          {"engines", std::move(engines)}};
}

std::string events_text(const simulate::Timeline& timeline) {
  std::string out;
  constexpr auto none = simulate::TimelineEvent::none;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const auto& e = timeline.events[i];
    const Json line = {{"id", i},
                       {"phase", simulate::phase_name(e.phase)},
                       {"actor", timeline.actors[e.actor]},
                       {"kind", events::kind_name(e.kind)},
                       {"label", timeline.labels[e.label]},
                       {"start_us", static_cast<double>(e.start_ps) * 1e-6},
                       {"end_us", static_cast<double>(e.end_ps) * 1e-6},
                       {"resource", e.resource == none ? Json(nullptr)
                                                       : Json(timeline.resources[e.resource].name)},
                       {"bytes", e.bytes},
                       {"flops", e.flops},
                       {"cause", e.cause == none ? Json::array() : Json::array({e.cause})},
                       {"is_critical", e.is_critical}};
    out += line.dump() + '\n';
  }
  return out;
}

}  // namespace halmark::serving
