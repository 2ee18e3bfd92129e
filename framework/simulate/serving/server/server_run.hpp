// The simulation itself, in three parts: its loop (server.cpp), its engines and what happens once
// (server_begin.cpp), and what moves between engines (server_moves.cpp).
#pragma once

#include <deque>
#include <queue>

#include "simulate/serving/recorder.hpp"
#include "simulate/serving/server/server.hpp"

namespace halmark::serving {

using simulate::TimelineEvent;
using simulate::TimelinePhase;

inline Picoseconds picoseconds_of(double ns) { return events::picoseconds(ns * 1e-9); }

// A device of which an engine has a share: every step takes so much longer.
class SharedClock : public StepClock {
 public:
  SharedClock(StepClock& whole, double share) : whole_(whole), share_(share) {}
  double step_ns(const StepWork& work) override { return whole_.step_ns(work) / share_; }

 private:
  StepClock& whole_;
  double share_;
};

// What is to happen, in order of time; at one time by kind, then as it was scheduled.
struct Happening {
  enum class Kind : std::uint8_t { ready, step_end, moved, arrival, queued };
  Picoseconds at = 0;
  Kind kind = Kind::arrival;
  std::uint64_t sequence = 0;
  std::uint32_t index = 0;  // an engine, a request, or a request on its way
  std::uint32_t event = TimelineEvent::none;
  bool operator>(const Happening& other) const {
    if (at != other.at) return at > other.at;
    if (kind != other.kind) return kind > other.kind;
    return sequence > other.sequence;
  }
};

// An engine with what the server knows of it.
struct Worker {
  std::unique_ptr<Engine> engine;
  std::uint32_t actor = 0, stream = 0, link = TimelineEvent::none;
  Picoseconds link_free_ps = 0;  // of what it sends
  std::uint32_t link_event = TimelineEvent::none;
  bool is_ready = true;
  std::uint32_t last_event = TimelineEvent::none;  // that let it begin a step, and its end
  Picoseconds last_end_ps = -1;
  EngineRecord record;
};

// A request between two workers, or waiting for room in the second.
struct Moving {
  Live request;
  std::size_t from = 0, to = 0;
  bool holds_at_source = false;
};

class Server {
 public:
  Server(const ServerPlan& plan, const Load& load, StepClock& clock, StepClock& prefill_clock,
         const Observer& observe)
      : plan_(plan),
        load_(load),
        prefill_plan_(plan.prefill.value_or(plan.engine)),
        decode_share_(clock, 1 - plan.prefill_share),
        prefill_share_(prefill_clock, plan.prefill_share),
        observe_(observe),
        recorder_(plan.keeps_timeline) {
    build(clock, prefill_clock);
  }
  ServerRecord run();

 private:
  void build(StepClock& clock, StepClock& prefill_clock);
  void push(Happening what);
  void begin();
  void handle(const Happening& what);
  void let_begin(Worker& worker);
  const EngineTerms& arrival_terms() const;
  void arrive(std::uint32_t r);
  void enqueue(std::uint32_t r);
  Worker& least_loaded(bool begins);
  void end_step(std::uint32_t w);
  void answer(const Live& live, const Worker& worker);
  void transfer(Moving moving, events::EventKind kind, const std::string& label);
  void send(Live live, std::size_t from);
  void arrive_moved(std::uint32_t index);
  void place_moved();
  void migrate(std::size_t from);
  void step(std::size_t w);
  static void record_peak(Worker& worker);
  ServerRecord finish();
  const ServerPlan& plan_;
  const Load& load_;
  EnginePlan prefill_plan_;
  SharedClock decode_share_, prefill_share_;
  const Observer& observe_;
  Recorder recorder_;
  std::uint32_t clients_ = 0;
  std::deque<KvBlocks> pools_;
  std::vector<Worker> workers_;
  std::vector<const Engine*> engines_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> heap_;
  std::uint64_t next_ = 0;
  std::deque<Moving> moving_;
  std::vector<std::size_t> waiting_for_room_;  // of moving_
  std::vector<RequestRecord> records_;
  Picoseconds now_ps_ = 0;
  std::uint32_t trigger_ = TimelineEvent::none;  // what ended last at this time
  std::size_t arrived_ = 0, answered_ = 0;
  std::int64_t in_system_ = 0, migrations_ = 0;
  double in_system_ps_ = 0, handed_over_bytes_ = 0;
  std::optional<Picoseconds> first_ps_;
};

}  // namespace halmark::serving
