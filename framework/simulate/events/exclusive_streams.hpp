// Who is next on each stream.
#pragma once

#include <vector>

#include "simulate/events/task_graph.hpp"

namespace halmark::events {

class ExclusiveStreams {
 public:
  explicit ExclusiveStreams(const TaskGraph& graph);  // refers to it

  // Tasks of one instant come in the order of their indices.
  void enqueue(TaskIndex task);
  void release(StreamIndex stream);

  struct Grant {
    TaskIndex task{}, before{};  // before: who had the stream last, or no_task
  };
  // What may begin now on the streams that changed since the last call; valid until the next.
  const std::vector<Grant>& grants();

 private:
  struct Waiting {
    std::int32_t priority;
    TaskIndex task;
    bool operator<(const Waiting& other) const;  // later
  };
  struct Stream {
    bool is_busy = false, is_touched = false;
    TaskIndex first = no_task, last = no_task;  // of the queue, in the order fifo
    TaskIndex before = no_task;
    std::vector<Waiting> heap;  // in the order priority
  };
  void touch(StreamIndex stream);
  TaskIndex take_next(Stream& stream);

  const TaskGraph& graph_;
  std::vector<Stream> streams_;
  std::vector<StreamIndex> touched_;
  std::vector<TaskIndex> next_;  // in the queue of a stream
  std::vector<Grant> grants_;
};

}  // namespace halmark::events
