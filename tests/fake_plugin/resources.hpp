// What the fake device hands out: buffers that count their memory, a stream with a clock of its
// own, and events on it.
#pragma once

#include <halmark_plugin.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "clock.hpp"
#include "script.hpp"

namespace fake {

// What plugin, devices and prepareds share; one thread drives it.
struct State {
  Script script = Script::from_environment();
  Faults faults{script};
  Latency latency{script};
  std::int64_t memory_used = 0;
  std::int64_t enqueues = 0;
  std::map<const void*, std::function<void()>> at_read;   // by output, work left until one is read
  std::map<const void*, std::function<void()>> at_write;  // by input, work done when it is written
  std::int64_t written = 0;  // buffers that the host wrote through the plugin; no single lines
  bool uses_events() const { return script.text("timer", "host_clock") == "device_event"; }
  // What beside it measures has the core then. Not where energy counts: a device that waits for its
  // host to wake is idle.
  bool lets_its_host_sleep() const { return uses_events() && script.integer("watts", 0) == 0; }
  bool is_asynchronous() const { return uses_events() || script.flag("async"); }
};

class Buffer {
 public:
  Buffer(State& state, std::unique_ptr<halmark::plugin::HostBuffer> memory, std::int64_t counted)
      : state_(state), memory_(std::move(memory)), counted_(counted) {
    state_.memory_used += counted_;
  }
  ~Buffer() { state_.memory_used -= counted_; }
  void* data() const { return memory_->data(); }
  std::uint64_t bytes() const { return memory_->bytes(); }
  void write(std::uint64_t offset, const void* source, std::uint64_t bytes) {
    constexpr std::uint64_t line_bytes = 64;
    memory_->write(offset, source, bytes);
    if (bytes <= line_bytes) return;
    ++state_.written;
    const auto work = state_.at_write.find(data());
    if (work != state_.at_write.end()) work->second();
  }
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
    const double due_ns = wall_ns() + state_.script.number("read_ns", 0);
    for (const auto& [output, work] : std::exchange(state_.at_read, {})) work();
    while (wall_ns() < due_ns) {
    }
    memory_->read(offset, target, bytes);
  }

 private:
  State& state_;
  std::unique_ptr<halmark::plugin::HostBuffer> memory_;
  std::int64_t counted_;
};

struct Stream {
  explicit Stream(State& state) : state(state) {}
  void wait() {
    state.faults.at("wait");
    constexpr double wakes_before_ns = 100e3;
    const double asleep_ns = state.lets_its_host_sleep() ? due_ns - wall_ns() - wakes_before_ns : 0;
    if (asleep_ns > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(asleep_ns));
    }
    while (wall_ns() < due_ns) {
    }
  }
  State& state;
  double device_ns = 0;  // the device clock: time of all work queued so far
  double due_ns = 0;     // wall clock at which that work is over
};

struct Event {
  explicit Event(State& state) : state(state) {}
  void record(Stream& stream) { at_ns = stream.device_ns; }
  double elapsed_ns(const Event& end) const { return reported_ns(state.script, end.at_ns - at_ns); }
  double elapsed_cycles(const Event& end) const {
    const double clock_hz = state.script.number("clock_hz", 0);
    if (clock_hz <= 0)
      throw halmark::plugin::failure(HM_UNSUPPORTED, "the script names no clock_hz");
    return (end.at_ns - at_ns) * 1e-9 * clock_hz;
  }
  State& state;
  double at_ns = 0;
};

}  // namespace fake
