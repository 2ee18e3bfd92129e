// A server: its engines, how requests come to them and between them, simulated event by event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulate/serving/engine.hpp"
#include "simulate/serving/load.hpp"
#include "simulate/timeline/timeline.hpp"

namespace halmark::serving {

// aggregated: engines alike. disaggregated: prefill workers hand the KV cache over a link to decode
// workers. shared: pairs of a prefill and a decode engine on the same devices, each with its share
// of their time, and one pool of blocks.
enum class ServerMode { aggregated, disaggregated, shared };
std::string_view server_mode_name(ServerMode mode);
std::optional<ServerMode> parse_server_mode(std::string_view text);

// From nothing to the first step: weights from a disk or over a network, then all else that is done
// once. Events of phase one_time.
struct ColdStart {
  double weight_bytes = 0;  // of one engine
  double bytes_per_s = 0;   // 0 = the engines run when the simulation begins
  std::string from = "disk";
  double other_s = 0;  // starting processes, compiling, capturing graphs
};

struct ServerPlan {
  ServerMode mode = ServerMode::aggregated;
  int engines = 1;          // aggregated; pairs of a shared one
  int prefill_workers = 1;  // disaggregated
  int decode_workers = 1;
  EnginePlan engine;                  // of decode workers too
  std::optional<EnginePlan> prefill;  // of prefill workers; absent = as `engine`
  double prefill_share = 0.5;         // shared: of the devices' time
  double link_bytes_per_s = 0;        // between two workers; 0 = none
  double kv_bytes_per_token = 0;      // that goes over it
  bool migrates = false;              // between aggregated engines, over the link
  ColdStart cold_start;
  bool keeps_timeline = true;
  // Tokens and pieces that the events step over: more is refused before anything is simulated.
  double work_max = 4e9;
};

struct RequestRecord {
  Picoseconds arrival_ps = 0, first_ps = 0, end_ps = 0;
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::uint32_t put_off = 0;
};

struct EngineRecord {
  std::string name;
  std::int64_t steps = 0, put_off = 0;
  std::int64_t prompt_tokens = 0, generated_tokens = 0;  // computed, what was put off again too
  Picoseconds busy_ps = 0;
  std::int64_t blocks_peak = 0;  // held or kept
  KvCounters kv;
};

struct ServerRecord {
  std::vector<RequestRecord> requests;  // in order of arrival
  std::vector<EngineRecord> engines;
  std::int64_t migrations = 0;
  double handed_over_bytes = 0;
  Picoseconds makespan_ps = 0;
  double in_system = 0;  // requests between arrival and last token, mean over the makespan
  std::optional<Picoseconds> cold_start_ps;  // to the first token of all
  simulate::Timeline timeline;
};

// Throws as simulate_server does; what it checks before anything is simulated.
void check_server(const ServerPlan& plan, const Load& load);

// What holds at an instant, for tests: called when all that happens in it has happened.
using Observer = std::function<void(Picoseconds now, const std::vector<const Engine*>& engines)>;

// `clock`: steps of an engine (of decode workers); `prefill_clock`: of prefill workers, the same
// where they are alike. Throws Error (exit 2), before anything is simulated, for a plan without
// blocks or engines, a request that no cache holds, and a load beyond `work_max`.
ServerRecord simulate_server(const ServerPlan& plan, const Load& load, StepClock& clock,
                             StepClock& prefill_clock, const Observer& observe = {});

}  // namespace halmark::serving
