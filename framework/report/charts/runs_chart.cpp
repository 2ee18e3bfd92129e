
#include "core/lists.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double radius = 5.5;

}  // namespace

DtypeLook run_look(std::size_t run) {
  const int look = as_int(run % 6);
  return {{}, look, look};
}

std::string runs_chart(const std::vector<PhaseView>& views, const std::string& name) {
  std::vector<double> latencies, rates;
  for (const PhaseView& view : views) {
    for (const FrontRow& row : view.front) {
      latencies.push_back(row.estimate->step_ns);
      rates.push_back(row.estimate->tokens_per_s);
    }
  }
  if (latencies.empty()) return {};
  const FrontPlane plane(latencies, 1.25, rates);
  std::string body = plane.axes();
  for (const auto i : indices(views)) {
    const DtypeLook look = run_look(i);
    body += staircase(staircase_corners(views[i], plane), "front s" + std::to_string(look.color));
    for (const FrontRow& row : views[i].front) {
      body += svg_marker(plane.at(*row.estimate), radius, look, "m",
                         row.label + ": " + duration_text(row.estimate->step_ns) + ", " +
                             significant_text(row.estimate->tokens_per_s) + " tokens/s");
    }
  }
  return plane.picture(name + ": fronts of the runs, latency against throughput", body);
}

}  // namespace halmark::report
