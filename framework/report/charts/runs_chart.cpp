
#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

constexpr double width = 600, height = 440;
constexpr double left = 66, right = 590, top = 12, bottom = 392;
constexpr double radius = 5.5;

}  // namespace

DtypeLook run_look(std::size_t run) {
  const int look = static_cast<int>(run % 6);
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
  const Range across = padded_range(latencies, 1.25), up = padded_range(rates, 1.35);
  const LogScale x(across.low, across.high, left, right), y(up.low, up.high, bottom, top);
  std::string body = svg_axes({x, y, "latency of one step (log)", "tokens per second (log)",
                               duration_tick_text, compact_text});
  for (std::size_t i = 0; i < views.size(); ++i) {
    const DtypeLook look = run_look(i);
    body +=
        staircase(staircase_corners(views[i], x, y, right), "front s" + std::to_string(look.color));
    for (const FrontRow& row : views[i].front) {
      const Point at{x.at(row.estimate->step_ns), y.at(row.estimate->tokens_per_s)};
      body += svg_marker(at, radius, look, "m",
                         row.label + ": " + duration_text(row.estimate->step_ns) + ", " +
                             significant_text(row.estimate->tokens_per_s) + " tokens/s");
    }
  }
  return svg_picture(width, height, name + ": fronts of the runs, latency against throughput",
                     body);
}

}  // namespace halmark::report
