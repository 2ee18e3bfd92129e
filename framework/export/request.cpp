#include "export/request.hpp"

#include <algorithm>
#include <utility>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/shell_word.hpp"
#include "core/text/text.hpp"
#include "export/cluster/manifests.hpp"
#include "export/cluster/platforms.hpp"
#include "export/engine/launch_text.hpp"
#include "export/engine/own_steps.hpp"
#include "export/exchange/exchange.hpp"
#include "export/write_files.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::exports {
namespace {

report::View written(const std::vector<TextFile>& files, const std::string& out,
                     Existing existing) {
  return {.text = out.empty() ? files_text(files) : write_files(files, out, existing)};
}

}  // namespace

bool is_exchange(const std::string& as) { return contains(exchange_names(), as); }

bool ExportRequest::is_platform() const { return contains(platform_names(), as); }

NamedEngine ExportRequest::engine_that_serves() const {
  NamedEngine out = parse_engine(engine);
  const bool starts_any = as.empty() || is_exchange(as) || is_cluster() || is_platform();
  if (!starts_any && out.is_asked && out.name != as) {
    throw refused(
        "what is written starts " + as + ", and the forecast is of " + printable(out.name),
        "--engine", "--engine " + as);
  }
  if (out.name.empty()) out.name = is_cluster() || is_platform() ? "vllm" : starts_any ? "" : as;
  if (out.release.empty() && server_version != "latest") out.release = server_version;
  return out;
}

NamedEngine ExportRequest::engine_of_search() {
  is_priced = true;
  return engine_that_serves();
}

std::string engine_list() { return join(engine_names(), ", "); }
std::string exchange_list() { return join(exchange_names(), ", "); }

bool has_format(const ExportRequest& request) {
  if (!request.as.empty()) return true;
  const std::pair<const char*, bool> stated[] = {
      {"--engine", !request.engine.empty() && !request.is_priced},
      {"--image", !request.image.empty()},
      {"--nodes", !request.nodes.empty()},
      {"--server-version", !request.server_version.empty()},
      {"--checkpoint", !request.checkpoint.empty()}};
  for (const auto& [option, is_stated] : stated) {
    if (is_stated) {
      throw refused(std::string(option) + " is of what is exported, and no format is named", {},
                    "add --as vllm, k8s, ...");
    }
  }
  return false;
}

EngineTable table_of(const ExportRequest& request,
                     const std::vector<std::filesystem::path>& folders) {
  const bool is_cluster = request.is_cluster();
  if (is_cluster == request.nodes.empty()) {
    throw refused(is_cluster ? "no nodes are named" : "--nodes is of --as k8s", "--nodes",
                  "--as k8s --engine vllm --nodes FILE.toml");
  }
  const bool starts_engine = is_cluster || request.is_platform();
  if (!starts_engine && !request.image.empty()) {
    throw refused("an image is of a cluster, and " + printable(request.as) + " starts here",
                  "--image", "--as k8s, dynamo or llm-d");
  }
  if (!starts_engine && !request.engine.empty() && !request.is_priced) {
    throw refused(printable(request.as) + " is the engine", "--engine",
                  "--as k8s, dynamo or llm-d");
  }
  const NamedEngine named = request.engine_that_serves();
  const std::string& engine = starts_engine ? named.name : request.as;
  if (!contains(engine_names(), engine)) {
    throw refused("nothing is written for '" + printable(engine) + "'",
                  starts_engine ? "--engine" : "--as", suggestion(engine, engine_names()));
  }
  // The flags of the release that the forecast is of, where they are known.
  const std::vector<std::string> known = engine_versions(engine, folders);
  const bool has_flags = std::ranges::find(known, named.release) != known.end();
  return read_engine_table(engine, has_flags ? named.release : request.server_version, folders);
}

Pick pick_runnable(const SearchedFront& front, const std::string& how, const EngineTable& table,
                   const DeploymentAt& deployment_at) {
  SearchedFront runnable = front;
  std::vector<std::size_t> numbers;
  std::string why;
  runnable.points.clear();
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    try {
      launch_of(deployment_at(i), table);
      numbers.push_back(i);
      runnable.points.push_back(front.points[i]);
    } catch (const Error& error) {
      if (why.empty()) why = error.what();
    }
  }
  if (runnable.points.empty() && !why.empty()) {
    throw refused("no point of the front can be run: " + why, front.title, "take another engine");
  }
  Pick out = pick_point(runnable, how);
  out.index = numbers[out.index];
  out.gives_up = given_up(front.points, front.objectives, out.index);
  const std::size_t others = front.points.size() - numbers.size();
  if (others > 0) {
    out.because += "; among the " + std::to_string(numbers.size()) + " that can be run (" +
                   std::to_string(others) + " cannot; the first: " + why + ')';
  }
  return out;
}

std::string next_line(const Pick& pick, const ExportRequest& request, const std::string& database) {
  std::string out =
      "halmark export --point " + std::to_string(pick.index + 1) + " --as " + request.as;
  const auto option = [&out](const char* name, const std::string& value) {
    if (!value.empty()) out += std::string(name) + shell_word(value);
  };
  if (request.is_cluster() || request.is_platform()) option(" --engine ", request.engine);
  option(" --nodes ", request.nodes);
  if (request.is_platform()) option(" --image ", request.image);
  option(" --server-version ", request.server_version);
  option(" --checkpoint ", request.checkpoint);
  option(" --db ", database);
  return out;
}

report::View exchanged(const ExportRequest& request, const MetricTable& table) {
  report::View out = written(exchange_files(request.as, table), request.out, Existing::replaced);
  out.data = {{"format", request.as}, {"rows", table.rows.size()}, {"left_out", table.left}};
  return out;
}

report::View exported(Deployment deployment, const Pick& pick, const EngineTable& table,
                      std::span<const ClusterNode> nodes, const ExportRequest& request) {
  deployment.chosen_because = pick.because;
  Launch launch = launch_of(deployment, table);
  if (request.server_version.empty() && table.version != request.engine_that_serves().release) {
    launch.notes.push_back(table.name() +
                           " is the newest release known here; --server-version names another");
  }
  const std::vector<OwnStep> own = own_steps(deployment, launch.engine, request.own_steps);
  launch.own_lines = own_step_lines(deployment, launch.engine, own);
  const ClusterOptions options{.image = request.image};
  report::View out = written(
      request.is_cluster()    ? std::vector{manifest_file(deployment, launch, nodes, options)}
      : request.is_platform() ? std::vector{platform_file(request.as, deployment, launch, options)}
                              : launch_files(deployment, launch),
      request.out, request.overwrites ? Existing::replaced : Existing::refused);
  // In the files these lines stand above the command.
  if (!request.out.empty()) {
    for (const std::string& line : launch.own_lines) out.text += report::clean_text(line) + '\n';
  }
  out.data = launch_json(deployment, launch);
  out.data["engine_steps"] = own_steps_json(own);
  out.data["gives_up"] = pick.gives_up;
  return out;
}

}  // namespace halmark::exports
