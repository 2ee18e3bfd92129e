// Algorithms whose ranks pass on what arrives while it arrives: trees, a chain, switches.
#include <algorithm>
#include <numeric>

#include "core/lists.hpp"
#include "simulate/collectives/lowering_parts.hpp"

namespace halmark::simulate {
namespace {

using Message = MessageWriter::Message;
using Stream = MessageWriter::Stream;

void merge(Stream& stream, const Stream& more) {
  append(stream.first, more.first);
  append(stream.last, more.last);
}

// Nodes of a tree, each after its parent.
std::vector<std::int32_t> by_depth(const std::vector<std::int32_t>& parents) {
  std::vector<std::int32_t> nodes(parents.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  const auto depth = [&](std::int32_t node) {
    int out = 0;
    while ((node = parents[as_size(node)]) >= 0) ++out;
    return out;
  };
  std::ranges::stable_sort(nodes, {}, depth);
  return nodes;
}

class Streams {
 public:
  Streams(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
          std::vector<Tasks>& state)
      : way_(way), shape_(shape), writer_(writer), state_(state), n_(shape.count) {}

  void run() {
    if (way_.algorithm == Algorithm::ring) return chain();
    return way_.algorithm == Algorithm::tree ? tree() : in_switch();
  }

 private:
  template <class Value>
  static Value& of(std::vector<Value>& values, std::int32_t rank) {
    return values[as_size(rank)];
  }
  template <class Value>
  static const Value& of(const std::vector<Value>& values, std::int32_t rank) {
    return values[as_size(rank)];
  }
  bool is(Collective collective) const { return way_.collective == collective; }

  // A broadcast from one to the next.
  void chain() {
    const std::vector<Tasks> begin = state_;
    for (Tasks& tasks : state_) tasks.clear();
    for (const std::int32_t channel : below(way_.channels)) {
      std::int32_t last = 0;
      Stream stream = {of(begin, 0), of(begin, 0)};
      for (const std::int32_t rank : shape_.ring(channel)) {
        if (rank == 0) continue;  // where it begins, whoever is the first of the ring
        stream = writer_.send({.from = last,
                               .to = rank,
                               .bytes = way_.bytes / way_.channels,
                               .flow = as_uint32(channel)},
                              stream);
        merge(stream, {of(begin, rank), of(begin, rank)});
        append(of(state_, rank), stream.last);
        last = rank;
      }
    }
    append(of(state_, 0), of(begin, 0));
  }

  // Trees within the levels, joined at the first rank of each group. Additions go up, and the sum
  // comes down when the root has all of it.
  void tree() {
    const std::vector<Tasks> begin = state_;
    for (Tasks& tasks : state_) tasks.clear();
    for (const std::int32_t channel : below(way_.channels)) {
      for (const bool is_second : {false, true}) {
        std::vector<Stream> at;
        for (const Tasks& tasks : begin) at.push_back({tasks, tasks});
        if (is(Collective::all_reduce)) {
          for (const auto l : indices(shape_.levels())) {
            along_trees(l, channel, is_second, true, at);
          }
          Stream& root = of(at, turned(0, channel));
          root.first = root.last;
        } else if (channel > 0) {
          Stream& root = of(at, turned(0, channel));
          root = writer_.send(part(0, turned(0, channel), channel), of(at, 0));
        }
        for (std::size_t l = shape_.levels(); l-- > 0;) {
          along_trees(l, channel, is_second, false, at);
        }
        for (const std::int32_t rank : below(n_)) append(of(state_, rank), of(at, rank).last);
      }
    }
  }

  void along_trees(std::size_t level, std::int32_t channel, bool is_second, bool is_up,
                   std::vector<Stream>& at) {
    const std::vector<std::int32_t> parents = tree_parents(shape_.ranks[level], is_second);
    std::vector<std::int32_t> nodes = by_depth(parents);
    if (is_up) std::ranges::reverse(nodes);
    const std::int32_t outside = shape_.inside[level] * shape_.ranks[level];
    for (std::int32_t root = 0; root < n_; root += outside) {
      for (const std::int32_t node : nodes) {
        const std::int32_t parent = parents[as_size(node)];
        if (parent < 0) continue;
        const std::int32_t child = turned(root + node * shape_.inside[level], channel);
        const std::int32_t above = turned(root + parent * shape_.inside[level], channel);
        // A broadcast begins at rank 0 in all channels.
        if (child == 0 && is(Collective::broadcast)) continue;
        const Message message = is_up ? part(child, above, channel) : part(above, child, channel);
        Stream stream = writer_.send(message, of(at, message.from));
        if (is_up) {
          merge(of(at, above), stream);
        } else {
          if (is(Collective::broadcast)) merge(stream, of(at, child));
          of(at, child) = stream;
        }
      }
    }
  }

  Message part(std::int32_t from, std::int32_t to, std::int32_t channel) const {
    return {.from = from,
            .to = to,
            .bytes = way_.bytes / 2 / way_.channels,
            .flow = as_uint32(channel)};
  }

  // Channels have the roots of their groups at different ranks of the innermost level.
  std::int32_t turned(std::int32_t rank, std::int32_t channel) const {
    return shape_.with_digit(rank, 0, (shape_.digit(rank, 0) + channel) % shape_.ranks[0]);
  }

  // Up to the switches of all levels, where messages become one, and down again.
  void in_switch() {
    const bool copies = is(Collective::broadcast);
    const double bytes = copies ? way_.bytes : way_.bytes * (n_ + 1) / n_;
    std::vector<Stream> at;
    for (const Tasks& tasks : state_) at.push_back({tasks, tasks});
    for (const auto level : indices(shape_.levels())) {
      const std::int32_t inside = shape_.inside[level], outside = inside * shape_.ranks[level];
      std::vector<Stream> above(at.size());
      for (std::int32_t first = 0; first < (copies ? 1 : n_); first += inside) {
        merge(of(above, first - first % outside),
              writer_.through_switch(level, first, false, bytes, of(at, first)));
      }
      at = std::move(above);
    }
    for (std::size_t level = shape_.levels(); level-- > 0;) {
      const std::int32_t inside = shape_.inside[level], outside = inside * shape_.ranks[level];
      const std::vector<Stream> above = at;
      for (std::int32_t first = 0; first < n_; first += inside) {
        of(at, first) =
            writer_.through_switch(level, first, true, bytes, of(above, first - first % outside));
      }
    }
    for (const std::int32_t rank : below(n_)) of(state_, rank) = of(at, rank).last;
  }

  const LoweredWay& way_;
  const RankShape& shape_;
  MessageWriter& writer_;
  std::vector<Tasks>& state_;
  std::int32_t n_;
};

}  // namespace

void lower_streams(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
                   std::vector<Tasks>& state) {
  Streams(way, shape, writer, state).run();
}

}  // namespace halmark::simulate
