#include "simulate/schedule/step_lowering.hpp"

#include <map>
#include <tuple>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::schedule {
namespace {

using events::EventKind;
using events::Place;
using events::StreamIndex;
using events::TaskIndex;
using simulate::Collective;
using Tasks = std::vector<TaskIndex>;
using Devices = std::span<const std::int64_t>;

std::size_t index(std::int64_t value) { return as_size(value); }

class Lowering {
 public:
  Lowering(const Programs& programs, const DeviceGrid& grid, const Site& site,
           const KernelTimes& times, const LoweringOptions& options)
      : programs_(programs), grid_(grid), site_(site), times_(times), options_(options) {}

  LoweredStep run(double events) {
    out_.actors = actors_of(site_, grid_.devices());
    for (std::int64_t i = 0; i < device_streams * grid_.devices(); ++i) out_.graph.add_stream();
    if (options_.carriage == Carriage::messages && grid_.devices() > 1) {
      wires_ = carrier_of(site_, out_.actors, options_.seed, out_.graph);
    }
    out_.graph.reserve(index(as_int64(events)), index(as_int64(1.5 * events)));
    out_.labels.reserve(index(as_int64(events)));
    const auto devices = index(grid_.devices());
    ready_.resize(devices);
    unit_begin_.resize(devices);
    reduced_.resize(devices);
    const auto passages =
        index(programs_.pipeline.chunks_in_all()) * index(programs_.pipeline.micro_batches);
    arrivals_.fill(std::vector<Tasks>(passages));
    for (const StagePass& pass : passes_in_order(programs_.order, programs_.pipeline)) emit(pass);
    finish_step();
    for (std::size_t i = 0; i < out_.graph.links(); ++i) {
      out_.links.push_back(wires_->name_of(static_cast<events::LinkIndex>(i)));
    }
    return std::move(out_);
  }

 private:
  TaskIndex add(const events::Task& task, std::uint32_t label) {
    out_.labels.push_back(label);
    return out_.graph.add(task);
  }
  events::ActorIndex actor(std::int64_t device) const {
    return static_cast<events::ActorIndex>(out_.actors[index(device)]);
  }
  static StreamIndex compute(std::int64_t device) {
    return static_cast<StreamIndex>(device_streams * device);
  }
  static StreamIndex communication(const Piece& piece, std::int64_t device) {
    return static_cast<StreamIndex>(device_streams * device +
                                    (piece.among == Among::copies ? 2 : 1));
  }
  events::Picoseconds time_of(const Piece& piece, std::int64_t device) const {
    return events::picoseconds(times_.ns(piece, device) * 1e-9);
  }

  // By chunk and micro-batch: what the devices of its stage, pipeline after pipeline, wait for.
  Tasks& arrivals(PassKind kind, std::int32_t number, std::int32_t micro_batch) {
    return arrivals_[kind == PassKind::forward ? 0 : 1]
                    [index(number) * index(programs_.pipeline.micro_batches) + index(micro_batch)];
  }
  template <class Visit>
  void for_each_device(std::int64_t stage, const Visit& visit) {
    for (const std::int64_t p : below(grid_.pipelines)) {
      for (const std::int64_t i : below(grid_.block)) visit(grid_.first(p, stage) + i);
    }
  }

  void emit(const StagePass& at) {
    const ChunkProgram& chunk = programs_.chunks[index(at.stage)][index(at.pass.chunk)];
    const std::int32_t number = programs_.pipeline.number(at.stage, at.pass.chunk);
    Tasks& arrived = arrivals(at.pass.kind, number, at.pass.micro_batch);
    if (at.pass.kind != PassKind::weight && !arrived.empty()) {
      std::size_t next = 0;
      for_each_device(at.stage,
                      [&](std::int64_t d) { ready_[index(d)].push_back(arrived[next++]); });
      Tasks().swap(arrived);
    }
    const bool is_last = at.pass.micro_batch + 1 == programs_.pipeline.micro_batches;
    for (const Piece& piece : chunk.of(at.pass.kind)) {
      if (piece.among == Among::copies) {
        emit_over_copies(piece, at.stage, is_last);
      } else {
        emit_in_block(piece, at.stage);
      }
    }
    const std::int32_t all = programs_.pipeline.chunks_in_all();
    if (at.pass.kind == PassKind::forward && number + 1 < all) {
      hand_over(chunk.hand_on, at, number + 1);
    }
    if (at.pass.kind == PassKind::backward && number > 0) {
      hand_over(chunk.hand_back, at, number - 1);
    }
  }

