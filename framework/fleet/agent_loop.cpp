// Rows are committed with the unit that they finish, or not at all: an agent whose lease was taken
// stores nothing. What cannot be committed because the server is away is kept on the local disk
// first, and delivered before anything new is claimed.
#include "fleet/agent_loop.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/version.hpp"
#include "fleet/claimed_work.hpp"
#include "fleet/heartbeat.hpp"
#include "fleet/nodes/peers.hpp"
#include "fleet/nodes/sentinel.hpp"
#include "fleet/sessions.hpp"
#include "fleet/spool.hpp"
#include "fleet/watch.hpp"
#include "journal/shared_store.hpp"

namespace halmark::fleet {
namespace {

constexpr double poll_s = 1, retry_min_s = 0.1, retry_max_s = 30;

Agent described(const NodeFacts& node, const AgentOptions& options) {
  const tune::NamedDevices devices = devices_of_node(node);
  return {.node = options.node,
          .pid = ::getpid(),
          .offer = {.classes = classes_of(devices.fingerprint()),
                    .plugins = devices.plugins().hashes,
                    .tool = tool_text()},
          .state = "idle",
          .lease_s = options.lease_s,
          .facts = facts_text(node),
          .places = classes_by_place(node)};
}

Error not_of_its_class(const std::string& why, const std::string& node) {
  return refused("this node is not of its class: " + why, node,
                 "remove its file below $XDG_STATE_HOME/halmark/devices and run halmark peaks; "
                 "halmark agent --check says whether it is then of its class");
}

class AgentLoop {
 public:
  AgentLoop(const NodeFacts& node, const AgentOptions& options)
      : devices_(devices_of_node(node)),
        options_(options),
        spool_(options.spool),
        sentinel_(devices_, options.worker_limits, options.sentinel_file, options.stop),
        watch_({.look = [this] { return look(); },
                .doubt = [this](auto run, auto doubts) { store_->append(run, doubts); },
                .say = [this](const std::string& line) { say(line); }},
               options.sentinel_s, options.lease_s),
        me_(described(node, options)) {
    connect();
    enter(node);
    heartbeat_ = std::make_unique<Heartbeat>(options.url, me_);
    say(fmt::format("agent {} ({}): {}, halmark {}", me_.id, me_.node,
                    fmt::join(me_.offer.classes, " + "), me_.offer.tool));
  }

  AgentEnd run() {
    while (!options_.stop.stop_requested() && !is_idle_for_long()) {
      try {
        if (!store_) connect();
        deliver_spool();
        if (!measure_some()) pause(poll_s);
        retry_s_ = retry_min_s;
      } catch (const Error& error) {
        if (error.exit_code() != ExitCode::error) throw;
        wait_for_server(error);
      }
    }
    go();
    return {me_.measured, me_.failed, me_.lost, options_.stop.stop_requested()};
  }

 private:
  void connect() {
    store_ = open_shared_store(options_.url, fmt::format("{}:{}", options_.node, me_.pid));
    shorten_waiting(store_->session());
    table_.emplace(store_->session());
  }

  // What it would measure as one of its class would be taken for the class's.
  void enter(const NodeFacts& node) {
    const auto why = contradiction_of(node, peers_of(store_->session(), node, options_.node));
    if (!why.empty()) {
      me_.state = refused_state;
      me_.doing = why;
    }
    me_.id = table_->enter(me_);
    if (!why.empty()) throw not_of_its_class(why, me_.node);
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say("halmark: " + line + '\n');
  }

