// The engines of a server, and what happens before the first step.
#include "simulate/serving/server/server_run.hpp"

namespace halmark::serving {

void Server::build(StepClock& clock, StepClock& prefill_clock) {
  const auto add = [&](Role role, const EnginePlan& plan, StepClock& times, KvBlocks& blocks,
                       const std::string& name) {
    Worker worker;
    worker.engine = std::make_unique<Engine>(role, plan, times, blocks);
    worker.actor = recorder_.actor(name);
    worker.stream = recorder_.resource(name + " steps");
    if (plan_.link_bytes_per_s > 0) {
      worker.link = recorder_.resource(name + " link", plan_.link_bytes_per_s);
    }
    worker.record.name = name;
    workers_.push_back(std::move(worker));
  };
  const auto pool = [&](const EnginePlan& plan) -> KvBlocks& {
    return pools_.emplace_back(plan.blocks, plan.block_tokens);
  };
  clients_ = recorder_.actor("clients");
  if (plan_.mode == ServerMode::aggregated) {
    for (int i = 0; i < plan_.engines; ++i) {
      add(Role::both, plan_.engine, clock, pool(plan_.engine), "engine " + std::to_string(i));
    }
  } else if (plan_.mode == ServerMode::disaggregated) {
    for (int i = 0; i < plan_.prefill_workers; ++i) {
      add(Role::prefill, prefill_plan_, prefill_clock, pool(prefill_plan_),
          "prefill worker " + std::to_string(i));
    }
    for (int i = 0; i < plan_.decode_workers; ++i) {
      add(Role::decode, plan_.engine, clock, pool(plan_.engine),
          "decode worker " + std::to_string(i));
    }
  } else {
    for (int i = 0; i < plan_.engines; ++i) {
      KvBlocks& blocks = pool(plan_.engine);
      const std::string name = "device " + std::to_string(i);
      add(Role::prefill, prefill_plan_, prefill_share_, blocks, name + " prefill");
      add(Role::decode, plan_.engine, decode_share_, blocks, name + " decode");
    }
  }
  for (const Worker& w : workers_) engines_.push_back(w.engine.get());
}

void Server::begin() {
  const ColdStart& cold = plan_.cold_start;
  if (cold.bytes_per_s > 0) {
    const Picoseconds loaded = events::picoseconds(cold.weight_bytes / cold.bytes_per_s);
    const Picoseconds ready = loaded + events::picoseconds(cold.other_s);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      Worker& worker = workers_[w];
      worker.is_ready = false;
      const auto source =
          recorder_.resource(worker.record.name + ' ' + cold.from, cold.bytes_per_s);
      const auto event = recorder_.add({.end_ps = loaded,
                                        .bytes = cold.weight_bytes,
                                        .actor = worker.actor,
                                        .resource = source,
                                        .kind = events::EventKind::place,
                                        .phase = TimelinePhase::one_time},
                                       "weights from " + cold.from);
      const auto boot = recorder_.add({.start_ps = loaded,
                                       .end_ps = ready,
                                       .actor = worker.actor,
                                       .resource = worker.stream,
                                       .cause = event,
                                       .kind = events::EventKind::boot,
                                       .phase = TimelinePhase::one_time},
                                      "start");
      push({.at = ready,
            .kind = Happening::Kind::ready,
            .index = static_cast<std::uint32_t>(w),
            .event = boot});
    }
  }
  records_.resize(load_.requests.size());
  const std::size_t first =
      load_.clients > 0 ? static_cast<std::size_t>(load_.clients) : load_.requests.size();
  Picoseconds before = 0;
  std::uint32_t cause = TimelineEvent::none;
  for (std::size_t r = 0; r < first; ++r) {
    const Picoseconds at = load_.requests[r].arrival_ps;
    cause = recorder_.add({.start_ps = before,
                           .end_ps = at,
                           .actor = clients_,
                           .cause = cause,
                           .kind = events::EventKind::dispatch},
                          "until the next request");
    before = at;
    push({.at = at,
          .kind = Happening::Kind::arrival,
          .index = static_cast<std::uint32_t>(r),
          .event = cause});
  }
  arrived_ = first;
}

void Server::push(Happening what) {
  what.sequence = next_++;
  heap_.push(what);
}

}  // namespace halmark::serving
