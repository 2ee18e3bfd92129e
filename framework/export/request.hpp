// What a user asks to be written, and whether it can be said at all: looked at before any work.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/chosen/named_engine.hpp"
#include "core/measured/engine_step.hpp"
#include "export/engine/launch.hpp"
#include "export/text_file.hpp"
#include "report/choice/pick.hpp"
#include "report/views/view.hpp"

namespace halmark::exports {

struct MetricTable;

struct ExportRequest {
  std::string as, server_version, checkpoint, out;
  // image: of --as k8s, dynamo, llm-d; nodes: of k8s alone. engine: that they start ("" = vllm) and
  // whose forecast it is, "vllm:0.19.0"
  std::string engine, nodes, image;
  bool is_priced = false;               // by a search of its own: --engine is of its times too
  bool overwrites = false;              // scripts and configs that are there
  std::vector<EngineImport> own_steps;  // what engines measured of themselves
  bool is_cluster() const { return as == "k8s"; }
  bool is_platform() const;  // which starts the engine of the request
  bool is_stated() const { return !as.empty() || !engine.empty(); }
  // No name where none serves. Throws Error (exit 2) where two are named.
  NamedEngine engine_that_serves() const;
  // The same of what a search prices before it is written.
  NamedEngine engine_of_search();
};

bool is_exchange(const std::string& as);
// For help texts: "vllm, sglang, ...".
std::string engine_list();
std::string exchange_list();

// Whether --as names one. Throws Error (exit 2) for words on what is written where it does not.
bool has_format(const ExportRequest& request);

// The flags of the release. Throws Error (exit 2) for an engine or a release that is not known, and
// for --nodes without k8s or k8s without them.
EngineTable table_of(const ExportRequest& request,
                     const std::vector<std::filesystem::path>& folders);

// The best or the knee of those points that the engine can run; how many it cannot, and why the
// first of them, is part of the reason. Throws Error (exit 2) with that reason where it can run
// none.
using DeploymentAt = std::function<Deployment(std::size_t index)>;
Pick pick_runnable(const SearchedFront& front, const std::string& how, const EngineTable& table,
                   const DeploymentAt& deployment_at);

// The command that writes the picked point for the engine of the request. `database`: as --db
// named it.
std::string next_line(const Pick& pick, const ExportRequest& request, const std::string& database);

// Files written where `request.out` says, else the texts themselves. `nodes`: of a cluster.
report::View exported(Deployment deployment, const Pick& pick, const EngineTable& table,
                      std::span<const ClusterNode> nodes, const ExportRequest& request);
report::View exchanged(const ExportRequest& request, const MetricTable& table);

}  // namespace halmark::exports
