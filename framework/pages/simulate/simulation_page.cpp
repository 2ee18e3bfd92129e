#include "pages/simulate/simulation_page.hpp"

#include <fmt/format.h>

#include <array>

#include "model/step/step_json.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/quantity.hpp"
#include "report/text/wrapped_text.hpp"
#include "simulate/fabric/device_fabric.hpp"
#include "simulate/schedule/simulation_json.hpp"

namespace halmark::pages {
namespace {

using report::duration_text;
using report::percent_text;
using schedule::StepSimulation;

struct Section {
  Json (*data)(const SimulationPage& page);
  std::string (*text)(const SimulationPage& page);
};

template <Json (*data)(const StepSimulation&)>
Json of_simulation(const SimulationPage& page) {
  return data(page.simulation);
}

constexpr std::array sections = {
    Section{of_simulation<schedule::throughput_json>, throughput_section},
    Section{of_simulation<schedule::latency_json>, latency_section},
    Section{[](const SimulationPage& page) { return schedule::power_json(page.power); },
            power_section},
    Section{of_simulation<schedule::critical_json>, critical_section},
    Section{of_simulation<schedule::timeline_json>, timeline_section},
    Section{of_simulation<schedule::links_json>, links_section},
    Section{of_simulation<schedule::schedule_json>, sources_section},
    Section{executed_json, executed_section}};

std::string schedule_text(const StepSimulation& s) {
  std::string out = fmt::format("{} micro-batch{}", s.pipeline.micro_batches,
                                s.pipeline.micro_batches == 1 ? "" : "es");
  if (s.pipeline.stages > 1) out += fmt::format(" through {} stages", s.pipeline.stages);
  if (s.pipeline.chunks > 1) out += fmt::format(" of {} virtual stages", s.pipeline.chunks);
  if (s.order != schedule::Order::forward) {
    out += fmt::format(", schedule {}", order_name(s.order));
  }
  return out;
}

std::string quantiles_text(const StepSimulation& s) {
  const schedule::StepRuns& runs = s.runs;
  if (runs.ns.empty()) return "p50, p90 and p99 unknown: no run with drawn times (--runs)";
  if (!runs.has_intervals) {
    return fmt::format(
        "p50, p90 and p99 as the step (n = {}): no source of its times states an "
        "interval",
        runs.ns.size());
  }
  const bool varies = s.provenance == Provenance::measured;
  return fmt::format("p50 {}  p90 {}  p99 {}  (n = {} runs with times drawn from {})",
                     duration_text(runs.quantile_ns(0.5)), duration_text(runs.quantile_ns(0.9)),
                     duration_text(runs.quantile_ns(0.99)), runs.ns.size(),
                     varies ? "what was measured"
                            : "intervals that are in part estimates: how sure the step is, not how "
                              "much it varies");
}

std::string joined_by(const fabric::Topology& topology) {
  if (topology.id != fabric::own_link) return " over fabric " + topology.id;
  return topology.name.empty() ? "" : " over their own link, " + topology.name;
}

}  // namespace

std::string simulation_begins(double events, int runs) {
  return fmt::format("simulating {:.0f} events, and {} runs of the same number with drawn times\n",
                     events, runs);
}

std::string throughput_section(const SimulationPage& page) {
  const StepSimulation& s = page.simulation;
  const Configuration& c = page.step.graph.configuration;
  const auto fit = fit_of(page.step);
  const bool is_short = fit && fit->short_by_bytes() > 0;
  std::string out = is_short ? no_fit_text(page.step, *fit) + "\nif it fitted: " : std::string();
  out += fmt::format("{} a step: {}, {} tokens/s", duration_text(s.step_ns()),
                     report::flops_text(s.work.flops_per_s),
                     report::significant_text(s.work.tokens_per_s, 4));
  out += s.work.mfu ? "; MFU " + percent_text(s.work.mfu) : "; MFU unknown: " + s.work.reason;
  if (s.work.hfu) out += ", HFU " + percent_text(s.work.hfu);
  out += '\n';
  out += fmt::format("{} {} batch {} new tokens {} context {}  {}  {}\n", page.step.graph.spec.id,
                     phase_name(c.workload.phase), c.workload.batch, c.workload.new_tokens,
                     c.workload.context, c.precision.name, c.parallel.text());
  out += fmt::format("{} device{}{}: {}\n", s.devices, s.devices == 1 ? "" : "s",
                     joined_by(page.topology), schedule_text(s));
  if (page.engine != nullptr) out += engine_text(*page.engine, page.simulation.host_ns) + '\n';
  return out + fmt::format("work {} FLOP in {} = {}\n", report::compact_text(s.work.flops),
                           duration_text(s.step_ns()), report::flops_text(s.work.flops_per_s));
}

std::string latency_section(const SimulationPage& page) {
  const StepSimulation& s = page.simulation;
  std::string out =
      "\nlatency of the step " + duration_text(s.step_ns()) + "; " + quantiles_text(s) + '\n';
  for (const simulate::OneTimePhase& phase : s.one_time) {
    out += fmt::format("once, not in the step: {} {} ({})\n", events::kind_name(phase.kind),
                       duration_text(phase.seconds * 1e9), phase.source);
  }
  return out;
}

std::string power_section(const SimulationPage& page) {
  if (!page.power) return "\npower unknown: the device states none (power_w of its file)\n";
  const schedule::StepPower& p = *page.power;
  const auto watts = [](double value) { return report::significant_text(value, 4) + " W"; };
  std::string out = fmt::format(
      "\npower modelled: {} on average, {} at most, of {} device{} of {} each; {} J a step, {} J a "
      "token\n",
      watts(p.use.mean_w), watts(p.use.peak_w), p.use.devices, p.use.devices == 1 ? "" : "s",
      watts(p.model.limit_w), report::significant_text(p.use.energy_j(), 4),
      report::significant_text(p.j_per_token(), 4));
  if (p.cap_w)
    out += fmt::format("capped at {} a device: its kernels take longer\n", watts(*p.cap_w));
  if (p.budget) {
    out +=
        fmt::format("budget {}: limits are {} times of it; above it {} of the time\n",
                    watts(p.budget->budget_w), report::significant_text(p.budget->oversubscription),
                    percent_text(p.budget->time_share_above));
  }
  out += fmt::format("carbon of a step: {} g of energy, {} g of making the devices\n",
                     report::significant_text(p.carbon.operational_g),
                     report::significant_text(p.carbon.embodied_g));
  return out + p.model.origin + '\n';
}

std::string critical_section(const SimulationPage& page) {
  const simulate::CriticalParts path = critical_parts(page.simulation.timeline);
  const simulate::DeviceParts parts = device_parts(page.simulation.timeline);
  const auto ns = [](events::Picoseconds time) { return static_cast<double>(time) / 1e3; };
  const double whole = ns(page.simulation.timeline.makespan_ps);
  const auto share = [&](events::Picoseconds time) {
    return percent_text(whole > 0 ? ns(time) / whole : 0);
  };
  std::string out =
      fmt::format("\ncritical path {} = compute {} ({}) + communication {} ({})",
                  duration_text(whole), duration_text(ns(path.compute_ps)), share(path.compute_ps),
                  duration_text(ns(path.communication_ps)), share(path.communication_ps));
  if (path.other_ps > 0) out += " + other " + duration_text(ns(path.other_ps));
  return out + fmt::format(
                   "\na device on average: compute {}, communication that nothing hides {}, "
                   "bubble {}; communication behind compute {}\n",
                   percent_text(parts.compute), percent_text(parts.communication),
                   percent_text(parts.bubble), percent_text(parts.hidden_communication));
}

std::string sources_section(const SimulationPage& page) {
  std::string out = fmt::format("\n{} events, {} of them kernels; collectives {}\n",
                                page.simulation.timeline.events.size(), page.simulation.kernels,
                                page.simulation.carriage == schedule::Carriage::messages
                                    ? "message by message over the links"
                                    : "as one event a rank, of the time that their source states");
  for (const std::string& source : page.sources) out += "times: " + source + '\n';
  for (const std::string& warning : page.step.graph.warnings) out += "note: " + warning + '\n';
  return out;
}

report::View simulation_view(const SimulationPage& page) {
  report::View out;
  const OperatorGraph& graph = page.step.graph;
  out.data = {{"model", graph.spec.id},
              {"configuration", graph.configuration},
              {"fabric", page.topology.id},
              {"device", page.step.device ? Json(page.step.device->id) : Json(nullptr)}};
  for (const Section& section : sections) {
    out.data.update(section.data(page));
    out.text += report::wrapped_lines(section.text(page), page.width);
  }
  const std::optional<double>& step_ns = page.executed.step_ns;
  out.data["measured_us"] = step_ns ? Json(*step_ns / 1e3) : Json(nullptr);
  out.data["warnings"] = graph.warnings;
  if (page.engine != nullptr) {
    out.data["engine"] = engine_json(*page.engine, page.simulation.host_ns);
  }
  return out;
}

}  // namespace halmark::pages
