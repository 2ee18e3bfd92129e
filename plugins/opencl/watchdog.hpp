// Runs an action on a thread of its own unless it is called off in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace hm_opencl {

// One driver thread arms and disarms; the watching thread sleeps in between and exists only from
// the first arming on.
class Watchdog {
 public:
  ~Watchdog();
  void arm(std::chrono::nanoseconds timeout, std::function<void()> action);
  // True when the action was already run.
  bool disarm();

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> action_;  // empty = disarmed
  std::chrono::steady_clock::time_point deadline_;
  bool has_fired_ = false, is_ending_ = false;
  std::thread thread_;
};

}  // namespace hm_opencl
