#include "simulate/serving/server/server.hpp"

#include <algorithm>

#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"
#include "simulate/serving/server/server_run.hpp"

namespace halmark::serving {
namespace {

constexpr auto server_modes = enum_names<ServerMode>("aggregated", "disaggregated", "shared");

}  // namespace

std::string_view server_mode_name(ServerMode mode) { return server_modes.of(mode); }

std::optional<ServerMode> parse_server_mode(std::string_view text) {
  return server_modes.parse(text);
}

ServerRecord Server::run() {
  begin();
  while (!heap_.empty()) {
    const Picoseconds now = heap_.top().at;
    in_system_ps_ += static_cast<double>(in_system_) * static_cast<double>(now - now_ps_);
    now_ps_ = now;
    while (!heap_.empty() && heap_.top().at == now) {
      const Happening what = heap_.top();
      heap_.pop();
      handle(what);
    }
    place_moved();
    for (std::size_t w = 0; w < workers_.size(); ++w) step(w);
    if (observe_) observe_(now, engines_);
  }
  return finish();
}

void Server::handle(const Happening& what) {
  trigger_ = what.event;
  switch (what.kind) {
    case Happening::Kind::ready:
      workers_[what.index].is_ready = true;
      return let_begin(workers_[what.index]);
    case Happening::Kind::step_end:
      return end_step(what.index);
    case Happening::Kind::moved:
      return arrive_moved(what.index);
    case Happening::Kind::arrival:
      return arrive(what.index);
    case Happening::Kind::queued:
      return enqueue(what.index);
  }
}

// What happens now is why its next step can begin, unless its own last step ends now.
void Server::let_begin(Worker& worker) {
  if (worker.last_end_ps == now_ps_) return;
  worker.last_event = trigger_;
  worker.last_end_ps = now_ps_;
}

const EngineTerms& Server::arrival_terms() const {
  return (plan_.mode == ServerMode::aggregated ? plan_.engine : prefill_plan_).terms;
}

void Server::arrive(std::uint32_t r) {
  const RequestPlan& request = load_.requests[r];
  records_[r].arrival_ps = now_ps_;
  records_[r].input_tokens = request.input_tokens;
  records_[r].output_tokens = request.output_tokens;
  ++in_system_;
  const Picoseconds away = picoseconds_of(arrival_terms().arrival_ns);
  const auto event = recorder_.add({.start_ps = now_ps_,
                                    .end_ps = now_ps_ + away,
                                    .actor = clients_,
                                    .cause = trigger_,
                                    .kind = events::EventKind::dispatch},
                                   "to the queue");
  push({.at = now_ps_ + away, .kind = Happening::Kind::queued, .index = r, .event = event});
}

void Server::enqueue(std::uint32_t r) {
  const RequestPlan& plan = load_.requests[r];
  Live live{.request = r,
            .prompt = plan.input_tokens,
            .input = plan.input_tokens,
            .output = plan.output_tokens,
            .prefix_tokens = plan.prefix_tokens,
            .priority = plan.priority};
  if (plan.prefix_tokens > 0) live.blocks.prefix = plan.prefix;
  Worker& worker = least_loaded(true);
  worker.engine->enqueue(std::move(live));
  if (!worker.engine->is_stepping()) let_begin(worker);
}

// The worker with the fewest requests, of those that begin requests or go on with them.
Worker& Server::least_loaded(bool begins) {
  Worker* out = nullptr;
  for (Worker& w : workers_) {
    const bool fits = begins ? w.engine->role() != Role::decode : w.engine->role() != Role::prefill;
    if (fits && (out == nullptr || w.engine->load() < out->engine->load())) out = &w;
  }
  return *out;
}

void Server::end_step(std::uint32_t w) {
  Worker& worker = workers_[w];
  StepResult result = worker.engine->end_step();
  worker.record.generated_tokens += result.tokens;
  for (const std::uint32_t r : result.first) {
    records_[r].first_ps = now_ps_;
    if (!first_ps_) first_ps_ = now_ps_;
  }
  for (Live& live : result.handed_over) send(std::move(live), w);
  for (const Live& live : result.answered) answer(live, worker);
  if (plan_.migrates && plan_.mode == ServerMode::aggregated) migrate(w);
}

void Server::answer(const Live& live, const Worker& worker) {
  RequestRecord& record = records_[live.request];
  record.end_ps = now_ps_;
  record.put_off = live.put_off;
  --in_system_;
  ++answered_;
  const std::string name = "request " + std::to_string(live.request);
  const auto waited = recorder_.add({.start_ps = record.arrival_ps,
                                     .end_ps = record.first_ps,
                                     .actor = worker.actor,
                                     .kind = events::EventKind::emit},
                                    name + " to the first token");
  recorder_.add({.start_ps = record.first_ps,
                 .end_ps = record.end_ps,
                 .actor = worker.actor,
                 .cause = waited,
                 .kind = events::EventKind::done},
                name + " to the last token");
  if (load_.clients > 0 && arrived_ < load_.requests.size()) {
    push({.at = now_ps_,
          .kind = Happening::Kind::arrival,
          .index = static_cast<std::uint32_t>(arrived_++),
          .event = trigger_});
  }
}

void Server::step(std::size_t w) {
  Worker& worker = workers_[w];
  Engine& engine = *worker.engine;
  if (!worker.is_ready || engine.is_stepping()) return;
  const auto work = engine.begin_step();
  record_peak(worker);
  if (!work) return;
  const Picoseconds length = std::max<Picoseconds>(1, picoseconds_of(engine.step_ns(*work)));
  const char* const label = work->pieces == 0 ? "decode" : work->decodes == 0 ? "prefill" : "mixed";
  const auto event =
      recorder_.add({.start_ps = now_ps_,
                     .end_ps = now_ps_ + length,
                     .actor = worker.actor,
                     .resource = worker.stream,
                     .cause = worker.last_end_ps == now_ps_ ? worker.last_event : trigger_,
                     .kind = events::EventKind::kernel},
                    label);
  worker.last_event = event;
  worker.last_end_ps = now_ps_ + length;
  ++worker.record.steps;
  worker.record.busy_ps += length;
  worker.record.prompt_tokens += work->piece_tokens;
  push({.at = now_ps_ + length,
        .kind = Happening::Kind::step_end,
        .index = static_cast<std::uint32_t>(w),
        .event = event});
}

void Server::record_peak(Worker& worker) {
  const KvBlocks& blocks = worker.engine->blocks();
  worker.record.blocks_peak = std::max(worker.record.blocks_peak, blocks.total() - blocks.free());
}

ServerRecord Server::finish() {
  ServerRecord out;
  if (answered_ != load_.requests.size()) {
    throw refused(std::to_string(load_.requests.size() - answered_) + " of " +
                      std::to_string(load_.requests.size()) +
                      " requests are never answered: nothing makes room for them",
                  {}, "give the cache more blocks, or the batch more requests");
  }
  out.makespan_ps = now_ps_;
  out.requests = std::move(records_);
  for (Worker& w : workers_) {
    w.record.kv = w.engine->blocks().counters();
    w.record.put_off = w.engine->put_off();
    out.engines.push_back(std::move(w.record));
  }
  out.migrations = migrations_;
  out.handed_over_bytes = handed_over_bytes_;
  out.in_system = now_ps_ > 0 ? in_system_ps_ / static_cast<double>(now_ps_) : 0;
  if (plan_.cold_start.bytes_per_s > 0) out.cold_start_ps = first_ps_;
  out.timeline = recorder_.take(now_ps_);
  return out;
}

ServerRecord simulate_server(const ServerPlan& plan, const Load& load, StepClock& clock,
                             StepClock& prefill_clock, const Observer& observe) {
  check_server(plan, load);
  return Server(plan, load, clock, prefill_clock, observe).run();
}

}  // namespace halmark::serving
