#include "fleet/nodes/class_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::fleet {
namespace {

using ByClass = std::map<std::string, std::vector<const Agent*>>;

// The classes of these places on the agent's machine; nothing where it lacks one.
std::optional<std::string> class_of(const Agent& agent, std::span<const ShardPlace> places) {
  std::vector<std::string> each;
  for (const ShardPlace& place : places) {
    const auto* own = find_value(agent.places, place.device_text());
    if (!own) return std::nullopt;
    if (!contains(each, *own)) each.push_back(*own);
  }
  return fmt::format("{}", fmt::join(each, "+"));
}

// A class of the sweep's devices, or another of the same machine: its processor's.
bool is_wanted(const std::string& wanted, const std::string& own, const Agent& agent) {
  return own.starts_with(wanted) ||
         std::ranges::any_of(agent.offer.classes,
                             [&](const std::string& one) { return one.starts_with(wanted); });
}

std::string names_of(const std::vector<const Agent*>& agents) {
  std::vector<std::string> names;
  for (const Agent* a : agents) {
    if (!contains(names, a->node)) names.push_back(a->node);
  }
  constexpr std::size_t named_max = 3;
  if (names.size() <= named_max) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

std::string list_of(const ByClass& classes) {
  std::string out;
  for (const auto& [name, agents] : classes) {
    append_item(out, ", ", fmt::format("{} ({})", name, names_of(agents)));
  }
  return out;
}

std::string texts_of(std::span<const ShardPlace> places) {
  return join(places, " + ", &ShardPlace::device_text);
}

struct Sorted {
  ByClass fit, others;  // others: of a class that is not wanted
  std::string misfit;   // why the last one does not fit at all
};

Sorted sorted(const ClassQuestion& question, std::span<const Agent> agents, bool are_present) {
  Sorted out;
  for (const Agent& agent : agents) {
    if (is_present(agent) != are_present || agent.state == refused_state) continue;
    if (agent.offer.tool != question.tool) {
      out.misfit = fmt::format("{} runs halmark {}, and this is {}", agent.node, agent.offer.tool,
                               question.tool);
      continue;
    }
    const auto own = class_of(agent, question.places);
    if (!own) {
      out.misfit = fmt::format("{} has no device {}", agent.node, texts_of(question.places));
      continue;
    }
    (is_wanted(question.wanted, *own, agent) ? out.fit : out.others)[*own].push_back(&agent);
  }
  return out;
}

}  // namespace

ClassAnswer chosen_class(const ClassQuestion& question, std::span<const Agent> agents) {
  Sorted found = sorted(question, agents, true);
  const Sorted there = found;
  if (found.fit.empty()) found = sorted(question, agents, false);
  if (found.fit.size() > 1) {
    throw refused("agents of several classes are there: " + list_of(found.fit),
                  question.wanted.empty() ? "--fleet" : "--fleet-class " + question.wanted,
                  "name one: --fleet-class " + found.fit.begin()->first);
  }
  if (!found.fit.empty()) {
    const auto& [name, of_class] = *found.fit.begin();
    return {.agent = of_class.front()->id, .hardware_class = name, .waits = {}};
  }
  if (!there.others.empty()) {
    return {.waits = fmt::format("no agent has a class {}..: there are {}", question.wanted,
                                 list_of(there.others))};
  }
  if (!there.misfit.empty()) return {.waits = there.misfit};
  return {.waits = "no agent is there: start 'halmark agent URL' on a machine that has " +
                   texts_of(question.places)};
}

}  // namespace halmark::fleet
