// An in-order profiling queue, and events that read the device's own clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "opencl.hpp"
#include "watchdog.hpp"

namespace hm_opencl {

struct OpenedDevice;

// A command of the queue whose profile can be read, by its place in the queue.
struct Command {
  cl::Event event;
  std::uint64_t number = 0;
};

// A place between two commands. Markers are not used: some drivers stamp them coarsely, and an
// interval should begin with the first command's start, not with the submission of a marker.
struct Mark {
  std::optional<Command> before, after;
};

// Driven by one thread. Destroyed before its device.
class Stream {
 public:
  explicit Stream(OpenedDevice& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Calls enqueue(queue, event) `repeat` times. Only the first and the last command carry an event
  // (others get nullptr): thousands of profiled commands would be thousands of objects.
  template <class Enqueue>
  void submit(std::uint64_t repeat, Enqueue&& enqueue) {
    translated([&] {
      Command first, last;
      for (std::uint64_t i = 0; i < repeat; ++i) {
        const bool is_last = i + 1 == repeat;
        cl::Event* event = i == 0 ? &first.event : is_last ? &last.event : nullptr;
        enqueue(queue_, event, i);
        const std::uint64_t number = ++submitted_;
        if (i == 0) first.number = number;
        if (is_last) last.number = number;
      }
      if (repeat == 1) last.event = first.event;
      if (repeat > 0) note(first, last);
      // Drivers may keep commands until they are told to start.
      if (!gate_) queue_.flush();
    });
  }

  void wait();
  std::shared_ptr<Mark> mark();

  // The queue waits for a user event; `unhold` or the watchdog completes it.
  void hold(std::uint64_t timeout_ns);
  void unhold();

  // Writes a buffer of twice the last-level cache.
  void flush_caches();

 private:
  void note(const Command& first, const Command& last);
  void release_gate();

  OpenedDevice& device_;
  cl::CommandQueue queue_;
  std::uint64_t submitted_ = 0;
  std::optional<Command> last_;
  std::vector<std::shared_ptr<Mark>> awaiting_;  // marks that no command has followed yet
  std::optional<cl::UserEvent> gate_;
  Watchdog watchdog_;
  cl::Buffer flushed_;
};

// Elapsed time spans the first start to the last end of the commands between two records.
class Event {
 public:
  void record(Stream& stream) { mark_ = stream.mark(); }
  double elapsed_ns(const Event& end) const;

 private:
  std::shared_ptr<Mark> mark_;
};

}  // namespace hm_opencl