  // Between looks, so that an interrupt is seen; agents that started at once drift apart.
  void pause(double seconds) {
    seconds *= std::uniform_real_distribution(0.75, 1.25)(random_);
    const auto begin = SteadyClock::now();
    while (seconds_since(begin) < seconds && !options_.stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  void wait_for_server(const Error& error) {
    if (retry_s_ == retry_min_s) say(error.line() + "; trying again");
    table_.reset();
    store_.reset();
    pause(retry_s_);
    retry_s_ = std::min(2 * retry_s_, retry_max_s);
    busy_ = SteadyClock::now();  // a server that is away is no reason to leave
  }

  bool is_idle_for_long() const {
    return options_.idle_s > 0 && seconds_since(busy_) > options_.idle_s;
  }

  void tell(const std::string& state, const std::string& doing) {
    me_.state = state;
    me_.doing = doing;
    heartbeat_->say(me_);
  }

  std::string look() {
    tell("sentinel", "");
    table_->say(me_);
    return sentinel_.look(used_devices_);
  }

  // Without work, or unfit for any.
  bool rest() {
    const std::string& why = watch_.unfit();
    const std::string state = why.empty() ? "idle" : unfit_state;
    if (me_.state != state || me_.doing != why) {
      tell(state, why);
      table_->say(me_);
    }
    return false;
  }

  bool measure_some() {
    if (!watch_.may_claim()) return rest();
    table_->expire();
    WorkTable::Claim claim = table_->claim(me_);
    if (claim.units.empty()) {
      watch_.has_no_work();
      return rest();
    }
    heartbeat_->hold(claim.units);
    for (const WorkUnit& unit : claim.units) {
      for (const KernelCase& k : unit.cases) used_devices_.insert(k.backend + ':' + k.device);
    }
    const bool may_measure = watch_.may_measure();
    if (may_measure) {
      tell("measuring", claim.units.front().name);
      table_->say(me_);
      measure(claim);
    }
    release_rest();
    if (!may_measure) return rest();
    busy_ = SteadyClock::now();
    return true;
  }

  // What an interrupt has left, or what was taken away.
  void release_rest() {
    std::vector<WorkUnit> rest = heartbeat_->held();
    if (!spool_.is_empty()) {  // what waits there is still its own
      const std::vector<Spool::Kept> kept = spool_.all();
      std::erase_if(rest, [&](const WorkUnit& unit) {
        return std::ranges::any_of(kept,
                                   [&](const Spool::Kept& k) { return k.unit.id == unit.id; });
      });
    }
    if (rest.empty()) return;
    if (heartbeat_->has_lost()) say("leases were taken by others: their units are dropped");
    if (table_) table_->release(me_, rest);
    for (const WorkUnit& unit : rest) heartbeat_->drop(unit.id);
  }

  void measure(const WorkTable::Claim& claim);
  void deliver(const WorkUnit& unit, const std::vector<Measurement>& rows);
  bool store(std::int64_t agent, const WorkUnit& unit, const std::vector<Measurement>& rows);
  void deliver_spool();
  void go();

  tune::NamedDevices devices_;
  const AgentOptions& options_;
  Spool spool_;
  Sentinel sentinel_;
  Watch watch_;
  std::set<std::string> used_devices_;  // by any work so far
  Agent me_;
  std::unique_ptr<SharedStore> store_;
  std::optional<WorkTable> table_;
  std::unique_ptr<Heartbeat> heartbeat_;
  Hangs hangs_;
  double retry_s_ = retry_min_s;
  SteadyClock::time_point busy_ = SteadyClock::now();
  std::minstd_rand random_{std::random_device()()};
};

void AgentLoop::measure(const WorkTable::Claim& claim) {
  std::map<std::string, const WorkUnit*> unit_of;
  std::vector<KernelCase> cases;
  for (const WorkUnit& unit : claim.units) {
    for (const KernelCase& k : unit.cases) {
      unit_of[k.key()] = &unit;
      cases.push_back(k);
    }
  }
  std::map<const WorkUnit*, std::vector<Measurement>> rows;
  CampaignOptions options = campaign_for(claim, devices_);
  options.limits = options_.worker_limits;
  options.hangs = &hangs_;
  options.should_stop = [this] { return options_.stop.stop_requested() || heartbeat_->has_lost(); };
  options.sink = [&](const Measurement& row) {
    const WorkUnit* unit = unit_of.at(row.kernel_case.key());
    std::vector<Measurement>& own = rows[unit];
    own.push_back(row);
    if (own.size() == unit->cases.size()) deliver(*unit, own);
  };
  Campaign(std::move(options)).run(cases);
}

// Between samples: the rows go to the server, or to the disk where it is away.
void AgentLoop::deliver(const WorkUnit& unit, const std::vector<Measurement>& rows) {
  if (heartbeat_->has_lost()) return;
  try {
    if (!store_ || !spool_.is_empty()) throw Error(ExitCode::error, "the server was away");
    store(me_.id, unit, rows);
    heartbeat_->drop(unit.id);
  } catch (const Error& error) {
    if (error.exit_code() != ExitCode::error) throw;
    if (spool_.is_empty()) say("rows go to " + options_.spool + ": " + error.line());
    spool_.keep(me_.id, unit, rows);
  }
}

// Whether the rows are in the journal.
bool AgentLoop::store(std::int64_t agent, const WorkUnit& unit,
                      const std::vector<Measurement>& rows) {
  const auto failures = std::ranges::count_if(
      rows, [](const Measurement& row) { return counts_as_failure(row.status); });
  try {
    store_->append_with(unit.run, rows, [&](postgresql::Session& session) {
      WorkTable::finish(session, {.agent = agent,
                                  .unit = unit.id,
                                  .attempt = unit.attempt,
                                  .rows = std::ssize(rows),
                                  .failures = failures});
    });
  } catch (const AlreadyStored&) {
    return true;
  } catch (const LostLease& lost) {
    ++me_.lost;
    say(std::string("a late row is not stored: ") + lost.what());
    return false;
  }
  watch_.measured(unit.run, rows);
  me_.measured += std::ssize(rows);
  me_.failed += failures;
  return true;
}

void AgentLoop::deliver_spool() {
  if (spool_.is_empty()) return;
  std::size_t stored = 0;
  const std::vector<Spool::Kept> kept = spool_.all();
  for (const Spool::Kept& k : kept) {
    stored += store(k.agent, k.unit, k.rows) ? 1 : 0;
    heartbeat_->drop(k.unit.id);
  }
  spool_.clear();
  say(fmt::format("the server is back: {} of {} units that waited in {} are stored", stored,
                  kept.size(), options_.spool));
}

void AgentLoop::go() {
  try {
    if (!store_) return;  // leases run out by themselves
    release_rest();
    table_->leave(me_);
  } catch (const Error& error) {
    say(error.line());
  }
}

}  // namespace

AgentEnd run_agent(const NodeFacts& node, const AgentOptions& options) {
  return AgentLoop(node, options).run();
}

}  // namespace halmark::fleet