  void emit_in_block(const Piece& piece, std::int64_t stage) {
    if (piece.among == Among::device) {
      for_each_device(stage, [&](std::int64_t d) { emit_kernel(piece, d); });
      return;
    }
    const auto [ranks, stride] = piece.group;
    if (grid_.block % (ranks * stride) != 0) {
      throw refused("a collective of " + std::to_string(ranks) + " ranks leaves its stage of " +
                    std::to_string(grid_.block) + " devices");
    }
    std::vector<std::int64_t> group(index(ranks));
    for (const std::int64_t p : below(grid_.pipelines)) {
      for (const std::int64_t i : below(grid_.block / ranks)) {
        const std::int64_t base = grid_.first(p, stage) + i / stride * stride * ranks + i % stride;
        for (const std::int64_t k : below(ranks)) group[index(k)] = base + k * stride;
        emit_collective(piece, group, ready_, ready_);
      }
    }
  }

  void emit_kernel(const Piece& piece, std::int64_t device) {
    const TaskIndex task = add({.kind = EventKind::kernel,
                                .actor = actor(device),
                                .place = Place::on(compute(device)),
                                .duration_ps = time_of(piece, device)},
                               piece.label);
    become_ready(device, task);
  }

  void become_ready(std::int64_t device, TaskIndex task) {
    Tasks& ready = ready_[index(device)];
    for (const TaskIndex before : ready) out_.graph.wait(task, before);
    ready.assign(1, task);
  }

  // Each rank begins after its tasks in `after`; what it then has replaces those in `result`.
  void emit_collective(const Piece& piece, Devices group, const std::vector<Tasks>& after,
                       std::vector<Tasks>& result) {
    if (wires_ == nullptr) return emit_closed_form(piece, group, after, result);
    if (piece.collective == Collective::send_recv) return emit_ring(piece, group, after, result);
    const simulate::LoweredWay& way = way_for(piece);
    std::vector<TaskIndex> begin = mapped(
        group, [&](const std::int64_t d) { return joined(after[index(d)], d, piece.label); });
    GroupCarrier carrier(*wires_, group);
    const auto done = simulate::lower(way, carrier, out_.graph, begin);
    out_.labels.resize(out_.graph.size(), piece.label);
    for (const auto k : indices(group)) result[index(group[k])] = done[k];
  }

  // Nobody begins before all can.
  void emit_closed_form(const Piece& piece, Devices group, const std::vector<Tasks>& after,
                        std::vector<Tasks>& result) {
    const TaskIndex all =
        add({.kind = EventKind::dispatch, .actor = actor(group.front())}, piece.label);
    for (const std::int64_t d : group) {
      for (const TaskIndex before : after[index(d)]) out_.graph.wait(all, before);
    }
    const events::Picoseconds time = time_of(piece, group.front());
    for (const std::int64_t d : group) {
      const TaskIndex task = add({.kind = EventKind::collective,
                                  .actor = actor(d),
                                  .place = Place::on(communication(piece, d)),
                                  .duration_ps = time},
                                 piece.label);
      out_.graph.wait(task, all);
      result[index(d)].assign(1, task);
    }
  }

  // Everyone to the next.
  void emit_ring(const Piece& piece, Devices group, const std::vector<Tasks>& after,
                 std::vector<Tasks>& result) {
    Tasks sent;
    for (const auto k : indices(group)) {
      const std::int64_t to = group[(k + 1) % group.size()];
      sent.push_back(message(piece, group[k], to));
      for (const TaskIndex before : after[index(group[k])]) out_.graph.wait(sent[k], before);
    }
    for (const auto k : indices(group)) {
      result[index(group[(k + 1) % group.size()])].assign(1, sent[k]);
    }
  }

  TaskIndex message(const Piece& piece, std::int64_t from, std::int64_t to) {
    const simulate::Passage passage = wires_->passage(as_int(from), as_int(to), 0);
    return add({.kind = piece.kind,
                .actor = actor(from),
                .place = Place::over(passage.path),
                .duration_ps = passage.latency_ps,
                .bytes = piece.message_bytes},
               piece.label);
  }

