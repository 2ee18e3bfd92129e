// Algorithms whose ranks go on when they have sent and received.
#include <algorithm>

#include "core/lists.hpp"
#include "simulate/collectives/lowering_parts.hpp"

namespace halmark::simulate {
namespace {

using Message = MessageWriter::Message;

class Rounds {
 public:
  Rounds(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
         std::vector<Tasks>& state)
      : way_(way), shape_(shape), writer_(writer), state_(state), n_(shape.count) {}

  void run() {
    switch (way_.algorithm) {
      case Algorithm::ring:
        return is(Collective::all_to_all) ? pairwise() : ring();
      case Algorithm::halving_doubling:
        return halving_doubling();
      case Algorithm::one_shot:
        return one_shot();
      case Algorithm::two_shot:
        return two_shot();
      case Algorithm::hierarchical:
        return hierarchical();
      case Algorithm::tree:
      case Algorithm::in_switch:
        break;
    }
  }

 private:
  template <class Value>
  static Value& of(std::vector<Value>& values, std::int32_t rank) {
    return values[as_size(rank)];
  }
  bool is(Collective collective) const { return way_.collective == collective; }
  int passes() const { return is(Collective::all_reduce) ? 2 : 1; }
  double n() const { return as_double(n_); }

  // A part of the message goes around from everyone to the next one, n - 1 times a pass.
  void ring() {
    const std::vector<Tasks> begin = state_;
    for (Tasks& tasks : state_) tasks.clear();
    for (const std::int32_t channel : below(way_.channels)) {
      const std::vector<std::int32_t> order = shape_.ring(channel);
      std::vector<Message> messages;
      for (const auto i : indices(order)) {
        messages.push_back({.from = order[i],
                            .to = order[(i + 1) % order.size()],
                            .bytes = way_.bytes / n() / way_.channels,
                            .flow = as_uint32(channel)});
      }
      std::vector<Tasks> state = begin;
      for (std::int32_t step = 0; step < passes() * (n_ - 1); ++step)
        writer_.round(messages, state);
      for (const std::int32_t rank : below(n_)) append(of(state_, rank), of(state, rank));
    }
  }

  // What crosses a level in one round crosses it from everyone; rounds of different levels do not
  // wait for each other.
  void pairwise() {
    const std::vector<Tasks> begin = state_;
    for (const auto level : indices(shape_.levels())) {
      std::vector<Tasks> state = begin;
      const std::int32_t partners = (shape_.ranks[level] - 1) * shape_.inside[level];
      for (const std::int32_t i : below(partners)) {
        writer_.round(shifted(shape_.inside[level] + i, level), state);
      }
      for (const std::int32_t rank : below(n_)) append(of(state_, rank), of(state, rank));
    }
  }

  // Everyone to the one whose digits, up to `level`, are those of `offset` further.
  std::vector<Message> shifted(std::int32_t offset, std::size_t level) const {
    std::vector<Message> out;
    for (const std::int32_t rank : below(n_)) {
      std::int32_t to = rank;
      for (std::size_t l = 0; l <= level; ++l) {
        const std::int32_t digit =
            (shape_.digit(rank, l) + shape_.digit(offset, l)) % shape_.ranks[l];
        to = shape_.with_digit(to, l, digit);
      }
      out.push_back({.from = rank, .to = to, .bytes = way_.bytes / n()});
    }
    return out;
  }

