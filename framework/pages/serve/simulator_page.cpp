#include "pages/serve/simulator_page.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "pages/serve/deployment_files.hpp"
#include "pages/serve/fabric_drawing.hpp"
#include "pages/serve/journal_pages.hpp"
#include "pages/serve/page_documents.hpp"
#include "pages/serve/sharding_table.hpp"
#include "pages/serve/step_document.hpp"
#include "pages/serve/step_timeline.hpp"
#include "plan/device_file.hpp"
#include "simulate/fabric/fabric_file.hpp"

namespace halmark::pages {
namespace {

constexpr std::size_t systems_max = 8;

const std::string& wanted(const serve::PageQuestion& question, const char* name) {
  const auto found = question.values.find(name);
  if (found != question.values.end()) return found->second;
  throw refused(std::string("'") + name + "' is not given");
}

std::int64_t run_number(const std::string& text) {
  if (text.empty() || text.size() > 12 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw refused("'" + printable(text) + "' is no number of a run");
  }
  return std::stoll(text);
}

Json state_json(const PageState& state, const Configuration& c) {
  return {{"device", state.device},
          {"model", state.model},
          {"fabric", state.fabric},
          {"dtype", state.dtype},
          {"phase", std::string(phase_name(state.phase))},
          {"shards", c.devices()},
          {"batch", state.batch},
          {"new", state.new_tokens},
          {"context", state.context},
          {"strategy", c.parallel.text()},
          {"is_auto", !state.strategy.has_value()},
          {"precision", c.precision.name}};
}

}  // namespace

SimulatorPage::SimulatorPage(PageSettings settings)
    : settings_(std::move(settings)), sweeps_(settings_.sweeps) {}
SimulatorPage::~SimulatorPage() = default;

// Elsewhere a name may be the path of a file. What a page sends is one of the lists, or nothing.
void SimulatorPage::require_listed(const PageState& state) {
  if (models_.empty()) {
    const PageSources& of = settings_.sources;
    for (const ModelListing& model : list_models(of.models)) models_.insert(model.id);
    for (const Device& device : known_devices(of.devices)) devices_.insert(device.id);
    for (const auto& topology : fabric::known_fabrics(of.fabrics)) fabrics_.insert(topology.id);
    if (of.here) devices_.insert(of.here->id);
  }
  const auto check = [](const char* kind, const std::string& name, const auto& listed) {
    if (listed.contains(name)) return;
    throw refused(std::string("unknown ") + kind + " '" + printable(name) + "'", {},
                  suggestion(name, {listed.begin(), listed.end()}));
  };
  check("model", state.model, models_);
  check("device", state.device, devices_);
  if (!state.fabric.empty()) check("fabric", state.fabric, fabrics_);
}

SimulatorPage::Known& SimulatorPage::known(const PageState& state) {
  require_listed(state);
  const auto same = std::ranges::find_if(systems_, [&](const Known& one) {
    return one.device == state.device && one.model == state.model && one.fabric == state.fabric;
  });
  if (same != systems_.end()) {
    systems_.splice(systems_.begin(), systems_, same);
    return systems_.front();
  }
  Known made{state.device, state.model, state.fabric,
             std::make_unique<PricedSystem>(state, settings_.sources), nullptr};
  if (made.system->topology() != nullptr) {
    made.router = std::make_unique<fabric::Router>(*made.system->topology());
  }
  systems_.push_front(std::move(made));
  if (systems_.size() > systems_max) systems_.pop_back();
  return systems_.front();
}

Json SimulatorPage::step(const PageState& state) {
  Known& of = known(state);
  PricedSystem& system = *of.system;
  const Configuration configuration = system.configuration(state);
  const fabric::Topology* topology = system.topology();
  if (topology != nullptr &&
      configuration.devices() > static_cast<int>(topology->devices().size())) {
    throw refused("fabric '" + topology->id + "' has " +
                      std::to_string(topology->devices().size()) + " devices, and " +
                      std::to_string(configuration.devices()) + " are wanted",
                  {}, "choose fewer shards or a larger fabric");
  }
  const ComposedStep step = composed_step(system, configuration);
  PageState at = state;
  at.shards = configuration.devices();
  Json warnings = Json::array();
  for (const std::string& warning : step.graph.warnings) warnings.push_back(warning);
  return {{"state", state_json(state, configuration)},
          {"figures", figures_json(system, step)},
          {"bottleneck", step.estimate.bottleneck},
          {"memory", memory_json(system, step)},
          {"operators", operators_json(step)},
          {"sharding", sharding_json(step)},
          {"layouts", layouts_json(system.layouts(at), at.shards, system.device())},
          {"load", topology != nullptr ? link_load_json(*topology, *of.router, step) : Json()},
          {"times_from", system.times_from()},
          {"warnings", std::move(warnings)}};
}

Json SimulatorPage::timeline(const PageState& state) {
  PricedSystem& system = *known(state).system;
  const ComposedStep step = composed_step(system, system.configuration(state));
  Json out = timeline_json(step_timeline(system, step));
  out["note"] =
      "one rank of each stage: the others of a stage do the same at the same time; collectives "
      "follow the kernels that they wait for";
  return out;
}

Json SimulatorPage::front(const PageState& state) {
  return candidates_json(*known(state).system, state);
}

Json SimulatorPage::drawing(const PageState& state) {
  const fabric::Topology* topology = known(state).system->topology();
  if (topology == nullptr) throw refused("no fabric is chosen", {}, "choose one of the list");
  return fabric_drawing(*topology);
}

Json SimulatorPage::deployment(const PageState& state, const std::string& engine) {
  PricedSystem& system = *known(state).system;
  const ComposedStep step = composed_step(system, system.configuration(state));
  return deployment_files(system, step, settings_.sources, engine);
}

Json SimulatorPage::documents() const {
  return page_documents(settings_.sources, settings_.sweeps.is_writable);
}

Json SimulatorPage::answer(const serve::PageQuestion& question) {
  using Answer = Json (*)(SimulatorPage&, const serve::PageQuestion&);
  static const std::map<std::string, Answer, std::less<>> answers = {
      {"documents", [](SimulatorPage& p, const auto&) { return p.documents(); }},
      {"step", [](SimulatorPage& p, const auto& q) { return p.step(parse_state(q.values)); }},
      {"timeline",
       [](SimulatorPage& p, const auto& q) { return p.timeline(parse_state(q.values)); }},
      {"front", [](SimulatorPage& p, const auto& q) { return p.front(parse_state(q.values)); }},
      {"fabric", [](SimulatorPage& p, const auto& q) { return p.drawing(parse_state(q.values)); }},
      {"export",
       [](SimulatorPage& p, const auto& q) {
         return p.deployment(parse_state(q.values), wanted(q, "as"));
       }},
      {"runs",
       [](SimulatorPage& p, const auto&) { return journal_runs(p.settings_.sweeps.database); }},
      {"run",
       [](SimulatorPage& p, const auto& q) {
         return journal_points(p.settings_.sweeps.database, run_number(wanted(q, "id")));
       }},
      {"compare", [](SimulatorPage& p, const auto& q) {
         return journal_comparison(p.settings_.sweeps.database, wanted(q, "before"),
                                   wanted(q, "after"));
       }}};
  return answers.at(question.path)(*this, question);
}

Json SimulatorPage::act(const serve::PageQuestion& question) {
  if (question.path == "start") {
    sweeps_.start(wanted(question, "sweep"));
  } else if (question.path == "stop") {
    sweeps_.stop();
  } else {
    throw std::out_of_range("no such action");
  }
  return sweeps_.progress();
}

Json SimulatorPage::progress() { return sweeps_.progress(); }

}  // namespace halmark::pages