  TaskIndex joined(const Tasks& tasks, std::int64_t device, std::uint32_t label) {
    if (tasks.size() == 1) return tasks.front();
    const TaskIndex out = add({.kind = EventKind::dispatch, .actor = actor(device)}, label);
    for (const TaskIndex before : tasks) out_.graph.wait(out, before);
    return out;
  }

  const simulate::LoweredWay& way_for(const Piece& piece) {
    const auto key =
        std::tuple(piece.collective, piece.message_bytes, piece.group.ranks, piece.group.stride);
    const auto* known = find_value(ways_, key);
    if (known) return *known;
    return ways_
        .emplace(key, way_of(site_, piece.collective, piece.message_bytes, piece.group.ranks,
                             piece.group.stride))
        .first->second;
  }

  // What the next stage, or the one before, waits for; whoever sends goes on.
  void hand_over(const std::vector<Piece>& pieces, const StagePass& at, std::int32_t number) {
    const std::int64_t to_stage = number % programs_.pipeline.stages;
    Tasks& arrived = arrivals(at.pass.kind, number, at.pass.micro_batch);
    for_each_device(at.stage, [&](std::int64_t d) {
      const std::int64_t to = d + (to_stage - at.stage) * grid_.block;
      Tasks before = ready_[index(d)];
      for (const Piece& piece : pieces) {
        const TaskIndex sent = wires_ != nullptr ? message(piece, d, to)
                                                 : add({.kind = piece.kind,
                                                        .actor = actor(d),
                                                        .place = Place::on(communication(piece, d)),
                                                        .duration_ps = time_of(piece, d)},
                                                       piece.label);
        for (const TaskIndex task : before) out_.graph.wait(sent, task);
        before.assign(1, sent);
      }
      arrived.push_back(before.size() == 1 ? before.front() : joined(before, d, 0));
    });
  }

  void emit_over_copies(const Piece& piece, std::int64_t stage, bool is_last) {
    const bool gathers = piece.collective == Collective::all_gather;
    if (!gathers && !is_last && !programs_.reduces_every_pass) return;
    for (const std::int64_t i : below(grid_.tensor)) {
      const std::vector<std::int64_t> group = grid_.copies(stage, i);
      if (!gathers) {
        emit_collective(piece, group, ready_, scratch());
        for (const std::int64_t d : group) append(reduced_[index(d)], scratch_[index(d)]);
        continue;
      }
      // One layer ahead: it may begin when the layer before the one at work has ended.
      emit_collective(piece, group, unit_begin_, scratch());
      for (const std::int64_t d : group) {
        unit_begin_[index(d)] = ready_[index(d)];
        append(ready_[index(d)], scratch_[index(d)]);
      }
    }
  }

  std::vector<Tasks>& scratch() {
    scratch_.resize(ready_.size());
    return scratch_;
  }
  static void append(Tasks& to, const Tasks& tasks) { append_all(to, tasks); }

  void finish_step() {
    for (const auto d : indices(ready_)) append(ready_[d], reduced_[d]);
    for (const auto stage : indices(programs_.after_step)) {
      for (const Piece& piece : programs_.after_step[stage]) {
        for (const std::int64_t i : below(grid_.tensor)) {
          emit_collective(piece, grid_.copies(as_int64(stage), i), ready_, ready_);
        }
      }
    }
  }

  const Programs& programs_;
  const DeviceGrid& grid_;
  const Site& site_;
  const KernelTimes& times_;
  const LoweringOptions& options_;
  LoweredStep out_;
  std::unique_ptr<SiteCarrier> wires_;  // of messages alone
  std::vector<Tasks> ready_;            // by device: what its next piece waits for
  std::vector<Tasks> unit_begin_, reduced_, scratch_;
  std::array<std::vector<Tasks>, 2> arrivals_;
  std::map<std::tuple<Collective, double, std::int64_t, std::int64_t>, simulate::LoweredWay> ways_;
};

}  // namespace

LoweredStep lower_step(const Programs& programs, const DeviceGrid& grid, const Site& site,
                       const KernelTimes& times, const LoweringOptions& options) {
  const double events = events_of(programs, grid, site, options.carriage);
  require_within(events, options.events_max);
  return Lowering(programs, grid, site, times, options).run(events);
}

}  // namespace halmark::schedule
