#include "fleet/heartbeat.hpp"

#include <algorithm>
#include <chrono>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "fleet/sessions.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {

Heartbeat::Heartbeat(std::string url, Agent agent)
    : url_(std::move(url)), agent_(std::move(agent)), thread_([this] { go_on(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Heartbeat::hold(std::vector<WorkUnit> units) {
  const std::lock_guard lock(mutex_);
  for (WorkUnit& unit : units) {  // payloads are of no use here
    unit.cases.clear();
    unit.stacks.clear();
    held_.push_back(std::move(unit));
  }
  has_lost_ = false;
}

void Heartbeat::drop(std::int64_t unit) {
  const std::lock_guard lock(mutex_);
  std::erase_if(held_, [&](const WorkUnit& held) { return held.id == unit; });
}

std::vector<WorkUnit> Heartbeat::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void Heartbeat::say(const Agent& agent) {
  const std::lock_guard lock(mutex_);
  agent_ = agent;
}

// A server that is away is the agent's affair: this one tries again at the next beat.
void Heartbeat::go_on() {
  std::unique_lock lock(mutex_);
  const auto pause = std::chrono::duration<double>(agent_.lease_s / 3);
  while (!changed_.wait_for(lock, pause, [this] { return ends_; })) {
    lock.unlock();
    try {
      beat();
    } catch (const Error&) {
    }
    lock.lock();
  }
}

void Heartbeat::beat() {
  Agent agent;
  {
    const std::lock_guard lock(mutex_);
    agent = agent_;
  }
  const auto session = agent_session(url_);
  WorkTable table(*session);
  table.say(agent);
  const std::vector<WorkUnit> before = held();
  if (before.empty()) return;
  const std::vector<std::int64_t> kept = table.renew(agent, before);
  const std::vector<WorkUnit> now = held();  // what was finished meanwhile is not lost
  has_lost_ = std::ranges::any_of(now, [&](const WorkUnit& unit) {
    const auto is_it = [&](const WorkUnit& other) { return other.id == unit.id; };
    return std::ranges::any_of(before, is_it) && !contains(kept, unit.id);
  });
}

}  // namespace halmark::fleet
