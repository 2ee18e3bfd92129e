// Messages as tasks: rounds, in which a rank goes on when it has sent and received, and streams, in
// which it goes on with the first byte.
#pragma once

#include <vector>

#include "simulate/collectives/lowering.hpp"

namespace halmark::simulate {

using Tasks = std::vector<events::TaskIndex>;

class MessageWriter {
 public:
  MessageWriter(events::TaskGraph& graph, Carrier& carrier, double additions_per_s)
      : graph_(graph), carrier_(carrier), reduced_bytes_per_s_(additions_per_s) {}

  struct Message {
    std::int32_t from = 0, to = 0;
    double bytes = 0;
    bool is_added = false;  // to what the receiver has
    std::uint32_t flow = 0;
  };
  // All at once: each after what its sender has in `state` (by rank), which then holds what each
  // rank sent and received. `lane`, if any: by rank, the task after which it may send, no_task = at
  // once; replaced by what it sends.
  void round(std::span<const Message> messages, std::vector<Tasks>& state) {
    Tasks none;
    round(messages, state, none);
  }
  void round(std::span<const Message> messages, std::vector<Tasks>& state, Tasks& lane);

  // When the first and the last byte are at a rank; several of each where it waits for all of them.
  struct Stream {
    Tasks first, last;
  };
  // What `source` brings passes on to the receiver.
  Stream send(const Message& message, const Stream& source);
  Stream through_switch(std::size_t level, std::int32_t rank, bool is_down, double bytes,
                        const Stream& source);

  events::TaskIndex delay(std::int32_t rank, events::EventKind kind, events::Picoseconds duration,
                          std::span<const events::TaskIndex> after);

 private:
  events::TaskIndex transfer(const Passage& passage, std::int32_t from, double bytes,
                             std::span<const events::TaskIndex> after);
  Stream pass(const Passage& passage, std::int32_t from, std::int32_t to, double bytes,
              const Stream& source);

  events::TaskGraph& graph_;
  Carrier& carrier_;
  double reduced_bytes_per_s_;
};

}  // namespace halmark::simulate
