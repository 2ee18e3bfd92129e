// Trace format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// ("Trace Event Format"): complete events ("X") and names of processes and threads ("M").
#include "simulate/timeline/timeline_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/json/json.hpp"
#include "core/lists.hpp"

namespace halmark::simulate {
namespace {

using events::Picoseconds;

// Exact: six digits are picoseconds.
std::string microseconds(Picoseconds time) {
  return fmt::format("{}.{:06}", time / 1'000'000, time % 1'000'000);
}

std::string json_text(std::string_view text) { return dump_json(Json(text)); }

// Quoted once, because events are millions and names are few.
std::vector<std::string> all_quoted(const std::vector<std::string>& texts) {
  return mapped(texts, [&](const std::string& text) { return json_text(text); });
}

std::vector<std::uint32_t> by_begin(const Timeline& timeline) {
  std::vector<std::uint32_t> out(timeline.events.size());
  std::iota(out.begin(), out.end(), 0U);
  std::ranges::stable_sort(out, {}, [&](std::uint32_t i) { return timeline.events[i].start_ps; });
  return out;
}

// Of the trace: streams of one device under it by name, and as many lanes as it has messages at the
// same time, because slices of one thread must not overlap.
class Threads {
 public:
  explicit Threads(const Timeline& timeline) : timeline_(timeline) {}

  // Events come by their begin.
  std::size_t of(const TimelineEvent& event) {
    const bool is_on_stream =
        event.resource != TimelineEvent::none && !timeline_.resources[event.resource].is_link;
    if (is_on_stream) return thread(event.actor, timeline_.resources[event.resource].name);
    std::vector<Picoseconds>& lanes = lanes_[event.actor];
    std::size_t lane = 0;
    while (lane < lanes.size() && lanes[lane] > event.start_ps) ++lane;
    if (lane == lanes.size()) lanes.push_back(0);
    lanes[lane] = event.end_ps;
    return thread(event.actor, "messages " + std::to_string(lane));
  }
  std::string names() const {
    std::string out;
    for (const auto& [actor, threads] : threads_) {
      out += name_of("process", actor, 0, timeline_.actors[actor]);
      for (const auto& [name, number] : threads) out += name_of("thread", actor, number, name);
    }
    return out;
  }

 private:
  std::size_t thread(std::uint32_t actor, const std::string& name) {
    auto& own = threads_[actor];
    return own.try_emplace(name, own.size() + 1).first->second;
  }
  static std::string name_of(const char* what, std::uint32_t actor, std::size_t number,
                             const std::string& name) {
    return fmt::format(R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}},)"
                       "\n",
                       what, actor, number, json_text(name));
  }

  const Timeline& timeline_;
  std::map<std::uint32_t, std::map<std::string, std::size_t>> threads_;
  std::map<std::uint32_t, std::vector<Picoseconds>> lanes_;
};

}  // namespace

std::string json_lines(const Timeline& timeline) {
  const std::vector<std::string> labels = all_quoted(timeline.labels);
  const std::vector<std::string> actors = all_quoted(timeline.actors);
  std::string out;
  for (const std::uint32_t i : by_begin(timeline)) {
    const TimelineEvent& event = timeline.events[i];
    const bool has_resource = event.resource != TimelineEvent::none;
    out += fmt::format(
        R"({{"id":{},"phase":"{}","actor":{},"kind":"{}","label":{},"start_us":{},"end_us":{},)"
        R"("resource":{},"bytes":{},"flops":{},"cause":[{}],"critical":{}}})"
        "\n",
        i, phase_name(event.phase), actors[event.actor], events::kind_name(event.kind),
        labels[event.label], microseconds(event.start_ps), microseconds(event.end_ps),
        has_resource ? json_text(timeline.resources[event.resource].name) : "null", event.bytes,
        event.flops, event.cause == TimelineEvent::none ? "" : std::to_string(event.cause),
        event.is_critical);
  }
  return out;
}

std::string chrome_trace(const Timeline& timeline) {
  const std::vector<std::string> labels = all_quoted(timeline.labels);
  Threads threads(timeline);
  std::string events;
  for (const std::uint32_t i : by_begin(timeline)) {
    const TimelineEvent& event = timeline.events[i];
    if (event.kind == events::EventKind::dispatch && event.start_ps == event.end_ps) continue;
    events +=
        fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}",)"
                    R"("args":{{"id":{},"phase":"{}","bytes":{},"flops":{},"critical":{}}}}},)"
                    "\n",
                    event.actor, threads.of(event), microseconds(event.start_ps),
                    microseconds(event.end_ps - event.start_ps), labels[event.label],
                    events::kind_name(event.kind), i, phase_name(event.phase), event.bytes,
                    event.flops, event.is_critical);
  }
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + threads.names() + events;
  if (out.ends_with(",\n")) out.erase(out.size() - 2);
  return out + "\n]}\n";
}

}  // namespace halmark::simulate
