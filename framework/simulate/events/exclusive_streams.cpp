#include "simulate/events/exclusive_streams.hpp"

#include <algorithm>

namespace halmark::events {

bool ExclusiveStreams::Waiting::operator<(const Waiting& other) const {
  if (priority != other.priority) return priority > other.priority;
  return task > other.task;
}

ExclusiveStreams::ExclusiveStreams(const TaskGraph& graph)
    : graph_(graph),
      streams_(graph.streams()),
      next_(graph.streams() > 0 ? graph.size() : 0, no_task) {}

void ExclusiveStreams::enqueue(TaskIndex task) {
  const auto index = static_cast<StreamIndex>(graph_.place(task).index());
  Stream& stream = streams_[at(index)];
  if (graph_.order(index) == StreamOrder::priority) {
    stream.heap.push_back({graph_.priority(task), task});
    std::push_heap(stream.heap.begin(), stream.heap.end());
  } else if (stream.first == no_task) {
    stream.first = stream.last = task;
  } else {
    next_[at(stream.last)] = task;
    stream.last = task;
  }
  touch(index);
}

void ExclusiveStreams::release(StreamIndex stream) {
  streams_[at(stream)].is_busy = false;
  touch(stream);
}

void ExclusiveStreams::touch(StreamIndex stream) {
  if (streams_[at(stream)].is_touched) return;
  streams_[at(stream)].is_touched = true;
  touched_.push_back(stream);
}

TaskIndex ExclusiveStreams::take_next(Stream& stream) {
  if (!stream.heap.empty()) {
    std::pop_heap(stream.heap.begin(), stream.heap.end());
    const TaskIndex task = stream.heap.back().task;
    stream.heap.pop_back();
    return task;
  }
  const TaskIndex task = stream.first;
  if (task != no_task) stream.first = next_[at(task)];
  return task;
}

const std::vector<ExclusiveStreams::Grant>& ExclusiveStreams::grants() {
  grants_.clear();
  for (const StreamIndex index : touched_) {
    Stream& stream = streams_[at(index)];
    stream.is_touched = false;
    if (stream.is_busy) continue;
    const TaskIndex task = take_next(stream);
    if (task == no_task) continue;
    grants_.push_back({task, stream.before});
    stream.is_busy = true;
    stream.before = task;
  }
  touched_.clear();
  return grants_;
}

}  // namespace halmark::events
