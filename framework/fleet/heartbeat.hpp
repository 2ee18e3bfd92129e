// Says that an agent is alive and keeps its leases, beside what it measures and over a connection
// of its own: a case may take longer than a lease.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fleet/work_table.hpp"

namespace halmark::fleet {

class Heartbeat {
 public:
  // Every third of a lease, from now on.
  Heartbeat(std::string url, Agent agent);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void hold(std::vector<WorkUnit> units);
  void drop(std::int64_t unit);
  std::vector<WorkUnit> held() const;
  // What others are told of this agent; at the next beat.
  void say(const Agent& agent);
  // A unit that it holds was taken away: what is measured for it is of no use any more.
  bool has_lost() const { return has_lost_; }

 private:
  void beat();
  void go_on();

  std::string url_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  Agent agent_;
  std::vector<WorkUnit> held_;
  std::atomic<bool> has_lost_ = false;
  std::thread thread_;
};

}  // namespace halmark::fleet
