#include "simulate/schedule/one_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::schedule {
namespace {

using events::EventKind;
using simulate::OneTimePhase;

constexpr std::array kinds{EventKind::boot,    EventKind::discover, EventKind::probe,
                           EventKind::compile, EventKind::plan,     EventKind::place};
constexpr double seconds_max = 1e5;

OneTimePhase parsed(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  std::vector<std::string> names;
  for (const EventKind kind : kinds) names.emplace_back(events::kind_name(kind));
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) {
    throw refused("unknown one-time phase '" + printable(name) + "'", "--one-time",
                  suggestion(name, names));
  }
  double seconds = -1;
  if (equals != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, seconds);
    if (error != std::errc() || stop != end) seconds = -1;
  }
  if (!(seconds >= 0 && seconds <= seconds_max)) {
    throw refused("'" + printable(text) + "' states no time", "--one-time",
                  name + "=SECONDS, from 0 to " + number_text(seconds_max));
  }
  return {.kind = kinds[as_size(at - names.begin())], .seconds = seconds, .source = "stated"};
}

std::optional<OneTimePhase> placement(const PricedStep& step, const fabric::Topology& topology) {
  const fabric::MemoryTier* slowest = nullptr;
  for (const fabric::MemoryTier& tier : topology.tiers) {
    if (tier.scope == "device" || tier.read_bytes_per_s <= 0) continue;
    if (slowest == nullptr || tier.read_bytes_per_s < slowest->read_bytes_per_s) slowest = &tier;
  }
  if (slowest == nullptr) return std::nullopt;
  // Devices of the fullest node: they share its tier.
  std::map<int, std::int64_t> nodes;
  std::int64_t together = 1, placed = 0;
  for (const int device : topology.devices()) {
    if (placed++ >= step.graph.configuration.devices()) break;
    const fabric::Entity& entity = topology.entities[as_size(device)];
    together = std::max(together, ++nodes[slowest->scope == "numa" ? entity.numa : entity.node]);
  }
  const std::int64_t of_rank = step.is_training() ? largest(step.training_stages).weight_bytes
                                                  : step.memory.largest.weight_bytes;
  const double bytes = as_double(of_rank) * as_double(together);
  return OneTimePhase{
      .kind = EventKind::place,
      .seconds = bytes / slowest->read_bytes_per_s,
      .source = "modelled: " + number_text(bytes / 1e9, 3) + " GB of weights a node, read at " +
                number_text(slowest->read_bytes_per_s / 1e9, 3) + " GB/s (" + slowest->name + ")"};
}

}  // namespace

std::vector<OneTimePhase> one_time_phases(const PricedStep& step, const fabric::Topology& topology,
                                          const std::vector<std::string>& stated) {
  std::vector<OneTimePhase> out;
  for (const std::string& text : stated) {
    OneTimePhase phase = parsed(text);
    if (contains(out, phase.kind, &OneTimePhase::kind)) {
      throw refused("'" + printable(text) + "' states a phase again", "--one-time");
    }
    out.push_back(std::move(phase));
  }
  if (!contains(out, EventKind::place, &OneTimePhase::kind)) {
    if (auto place = placement(step, topology)) out.push_back(*std::move(place));
  }
  std::ranges::stable_sort(out, {}, &OneTimePhase::kind);
  return out;
}

}  // namespace halmark::schedule
