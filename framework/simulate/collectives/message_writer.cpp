#include "simulate/collectives/message_writer.hpp"

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::simulate {

using events::EventKind;
using events::Picoseconds;
using events::Place;
using events::TaskIndex;

TaskIndex MessageWriter::delay(std::int32_t rank, EventKind kind, Picoseconds duration,
                               std::span<const TaskIndex> after) {
  const TaskIndex task =
      graph_.add({.kind = kind, .actor = carrier_.actor(rank), .duration_ps = duration});
  for (const TaskIndex before : after) graph_.wait(task, before);
  return task;
}

TaskIndex MessageWriter::transfer(const Passage& passage, std::int32_t from, double bytes,
                                  std::span<const TaskIndex> after) {
  const TaskIndex task = graph_.add({.kind = EventKind::collective,
                                     .actor = carrier_.actor(from),
                                     .place = Place::over(passage.path),
                                     .bytes = bytes});
  for (const TaskIndex before : after) graph_.wait(task, before);
  return task;
}

void MessageWriter::round(std::span<const Message> messages, std::vector<Tasks>& state,
                          Tasks& lane) {
  std::vector<Tasks> next(state.size());
  std::vector<char> takes_part(state.size(), 0);
  for (const Message& message : messages) {
    const auto from = as_size(message.from);
    const auto to = as_size(message.to);
    const Passage passage = carrier_.passage(message.from, message.to, message.flow);
    const TaskIndex sent = transfer(passage, message.from, message.bytes, state[from]);
    if (!lane.empty()) {
      if (lane[from] != events::no_task) graph_.wait(sent, lane[from]);
      lane[from] = sent;
    }
    TaskIndex received =
        delay(message.to, EventKind::collective, passage.latency_ps, std::span(&sent, 1));
    if (message.is_added && reduced_bytes_per_s_ > 0) {
      const Picoseconds additions = events::picoseconds(message.bytes / reduced_bytes_per_s_);
      received = delay(message.to, EventKind::kernel, additions, std::span(&received, 1));
    }
    next[from].push_back(sent);
    next[to].push_back(received);
    takes_part[from] = takes_part[to] = 1;
  }
  for (const auto rank : indices(state)) {
    if (takes_part[rank] != 0) state[rank] = std::move(next[rank]);
  }
}

// The last byte arrives when it has passed the links, and not before it came to them.
MessageWriter::Stream MessageWriter::pass(const Passage& passage, std::int32_t from,
                                          std::int32_t to, double bytes, const Stream& source) {
  Tasks sent = source.last;
  sent.push_back(transfer(passage, from, bytes, source.first));
  const TaskIndex first = delay(to, EventKind::collective, passage.latency_ps, source.first);
  const TaskIndex last = delay(to, EventKind::collective, passage.latency_ps, sent);
  return {.first = {first}, .last = {last}};
}

MessageWriter::Stream MessageWriter::send(const Message& message, const Stream& source) {
  const Passage passage = carrier_.passage(message.from, message.to, message.flow);
  return pass(passage, message.from, message.to, message.bytes, source);
}

MessageWriter::Stream MessageWriter::through_switch(std::size_t level, std::int32_t rank,
                                                    bool is_down, double bytes,
                                                    const Stream& source) {
  const std::optional<Passage> passage = carrier_.switch_passage(level, rank, is_down);
  if (!passage) throw refused("no switch adds what passes it", "collective in_switch");
  return pass(*passage, rank, rank, bytes, source);
}

}  // namespace halmark::simulate
