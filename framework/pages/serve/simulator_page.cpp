#include "pages/serve/simulator_page.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "pages/serve/document/deployment_files.hpp"
#include "pages/serve/document/fabric_drawing.hpp"
#include "pages/serve/document/journal_pages.hpp"
#include "pages/serve/document/page_documents.hpp"
#include "pages/serve/document/serving_document.hpp"
#include "pages/serve/document/sharding_table.hpp"
#include "pages/serve/document/simulation_document.hpp"
#include "pages/serve/document/step_document.hpp"
#include "pages/serve/state/composed_step.hpp"
#include "pages/serve/state/served_state.hpp"
#include "pages/step/step_page.hpp"

namespace halmark::pages {
namespace {

const std::string& wanted(const serve::PageQuestion& question, const char* name) {
  const auto* found = find_value(question.values, name);
  if (found) return *found;
  throw refused(std::string("'") + name + "' is not given");
}

std::int64_t run_number(const std::string& text) {
  if (text.empty() || text.size() > 12 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    throw refused("'" + printable(text) + "' is no number of a run");
  }
  return std::stoll(text);
}

// Names as the lists have them, whatever alias was asked for.
Json state_json(const PageState& state, const PricedSystem& system, const Configuration& c) {
  return {{"device", system.device().id},
          {"model", system.spec().names.empty() ? c.model : system.spec().names.front()},
          {"fabric", state.fabric},
          {"dtype", state.dtype},
          {"phase", phase_name(state.phase)},
          {"shards", c.devices()},
          {"batch", state.batch},
          {"new", state.new_tokens},
          {"context", state.context},
          {"strategy", c.parallel.text()},
          {"is_auto", !state.strategy.has_value()},
          {"precision", c.precision.name}};
}

}  // namespace

namespace {

// What it needs and from how many devices it fits, as halmark model says it; "" of one that fits.
std::string no_fit(const PageState& state, const ComposedStep& step) {
  const auto fit = fit_of(step.priced);
  if (!fit || !fit->device_bytes || fit->short_by_bytes() == 0) return {};
  return no_fit_text(step.priced, *fit) + "; " + more_room(state);
}

}  // namespace

SimulatorPage::SimulatorPage(PageSettings settings)
    : settings_(std::move(settings)),
      sweeps_(settings_.sweeps),
      quick_(settings_.sources),
      slow_(settings_.sources) {}
SimulatorPage::~SimulatorPage() = default;

Json SimulatorPage::step(const PageState& state) {
  PricedSystem& system = quick_.system(state);
  const Configuration configuration = system.shown_configuration(state);
  const fabric::Topology* topology = system.topology();
  if (topology != nullptr && configuration.devices() > as_int(topology->devices().size())) {
    throw refused("fabric '" + topology->id + "' has " +
                      std::to_string(topology->devices().size()) + " devices, and " +
                      std::to_string(configuration.devices()) + " are wanted",
                  {}, "choose fewer shards or a larger fabric");
  }
  const ComposedStep step = composed_step(system, state, configuration);
  PageState at = state;
  at.shards = configuration.devices();
  Json warnings = json_list(step.graph().warnings);
  return {{"state", state_json(state, system, configuration)},
          {"figures", figures_json(system, step, state.measured_ms)},
          {"bottleneck", step.estimate.bottleneck},
          {"memory", memory_json(system, step)},
          {"no_fit", no_fit(state, step)},
          {"operators", operators_json(step)},
          {"sharding", sharding_json(step)},
          {"layouts", layouts_json(system.layouts(at), at.shards, system.device())},
          {"times_from", system.times_from()},
          {"warnings", std::move(warnings)}};
}

namespace {

tune::StepOutcome simulated_or_refused(const PricedSystem& system, const PageState& state,
                                       const PricedStep& step, const SimulatedAs& as) {
  auto out = simulated(system, state, step, as);
  if (out) return *std::move(out);
  throw refused("this step has more than " + number_text(as.events_max) +
                    " events: too many to simulate while you wait",
                {}, "choose fewer shards or a smaller batch, or ask halmark simulate");
}

}  // namespace

Json SimulatorPage::simulation(const PageState& state, bool shows_all) {
  PricedSystem& system = slow_.system(state);
  const ComposedStep step = composed_step(system, state, system.shown_configuration(state));
  return simulation_json(system, step, simulated_or_refused(system, state, step.priced, {}),
                         shows_all);
}

Json SimulatorPage::spread(const PageState& state) {
  PricedSystem& system = slow_.system(state);
  const ComposedStep step = composed_step(system, state, system.shown_configuration(state));
  return spread_json(
      simulated_or_refused(system, state, step.priced, {.runs = std::nullopt}).simulation);
}

Json SimulatorPage::serving(const PageState& state) {
  if (!state.load) throw refused("this state has no requests", {}, "choose phase serving");
  PricedSystem& system = slow_.system(state);
  const tune::ServingQuestion question = serving_question(state, system, settings_.sources);
  Json layouts = layouts_json(system.layouts(decode_of(state)), state.shards, system.device());
  Json out = serving_json(
      state, tune::simulate_serving(question, settings_.sources.models, settings_.sources.devices),
      system.tables());
  out["layouts"] = std::move(layouts);
  return out;
}

Json SimulatorPage::front(const PageState& state) {
  if (state.phase == Phase::training) {
    throw refused("a front of training steps is not searched here", {},
                  "the layouts of these devices are listed below");
  }
  return candidates_json(slow_.system(state), state);
}

Json SimulatorPage::drawing(const PageState& state) {
  const fabric::Topology* topology = quick_.system(state).topology();
  if (topology == nullptr) throw refused("no fabric is chosen", {}, "choose one of the list");
  return fabric_drawing(*topology);
}

Json SimulatorPage::deployment(const PageState& state, const std::string& engine) {
  if (state.phase == Phase::training) {
    throw refused("an engine serves, and this state trains", {}, "choose another phase");
  }
  const PageState at = decode_of(state);
  PricedSystem& system = quick_.system(at);
  const ComposedStep step = composed_step(system, at, system.configuration(at));
  return deployment_files(system, step, settings_.sources, engine);
}

Json SimulatorPage::documents() const {
  return page_documents(settings_.sources, settings_.sweeps.is_writable);
}

// Events, hundreds of layouts, databases of any size.
bool SimulatorPage::is_slow(const serve::PageQuestion& question) const {
  constexpr std::string_view slow[] = {"simulation", "spread", "serving", "front",
                                       "runs",       "run",    "compare"};
  return contains(slow, question.path);
}

Json SimulatorPage::answer(const serve::PageQuestion& question) {
  using Answer = Json (*)(SimulatorPage&, const serve::PageQuestion&);
  static const std::map<std::string, Answer, std::less<>> answers = {
      {"documents", [](SimulatorPage& p, const auto&) { return p.documents(); }},
      {"step", [](SimulatorPage& p, const auto& q) { return p.step(parse_state(q.values)); }},
      {"simulation",
       [](SimulatorPage& p, const auto& q) {
         return p.simulation(parse_state(q.values), q.values.contains("all"));
       }},
      {"spread", [](SimulatorPage& p, const auto& q) { return p.spread(parse_state(q.values)); }},
      {"serving", [](SimulatorPage& p, const auto& q) { return p.serving(parse_state(q.values)); }},
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

std::string SimulatorPage::opening_line() const {
  const std::string reason = journal_runs(settings_.sweeps.database)["reason"];
  return "open it in a browser of this machine; Ctrl-C ends" +
         (reason.empty() ? "" : "\nhalmark: " + reason);
}

}  // namespace halmark::pages
