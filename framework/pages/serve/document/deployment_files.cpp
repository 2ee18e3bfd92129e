#include "pages/serve/document/deployment_files.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "export/engine/launch_text.hpp"
#include "tune/plan/deployment.hpp"

namespace halmark::pages {
namespace {

// What is exported elsewhere is a point of a front: here a front of one.
SearchedFront front_of_one(const PricedSystem& system, const ComposedStep& step) {
  const Configuration& c = step.graph().configuration;
  Evaluation point{.configuration = c};
  point.estimate = step.estimate;
  SearchedFront out{.origin = "the page of halmark serve",
                    .title = "page",
                    .model = system.spec().id,
                    .command = "halmark serve",
                    .objectives = {Objective::latency, Objective::throughput},
                    .configurations = 1,
                    .points = {std::move(point)}};
  if (!system.device().is_measured) out.device = system.device().id;
  for (const std::string& line : system.times_from()) out.basis.push_back("times: " + line);
  return out;
}

}  // namespace

Json deployment_files(const PricedSystem& system, const ComposedStep& step,
                      const PageSources& sources, const std::string& engine) {
  const std::int64_t device_bytes = system.target().memory_bytes;
  if (const auto refusal = check_memory(step.priced.memory, device_bytes);
      refusal && device_bytes > 0) {
    throw refused(refusal->text, {}, "choose more shards or a smaller batch");
  }
  const std::vector<std::string>& engines = exports::engine_names();
  if (!contains(engines, engine)) {
    throw refused("nothing is written for '" + printable(engine) + "'", {},
                  suggestion(engine, engines));
  }
  const exports::EngineTable table = exports::read_engine_table(engine, "", sources.engines);
  Deployment deployment =
      tune::deployment_of(front_of_one(system, step), 1, {}, sources.models, sources.devices);
  deployment.chosen_because = "chosen on the page";
  Json files = Json::array();
  for (const exports::TextFile& file :
       exports::launch_files(deployment, exports::launch_of(deployment, table))) {
    files.push_back({{"name", file.name}, {"text", file.text}});
  }
  return {{"engine", table.name()}, {"files", std::move(files)}};
}

}  // namespace halmark::pages
