// A collective as events: who sends what to whom, after what. The messages of an algorithm are the
// same over every carrier; what a message takes is the carrier's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulate/collectives/cost.hpp"
#include "simulate/events/task_graph.hpp"

namespace halmark::simulate {

// The links that a message takes, and how long a byte is under way.
struct Passage {
  events::PathIndex path{};
  events::Picoseconds latency_ps = 0;
};

// What carries messages between the ranks of one collective. It adds its links and paths to the
// graph that the messages go into.
class Carrier {
 public:
  virtual ~Carrier() = default;
  // `flow`: messages with the same one keep to one way where there are several.
  virtual Passage passage(std::int32_t from, std::int32_t to, std::uint32_t flow) = 0;
  // From the ranks that `first` leads within level `level` up to its switches, or down from them.
  // Nothing where the switches do not add.
  virtual std::optional<Passage> switch_passage(std::size_t level, std::int32_t first,
                                                bool is_down) = 0;
  // Whose event it is.
  virtual events::ActorIndex actor(std::int32_t rank) const = 0;
};

struct LoweredWay {
  Collective collective = Collective::all_reduce;
  Algorithm algorithm = Algorithm::ring;
  double bytes = 0;                 // as in collective.hpp
  std::vector<std::int64_t> shape;  // ranks of each level, innermost first; counted in that order
  // Bytes that a rank adds per second where that is not hidden; 0 = hidden.
  double reduced_bytes_per_s = 0;
  double base_s = 0;  // once, before anything moves
  // Parts that follow each other through the levels of a hierarchical collective; 1 = the levels
  // work one after the other.
  int pieces = 1;
  // Rings and trees that carry a part each and begin at different ranks of the innermost level, so
  // that all adapters of a node work.
  int channels = 1;
};

// How many events lower() adds, at most; 0 where the algorithm does not do this collective. A
// simulation that would be too long is known before it starts.
double events_of(const LoweredWay& way);

// Adds the events. Every rank begins after its entry of `after`, or at once where that is empty;
// of each rank the tasks after which it has all of its result. Nothing is added for one rank. A
// message is two events: its bytes over the path, then the latency until they have arrived, so that
// a critical path tells both. What is pipelined (trees, rings of a broadcast, switches) streams: an
// event more tells when the first byte arrives. Throws Error (exit 2) where the algorithm does not
// do this collective.
std::vector<std::vector<events::TaskIndex>> lower(const LoweredWay& way, Carrier& carrier,
                                                  events::TaskGraph& graph,
                                                  std::span<const events::TaskIndex> after = {});

}  // namespace halmark::simulate
