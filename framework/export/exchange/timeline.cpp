#include "export/exchange/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/lists.hpp"
#include "core/text/units.hpp"

namespace halmark::exports {
namespace {

double end_of(const std::vector<Slice>& slices) {
  return slices.empty() ? 0 : slices.back().begin_ns + slices.back().duration_ns;
}

// Behind the last one; what took no time is no slice.
void append(std::vector<Slice>& slices, Slice next, double from_ns = 0) {
  if (!(next.duration_ns > 0)) return;
  next.begin_ns = slices.empty() ? from_ns : end_of(slices);
  slices.push_back(std::move(next));
}

void note(Slice& slice, const char* name, const std::string& text) {
  if (!text.empty()) slice.notes.emplace_back(name, text);
}

void note(Slice& slice, const char* name, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) slice.notes.emplace_back(name, *value);
}

void note_count(Slice& slice, const char* name, std::int64_t value) {
  slice.notes.emplace_back(name, value);
}

// Of all repeats: a sample's clock is per execution.
double sampled_ns(const Measurement& row) {
  double out = 0;
  for (const Sample& s : row.samples) out += s.wall_ns * as_double(row.repeat);
  return out;
}

Slice trial_slice(const Measurement& row, double begin_ns) {
  Slice out{.name = row.kernel_case.problem.text(),
            .category = std::string(status_name(row.status)),
            .begin_ns = begin_ns};
  append(out.inside, {.name = "create", .duration_ns = row.one_time.create_ns}, begin_ns);
  append(out.inside, {.name = "pack", .duration_ns = row.one_time.pack_ns}, begin_ns);
  append(out.inside, {.name = "first", .duration_ns = row.one_time.first_ns}, begin_ns);
  append(out.inside, {.name = "samples", .duration_ns = sampled_ns(row)}, begin_ns);
  // Parts of several shards may overlap: the trial is never shorter than what is shown inside.
  const double inside_ns = out.inside.empty() ? 0 : end_of(out.inside) - begin_ns;
  out.duration_ns = std::max(row.wall_s * ns_per_s, inside_ns);
  note(out, "case", row.kernel_case.key());
  note_count(out, "round", row.round);
  note(out, "status", std::string(status_name(row.status)));
  note(out, "reason", row.reason);
  note(out, "implementation", row.implementation.name);
  if (has_latency(row.status)) {
    note(out, "duration_ns", row.duration_ns_median);
    note(out, "low_ns", row.duration_ns_interval.low);
    note(out, "high_ns", row.duration_ns_interval.high);
  }
  note_count(out, "samples", std::ssize(row.samples));
  note_count(out, "executions_per_sample", row.repeat);
  return out;
}

Slice kernel_slice(const KernelPoint& k, double begin_ns) {
  Slice out{.name = k.problem,
            .category = std::string(status_name(k.status)),
            .begin_ns = begin_ns,
            .duration_ns = *k.duration_ns};
  note(out, "case", k.key);
  note(out, "duration_ns", k.duration_ns);
  note(out, "low_ns", k.low_ns);
  note(out, "high_ns", k.high_ns);
  note(out, "bound_ns", k.lower_bound_ns);
  note(out, "mfu_ratio", k.mfu);
  note(out, "implementation", k.implementation);
  note(out, "place", k.place);
  note_count(out, "processes", k.rounds);
  return out;
}

Slice operator_slice(const OperatorShare& o) {
  Slice out{.name = o.name, .category = o.bound, .duration_ns = o.ns};
  note_count(out, "executions", o.count);
  note(out, "duration_ns", o.ns);
  note(out, "low_ns", o.low_ns);
  note(out, "high_ns", o.high_ns);
  note(out, "bound_ns", o.lower_bound_ns);
  note(out, "bound", o.bound);
  note(out, "provenance", std::string(provenance_name(o.provenance)));
  note(out, "dtype", o.dtype);
  note(out, "split", o.strategy);
  note(out, "implementation", o.implementation);
  return out;
}

// Operators of one layer type that follow each other are one slice with them inside.
std::vector<Slice> layer_slices(const std::vector<OperatorShare>& operators) {
  std::vector<Slice> out;
  for (const OperatorShare& o : operators) {
    if (!(o.ns > 0)) continue;
    if (out.empty() || out.back().name != o.layer_type) {
      out.push_back({.name = o.layer_type, .category = "layer", .begin_ns = end_of(out)});
    }
    Slice& layer = out.back();
    append(layer.inside, operator_slice(o), layer.begin_ns);
    layer.duration_ns = end_of(layer.inside) - layer.begin_ns;
  }
  return out;
}

void add_step(const Estimate& e, TimelineGroup& out) {
  Slice step{.name = "step", .category = "step", .duration_ns = e.step_ns};
  note(step, "duration_ns", e.step_ns);
  note(step, "low_ns", e.low_ns);
  note(step, "high_ns", e.high_ns);
  note(step, "bound_ns", e.lower_bound_ns);
  note(step, "tokens_per_s", e.tokens_per_s);
  note(step, "mfu_ratio", e.mfu);
  note(step, "bottleneck", e.bottleneck);
  note(step, "provenance", std::string(provenance_name(e.provenance)));
  out.tracks.push_back({.name = "step", .slices = {std::move(step)}});
  std::vector<Slice> layers = layer_slices(e.operators);
  if (!layers.empty()) {
    out.tracks.push_back({.name = "operators, all executions", .slices = std::move(layers)});
  }
}

void add_request(const ServedLoad& load, const ServingFigures& f, TimelineGroup& out) {
  std::vector<Slice> slices;
  Slice first{.name = "to the first token", .category = "ttft", .duration_ns = f.ttft_ns};
  note_count(first, "input_tokens", load.request.input_tokens);
  note(first, "ttft_ns", f.ttft_ns);
  append(slices, std::move(first));
  const std::int64_t later = load.request.output_tokens - 1;
  Slice rest{.name = "tokens behind the first",
             .category = "tpot",
             .duration_ns = as_double(later) * f.tpot_ns};
  note_count(rest, "tokens", later);
  note(rest, "tpot_ns", f.tpot_ns);
  append(slices, std::move(rest));
  out.tracks.push_back({.name = "one request", .slices = std::move(slices)});
}

}  // namespace

