#include "pages/front/chosen_point.hpp"

#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "export/front_list.hpp"
#include "plan/device/node_file.hpp"
#include "report/choice/grouping.hpp"
#include "report/searched_front.hpp"
#include "tune/plan/deployment.hpp"

namespace halmark::pages {
namespace {

exports::EngineTable table_for(const exports::ExportRequest& request) {
  return exports::table_of(request, config_dirs("engines"));
}

Pick take(const SearchedFront& front, const PointRequest& request, Json& document,
          std::string& text) {
  const Pick pick = chosen_point(front, request.how, request.written);
  report::View view = exports::pick_view(front, pick);
  text = view.text;
  document["picked"] = std::move(view.data);
  return pick;
}

std::string written(const SearchedFront& front, const PointRequest& request, const Pick& pick,
                    Json& document) {
  if (request.written.as.empty()) return {};
  report::View view = exported_point(front, pick, request.written);
  document["export"] = std::move(view.data);
  return '\n' + view.text;
}

// For the first engine that starts the point as it is, or with a checkpoint that the user has to
// name; for none where no engine does.
exports::ExportRequest startable(const SearchedFront& front, std::size_t index,
                                 exports::ExportRequest request) {
  if (!request.as.empty()) return request;
  for (const std::string& engine : exports::engine_names()) {
    for (const std::string checkpoint : {"", "NAME"}) {
      request.checkpoint = checkpoint;
      try {
        exports::launch_of(deployment_at(front, index, request),
                           exports::read_engine_table(engine, "", config_dirs("engines")));
        request.as = engine;
        return request;
      } catch (const Error&) {
      }
    }
  }
  return request;
}

}  // namespace

void check_export(const exports::ExportRequest& request) {
  if (!exports::has_format(request)) return;
  table_for(request);
  if (request.is_cluster()) read_nodes(request.nodes);
}

Deployment deployment_at(const SearchedFront& front, std::size_t index,
                         const exports::ExportRequest& request) {
  return tune::deployment_of(front, index + 1, request.checkpoint, config_dirs("models"),
                             config_dirs("devices"));
}

Pick chosen_point(const SearchedFront& front, const std::string& how,
                  const exports::ExportRequest& request) {
  if (request.as.empty()) return pick_point(front, how);
  return exports::pick_runnable(front, how, table_for(request),
                                [&](std::size_t i) { return deployment_at(front, i, request); });
}

report::View exported_point(const SearchedFront& front, const Pick& pick,
                            const exports::ExportRequest& request) {
  return exports::exported(
      deployment_at(front, pick.index, request), pick, table_for(request),
      request.is_cluster() ? read_nodes(request.nodes) : std::vector<ClusterNode>{}, request);
}

std::string take_point(RunReport&, const SearchedFront& front, const PointRequest& request,
                       Json& document) {
  std::string text;
  const Pick pick = take(front, request, document, text);
  return '\n' + text + written(front, request, pick, document);
}

std::string take_point(ServedReport& report, const SearchedFront& front,
                       const PointRequest& request, Json& document) {
  std::string text;
  report.chosen = take(front, request, document, text);
  const exports::ExportRequest next = startable(front, report.chosen->index, request.written);
  if (!next.as.empty()) {
    report.next = exports::next_line(*report.chosen, next, request.database);
    if (!request.written.as.empty())
      report.next += " --out " + next.as +
                     (next.is_cluster()    ? "/serve.yaml"
                      : next.is_platform() ? ""
                                           : "/serve.sh");
  }
  return written(front, request, *report.chosen, document);
}

report::View front_report(const SearchedFront& front, const std::string& database,
                          const std::vector<std::string>& files, bool color, int width) {
  std::optional<ServedReport> report = served_report(front);
  if (!report) {
    if (files.empty()) return exports::front_list(front, alike_share);
    throw refused("of a priced search over steps its points are kept", front.origin,
                  "halmark tune ... --out FILE writes its report");
  }
  Json document;
  if (!front.points.empty()) take_point(*report, front, {{}, {}, database}, document);
  report::View out{.data = report_json(*report), .text = report_text(*report, color, width)};
  out.data.update(document);
  for (const std::string& path : files) {
    write_report(*report, path);
    out.text += "written: " + path + '\n';
  }
  return out;
}

}  // namespace halmark::pages
