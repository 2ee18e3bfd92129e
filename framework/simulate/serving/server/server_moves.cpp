// Requests between engines: handed over behind their prompt, or moved where steps are shorter.
#include <algorithm>

#include "simulate/serving/server/server_run.hpp"

namespace halmark::serving {

// Over the link of the source, one after the other; blocks are held on both sides meanwhile.
void Server::transfer(Moving moving, events::EventKind kind, const std::string& label) {
  Worker& source = workers_[moving.from];
  const double bytes = plan_.kv_bytes_per_token * static_cast<double>(moving.request.computed);
  const Picoseconds begin = std::max(now_ps_, source.link_free_ps);
  const Picoseconds end = begin + events::picoseconds(bytes / plan_.link_bytes_per_s);
  handed_over_bytes_ += bytes;
  const auto event = recorder_.add({.start_ps = begin,
                                    .end_ps = end,
                                    .bytes = bytes,
                                    .actor = source.actor,
                                    .resource = source.link,
                                    .cause = begin == now_ps_ ? trigger_ : source.link_event,
                                    .kind = kind},
                                   label);
  source.link_free_ps = end;
  source.link_event = event;
  moving_.push_back(std::move(moving));
  push({.at = end,
        .kind = Happening::Kind::moved,
        .index = static_cast<std::uint32_t>(moving_.size() - 1),
        .event = event});
}

void Server::send(Live live, std::size_t from) {
  if (plan_.mode == ServerMode::shared) {
    moving_.push_back({std::move(live), from, from + 1, true});
    waiting_for_room_.push_back(moving_.size() - 1);
    return;
  }
  transfer({std::move(live), from, from, true}, events::EventKind::p2p, "KV cache to decode");
}

void Server::arrive_moved(std::uint32_t index) {
  Moving& moving = moving_[index];
  if (plan_.mode == ServerMode::disaggregated) {
    moving.to = static_cast<std::size_t>(&least_loaded(false) - workers_.data());
  }
  waiting_for_room_.push_back(index);
}

// Who was handed over and finds no room keeps its blocks at the source until there is.
void Server::place_moved() {
  std::size_t kept = 0;
  for (const std::size_t index : waiting_for_room_) {
    Moving& moving = moving_[index];
    Engine& target = *workers_[moving.to].engine;
    const bool is_same_pool = plan_.mode == ServerMode::shared;
    Live copy = moving.request;
    if (target.is_stepping() || !target.adopt(std::move(copy), is_same_pool)) {
      waiting_for_room_[kept++] = index;
      continue;
    }
    if (!is_same_pool && moving.holds_at_source) {
      workers_[moving.from].engine->blocks().release(moving.request.blocks);
    }
  }
  waiting_for_room_.resize(kept);
}

// A request of the fullest engine goes where steps are shorter, once, if what its tokens save is
// above the transfer by the plan's hysteresis.
void Server::migrate(std::size_t from) {
  Engine& source = *workers_[from].engine;
  std::size_t to = from;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    if (workers_[w].engine->load() + 1 < workers_[to].engine->load()) to = w;
  }
  if (to == from || source.batch().empty()) return;
  Engine& target = *workers_[to].engine;
  const Live& last = source.batch().back();
  const double saved_ns =
      (source.decode_step_ns(0, 0) - target.decode_step_ns(1, last.computed + 1)) *
      static_cast<double>(last.output - last.generated);
  const double cost_ns =
      plan_.kv_bytes_per_token * static_cast<double>(last.computed) / plan_.link_bytes_per_s * 1e9;
  const bool has_room = target.blocks().blocks_of(last.computed + 1) <=
                        target.blocks().free() + target.blocks().kept();
  if (!has_room || target.is_full() || !target.waiting().empty() ||
      saved_ns <= plan_.engine.hysteresis * cost_ns) {
    return;
  }
  const std::string label = "request " + std::to_string(last.request) + " from a batch of " +
                            std::to_string(source.batch().size()) + " to one of " +
                            std::to_string(target.batch().size());
  auto live = source.give_away();
  if (!live) return;
  live->has_moved = true;
  ++migrations_;
  transfer({std::move(*live), from, to, true}, events::EventKind::rebalance, label);
}

}  // namespace halmark::serving
