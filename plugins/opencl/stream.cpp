#include "stream.hpp"

#include <algorithm>

#include "device.hpp"

namespace hm_opencl {

Stream::Stream(OpenedDevice& device)
    : device_(device), queue_(translated([&] {
        return cl::CommandQueue(device.context, device.device, CL_QUEUE_PROFILING_ENABLE);
      })) {
  device_.streams.push_back(this);
}

Stream::~Stream() {
  std::erase(device_.streams, this);
  try {
    release_gate();
    queue_.finish();
  } catch (const cl::Error&) {
    // Destroying never fails; a queue that is lost has nothing left to wait for.
  }
}

void Stream::wait() {
  translated([&] {
    queue_.finish();
    if (!last_) return;
    // finish() succeeds although a command failed; the command itself knows.
    const auto status = last_->event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
    if (status < 0) throw cl::Error(status, "a queued command");
  });
}

std::shared_ptr<Mark> Stream::mark() {
  auto mark = std::make_shared<Mark>();
  mark->before = last_;
  awaiting_.push_back(mark);
  return mark;
}

void Stream::note(const Command& first, const Command& last) {
  for (const auto& mark : awaiting_) mark->after = first;
  awaiting_.clear();
  last_ = last;
}

void Stream::hold(std::uint64_t timeout_ns) {
  if (gate_) throw plug::failure(HM_INVALID_ARGUMENT, "the stream is held already");
  translated([&] {
    gate_.emplace(device_.context);
    const std::vector<cl::Event> gate{*gate_};
    queue_.enqueueBarrierWithWaitList(&gate);
  });
  watchdog_.arm(std::chrono::nanoseconds(timeout_ns),
                [gate = *gate_]() mutable { gate.setStatus(CL_COMPLETE); });
}

void Stream::unhold() {
  if (!gate_) throw plug::failure(HM_INVALID_ARGUMENT, "the stream is not held");
  if (watchdog_.disarm()) {
    gate_.reset();
    throw plug::failure(HM_LAUNCH_FAILED, "the held stream released itself after its timeout");
  }
  translated([&] { release_gate(); });
}

void Stream::release_gate() {
  if (!gate_) return;
  if (!watchdog_.disarm()) gate_->setStatus(CL_COMPLETE);
  gate_.reset();
  queue_.flush();
}

void Stream::flush_caches() {
  const std::size_t bytes = device_.flush_bytes();
  translated([&] {
    if (flushed_() == nullptr) flushed_ = cl::Buffer(device_.context, CL_MEM_READ_WRITE, bytes);
  });
  submit(1, [&](cl::CommandQueue& queue, cl::Event* event, std::uint64_t) {
    queue.enqueueFillBuffer(flushed_, cl_uint{1}, 0, bytes, nullptr, event);
  });
}

double Event::elapsed_ns(const Event& end) const {
  if (!mark_ || !end.mark_) {
    throw plug::failure(HM_INVALID_ARGUMENT, "elapsed time of an event that was not recorded");
  }
  const auto &first = mark_->after, &last = end.mark_->before;
  if (!first || !last || first->number > last->number) return 0;  // nothing lies between them
  return translated([&] {
    const auto begin_ns = first->event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const auto end_ns = last->event.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) : 0.0;
  });
}

}  // namespace hm_opencl
