// What `halmark simulate` prints of a step: the answer first, then where the time goes, event by
// event folded. A section is one line of the table in simulation_page.cpp: its JSON and its text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/execution.hpp"
#include "model/step/priced_step.hpp"
#include "report/views/view.hpp"
#include "simulate/fabric/topology.hpp"
#include "simulate/schedule/step_power.hpp"
#include "simulate/schedule/step_simulation.hpp"

namespace halmark::pages {

struct SimulationPage {
  const PricedStep& step;
  const fabric::Topology& topology;
  const schedule::StepSimulation& simulation;
  std::optional<schedule::StepPower> power;  // nothing: the device states none
  std::vector<std::string> sources;          // of times, one line each
  int width = 0;                             // terminal columns
  // Of this configuration as it was executed: the step, by operator one execution, and all of them.
  struct Executed {
    std::optional<double> step_ns;
    std::map<std::string, double> each_ns;
    std::vector<RankExecutions> ranks;
  };
  Executed executed = {};
  const StepEngine* engine = nullptr;  // around the step; null = kernels alone
};

report::View simulation_view(const SimulationPage& page);

// Before it starts: how many events, and of how many runs.
std::string simulation_begins(double events, int runs);

// Lines of the sections; empty where one has nothing to say.
std::string throughput_section(const SimulationPage& page);
std::string latency_section(const SimulationPage& page);
std::string critical_section(const SimulationPage& page);
std::string timeline_section(const SimulationPage& page);
Json executed_json(const SimulationPage& page);
std::string executed_section(const SimulationPage& page);
std::string links_section(const SimulationPage& page);
std::string power_section(const SimulationPage& page);
std::string sources_section(const SimulationPage& page);

}  // namespace halmark::pages
