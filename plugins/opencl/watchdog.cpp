#include "watchdog.hpp"

#include <utility>

namespace hm_opencl {

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::arm(std::chrono::nanoseconds timeout, std::function<void()> action) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::chrono::steady_clock::now() + timeout;
    action_ = std::move(action);
    has_fired_ = false;
    if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
  }
  changed_.notify_one();
}

bool Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  action_ = nullptr;
  return std::exchange(has_fired_, false);
}

// A disarmed thread is not woken: the next arming or its old deadline does that, so that calling
// off costs the measured path one uncontended lock.
void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    if (!action_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < deadline_) {
      changed_.wait_until(lock, deadline_);
    } else {
      // Under the lock: whoever calls it off afterwards finds that it was run.
      std::exchange(action_, nullptr)();
      has_fired_ = true;
    }
  }
}

}  // namespace hm_opencl