TimelineGroup measuring_timeline(std::span<const Measurement> rows) {
  TimelineTrack track{.name = "rows as they were measured, end to end", .slices = {}};
  for (const Measurement& row : rows) {
    Slice next = trial_slice(row, end_of(track.slices));
    if (next.duration_ns > 0) track.slices.push_back(std::move(next));
  }
  TimelineGroup out{.name = "what was measured", .tracks = {}};
  if (!track.slices.empty()) out.tracks.push_back(std::move(track));
  return out;
}

TimelineGroup kernel_timeline(const RunReport& report) {
  std::map<std::string, std::size_t> places;
  TimelineGroup out{.name = "one execution of each kernel", .tracks = {}};
  double now_ns = 0;
  for (const KernelPoint& k : report.kernels) {
    if (!has_latency(k.status) || !k.duration_ns || !(*k.duration_ns > 0)) continue;
    const auto [it, is_new] = places.try_emplace(k.op, out.tracks.size());
    if (is_new) out.tracks.push_back({.name = k.op, .slices = {}});
    out.tracks[it->second].slices.push_back(kernel_slice(k, now_ns));
    now_ns += *k.duration_ns;
  }
  return out;
}

std::vector<TimelineGroup> front_timeline(const SearchedFront& front) {
  std::vector<TimelineGroup> out;
  for (const auto i : indices(front.points)) {
    const Evaluation& e = front.points[i];
    TimelineGroup group{.name = "point " + std::to_string(i + 1) + ": " + e.configuration.key(),
                        .tracks = {}};
    if (e.estimate) add_step(*e.estimate, group);
    if (e.served && e.configuration.served)
      add_request(*e.configuration.served, e.served->figures, group);
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace halmark::exports
