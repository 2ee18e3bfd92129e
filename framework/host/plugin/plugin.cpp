#include "host/plugin/plugin.hpp"

#include <cmath>

#include "host/plugin/plugin_call.hpp"

namespace halmark {
using namespace plugin_call;
namespace {

std::vector<hm_param> params_of(const Params& params) {
  std::vector<hm_param> views;
  views.reserve(params.size());
  for (const Param& param : params.items()) views.push_back({param.name.c_str(), param.value});
  return views;
}

}  // namespace

Status status_of_code(std::int32_t code) {
  switch (code) {
    case HM_OK:
      return Status::ok;
    case HM_UNSUPPORTED:
      return Status::unsupported;
    case HM_OUT_OF_MEMORY:
      return Status::out_of_memory;
    case HM_COMPILE_FAILED:
      return Status::compile_failed;
    case HM_DEVICE_LOST:
      return Status::device_lost;
    case lying_timer:
      return Status::quarantined;
  }
  return Status::launch_failed;
}

std::string_view hm_status_text(std::int32_t code) {
  switch (code) {
    case HM_OK:
      return "ok";
    case HM_UNSUPPORTED:
      return "unsupported";
    case HM_INVALID_ARGUMENT:
      return "invalid_argument";
    case HM_OUT_OF_MEMORY:
      return "out_of_memory";
    case HM_COMPILE_FAILED:
      return "compile_failed";
    case HM_LAUNCH_FAILED:
      return "launch_failed";
    case HM_DEVICE_LOST:
      return "device_lost";
  }
  return "internal";
}

ConfigView::ConfigView(const Params& params) : params_(params_of(params)) {
  view_.struct_size = sizeof view_;
  view_.count = static_cast<std::uint32_t>(params_.size());
  view_.params = params_.data();
}

ProblemView::ProblemView(const Problem& problem) : params_(params_of(problem.params)) {
  view_.struct_size = sizeof view_;
  view_.count = static_cast<std::uint32_t>(params_.size());
  view_.op = problem.op.c_str();
  view_.params = params_.data();
}

// ---- buffers and streams ----------------------------------------------------------------------

PluginError DeviceBuffer::write(std::uint64_t offset, const void* source,
                                std::uint64_t bytes) noexcept {
  Call call;
  return call.outcome(api_->write(handle(), offset, source, bytes, call.error()), "memory.write");
}

PluginError DeviceBuffer::read(std::uint64_t offset, void* target, std::uint64_t bytes) noexcept {
  Call call;
  return call.outcome(api_->read(handle(), offset, target, bytes, call.error()), "memory.read");
}

PluginError DeviceStream::wait() noexcept {
  Call call;
  return call.outcome(api_->wait(handle(), call.error()), "stream.wait");
}

PluginError DeviceStream::record(DeviceEvent& event) noexcept {
  Call call;
  return call.outcome(api_->event_record(event.handle(), handle(), call.error()),
                      "stream.event_record");
}

bool DeviceStream::can_hold() const { return HM_HAS(api_, hold) && HM_HAS(api_, unhold); }

PluginError DeviceStream::hold(std::uint64_t timeout_ns) noexcept {
  Call call;
  return call.outcome(api_->hold(handle(), timeout_ns, call.error()), "stream.hold");
}

PluginError DeviceStream::unhold() noexcept {
  Call call;
  return call.outcome(api_->unhold(handle(), call.error()), "stream.unhold");
}

PluginResult<double> DeviceStream::elapsed_ns(DeviceEvent& begin, DeviceEvent& end) noexcept {
  Call call;
  double ns = std::nan("");
  auto error = call.outcome(api_->event_elapsed_ns(begin.handle(), end.handle(), &ns, call.error()),
                            "stream.event_elapsed_ns");
  if (!error.ok()) return error;
  if (!std::isfinite(ns) || ns < 0) {
    return PluginError{lying_timer, std::string("timer: event_elapsed_ns claims ") +
                                        (std::isnan(ns) ? "NaN" : "a negative or infinite time")};
  }
  return ns;
}

PluginResult<double> DeviceStream::elapsed_cycles(DeviceEvent& begin, DeviceEvent& end) noexcept {
  if (!HM_HAS(api_, event_elapsed_cycles)) return absent("stream.event_elapsed_cycles");
  Call call;
  double cycles = std::nan("");
  auto error =
      call.outcome(api_->event_elapsed_cycles(begin.handle(), end.handle(), &cycles, call.error()),
                   "stream.event_elapsed_cycles");
  if (!error.ok()) return error;
  if (!std::isfinite(cycles) || cycles < 0) return broken("event_elapsed_cycles is not a count");
  return cycles;
}

bool DeviceStream::can_fill() const { return HM_HAS(memory_, fill); }

PluginError DeviceStream::fill(DeviceBuffer& buffer, std::uint32_t pattern) noexcept {
  Call call;
  return call.outcome(memory_->fill(handle(), buffer.handle(), pattern, call.error()),
                      "memory.fill");
}

PluginError DeviceStream::flush() noexcept {
  if (!HM_HAS(probe_, cache_flush)) return absent("probe.cache_flush");
  Call call;
  return call.outcome(probe_->cache_flush(handle(), call.error()), "probe.cache_flush");
}

}  // namespace halmark
