#include "fleet/nodes/planning.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "fleet/fleet.hpp"
#include "fleet/nodes/class_choice.hpp"
#include "fleet/sessions.hpp"
#include "host/plugin/plugin_choice.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
namespace {

constexpr std::chrono::milliseconds poll{1000}, look{50};

ClassAnswer answer_of(postgresql::Session& session, const ClassQuestion& asked) {
  if (!WorkTable::is_there(session)) return chosen_class(asked, {});
  return chosen_class(asked, WorkTable::agents_with_places(session));
}

std::vector<ShardPlace> devices_of(const Sweep& sweep) {
  if (sweep.shards_on.empty()) return {{.backend = sweep.backend, .device = sweep.device}};
  return tune::distinct_devices(places_of(sweep));
}

// A class is what its facts make of it: a database that was edited, or a program that was changed,
// says something else.
void require_consistent(const NodeFacts& facts, const ClassQuestion& asked,
                        const ClassAnswer& answer, const std::string& agent) {
  const auto own = classes_by_place(facts);
  std::vector<std::string> each;
  for (const ShardPlace& place : asked.places) {
    const auto* found = find_value(own, place.device_text());
    const std::string of_place = !found ? "nothing" : *found;
    if (!contains(each, of_place)) each.push_back(of_place);
  }
  const std::string said = fmt::format("{}", fmt::join(each, "+"));
  if (said == answer.hardware_class) return;
  throw refused(
      fmt::format("says that it is of class {}, and what it tells of its machine is of {}",
                  answer.hardware_class, said),
      agent, "stop that agent: what it measures is of no known class");
}

// What this machine measures beside the fleet is of the same class and build, or not at all.
void measure_here_too(const PlanningQuestion& question, std::span<const ShardPlace> places,
                      NodeFacts& facts) {
  const NodeFacts here{.machine = tune::local_machine(), .plugins = question.plugins_here()};
  const auto own = classes_by_place(here), theirs = classes_by_place(facts);
  for (const ShardPlace& place : places) {
    const auto* mine = find_value(own, place.device_text());
    if (!mine || *mine != theirs.at(place.device_text())) {
      throw refused(fmt::format("validation and nights run on this machine, whose {} is {}",
                                place.device_text(), !mine ? "absent" : *mine),
                    "--fleet", "plan them on a machine of class " + theirs.at(place.device_text()));
    }
    const FoundPlugin& plugin = plugin_of(here.plugins, place.backend);
    for (FoundPlugin& told : facts.plugins) {
      if (told.description->name != place.backend) continue;
      if (told.hash != plugin.hash) {
        throw refused("validation and nights run on this machine, and this is another build of " +
                          place.backend + " than the agents'",
                      plugin.path, "install the same build here");
      }
      told.path = plugin.path;
    }
  }
}

NodeFacts facts_of(postgresql::Session& session, const ClassQuestion& asked,
                   const ClassAnswer& answer) {
  const std::string name = fmt::format("agent {}", *answer.agent);
  NodeFacts out = read_facts(WorkTable::facts(session, *answer.agent), name);
  require_consistent(out, asked, answer, name);
  return out;
}

}  // namespace

std::optional<NodeFacts> facts_to_plan_with(const PlanningQuestion& question) {
  require_shared(question.url);
  const ClassQuestion asked{
      .wanted = question.wanted_class, .places = devices_of(question.sweep), .tool = tool_text()};
  postgresql::Session session(question.url, {.store = "the fleet's table", .rows = "nothing"});
  std::string said;
  const auto say = [&](const std::string& line) {
    if (question.say && line != said) question.say("halmark: " + line + '\n');
    said = line;
  };
  for (;;) {
    const ClassAnswer answer = answer_of(session, asked);
    if (answer.agent) {
      NodeFacts out = facts_of(session, asked, answer);
      if (question.validates || question.sweep.nightly) {
        measure_here_too(question, asked.places, out);
      }
      say(fmt::format("planning for {}, by what agent {} tells of it", answer.hardware_class,
                      *answer.agent));
      return out;
    }
    if (!question.waits) {
      throw refused(answer.waits, "--fleet", "without --fleet the plan is that of this machine");
    }
    say("waiting to plan: " + answer.waits);
    const auto end = SteadyClock::now() + poll;
    while (SteadyClock::now() < end) {
      if (question.stop.stop_requested()) return std::nullopt;
      std::this_thread::sleep_for(look);
    }
  }
}

}  // namespace halmark::fleet