  // Partners at twice the distance each time, with half of what is left.
  void halving_doubling() {
    struct Exchange {
      std::int32_t distance;
      std::size_t level;
      double bytes;
    };
    std::vector<Exchange> steps;
    double left = way_.bytes;
    for (const auto level : indices(shape_.levels())) {
      for (std::int32_t bit = 1; bit < shape_.ranks[level]; bit *= 2) {
        if (!is(Collective::all_to_all)) left /= 2;
        steps.push_back({bit, level, is(Collective::all_to_all) ? way_.bytes / 2 : left});
      }
    }
    const auto exchange = [&](const Exchange& step, bool is_added) {
      std::vector<Message> messages;
      for (const std::int32_t rank : below(n_)) {
        const std::int32_t digit = shape_.digit(rank, step.level) ^ step.distance;
        messages.push_back({.from = rank,
                            .to = shape_.with_digit(rank, step.level, digit),
                            .bytes = step.bytes,
                            .is_added = is_added});
      }
      writer_.round(messages, state_);
    };
    const bool adds = is(Collective::all_reduce) || is(Collective::reduce_scatter);
    if (!is(Collective::all_gather)) {
      for (const Exchange& step : steps) exchange(step, adds);
    }
    if (!is(Collective::all_gather) && !is(Collective::all_reduce)) return;
    std::ranges::reverse(steps);
    for (const Exchange& step : steps) exchange(step, false);
  }

  void to_everyone(double bytes, bool from_root_alone) {
    std::vector<Message> messages;
    for (std::int32_t from = 0; from < (from_root_alone ? 1 : n_); ++from) {
      for (std::int32_t i = 1; i < n_; ++i) {
        messages.push_back({.from = from, .to = (from + i) % n_, .bytes = bytes});
      }
    }
    writer_.round(messages, state_);
  }

  void one_shot() {
    if (is(Collective::send_recv)) {
      std::vector<Message> messages;
      for (std::int32_t from = 0; from < n_; ++from) {
        messages.push_back({.from = from, .to = (from + 1) % n_, .bytes = way_.bytes});
      }
      return writer_.round(messages, state_);
    }
    const bool is_whole = is(Collective::all_reduce) || is(Collective::broadcast);
    to_everyone(is_whole ? way_.bytes : way_.bytes / n(), is(Collective::broadcast));
  }

  void two_shot() {
    to_everyone(way_.bytes / n(), is(Collective::broadcast));
    to_everyone(way_.bytes / n(), false);
  }

  // Rings within the levels, each on what is left of the message.
  void hierarchical() {
    struct Step {
      std::size_t level;
      double bytes;
    };
    std::vector<Step> steps;
    for (const auto level : indices(shape_.levels())) {
      const double left =
          is(Collective::all_to_all) ? way_.bytes : way_.bytes / shape_.inside[level];
      for (std::int32_t i = 1; i < shape_.ranks[level]; ++i) {
        steps.push_back({level, left / shape_.ranks[level] / way_.pieces});
      }
    }
    if (is(Collective::all_gather)) std::ranges::reverse(steps);
    if (is(Collective::all_reduce)) {
      for (std::size_t i = steps.size(); i-- > 0;) steps.push_back(steps[i]);
    }
    std::vector<Tasks> all(state_.size());
    // Who sent last in this step: parts of the message follow each other.
    std::vector<Tasks> sent(steps.size(), Tasks(state_.size(), events::no_task));
    for (int piece = 0; piece < way_.pieces; ++piece) {
      std::vector<Tasks> state = state_;
      for (const auto i : indices(steps)) {
        writer_.round(around(steps[i].level, steps[i].bytes), state, sent[i]);
      }
      for (const std::int32_t rank : below(n_)) append(of(all, rank), of(state, rank));
    }
    state_ = std::move(all);
  }

  std::vector<Message> around(std::size_t level, double bytes) const {
    std::vector<Message> out;
    for (const std::int32_t rank : below(n_)) {
      const std::int32_t next = (shape_.digit(rank, level) + 1) % shape_.ranks[level];
      out.push_back({.from = rank, .to = shape_.with_digit(rank, level, next), .bytes = bytes});
    }
    return out;
  }

  const LoweredWay& way_;
  const RankShape& shape_;
  MessageWriter& writer_;
  std::vector<Tasks>& state_;
  std::int32_t n_;
};

}  // namespace

void lower_rounds(const LoweredWay& way, const RankShape& shape, MessageWriter& writer,
                  std::vector<Tasks>& state) {
  Rounds(way, shape, writer, state).run();
}

}  // namespace halmark::simulate
