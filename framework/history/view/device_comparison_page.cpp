// The page: per pair a picture of the ratios by class, with its table below.
#include <algorithm>

#include "core/numeric/cast.hpp"
#include "history/view/device_comparison_view.hpp"
#include "report/charts/svg.hpp"
#include "report/page/html_page.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::history {
namespace {

using namespace report;

constexpr double width = 1100, left = 330, right = 1080, row_height = 20, top = 14;
constexpr std::size_t bars_max = 120;  // further classes are in the table

LogScale scale_of(const DevicePair& pair) {
  std::vector<double> values = {1};
  for (const ClassRow& row : pair.classes) {
    values.push_back(row.ratio_interval.low);
    values.push_back(row.ratio_interval.high);
  }
  const Range range = padded_range(values, 1.1);
  return {range.low, range.high, left, right};
}

// One line per class: the interval of times second / first around its mean; the line at 1 parts the
// two.
std::string picture(const DeviceComparison& c, const DevicePair& pair) {
  const LogScale x = scale_of(pair);
  const std::size_t count = std::min(pair.classes.size(), bars_max);
  const double bottom = top + as_double(count) * row_height;
  std::string body = svg_line({x.at(1), top}, {x.at(1), bottom}, "roof");
  for (const double tick : log_ticks(x.low(), x.high(), 8)) {
    body += svg_line({x.at(tick), top}, {x.at(tick), bottom}, "grid");
    body += svg_text({x.at(tick), bottom + 16}, Anchor::middle, "tick", significant_text(tick));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ClassRow& row = pair.classes[i];
    const double y = top + (as_double(i) + 0.5) * row_height;
    const std::string name = row.op + ' ' + row.dtype + ' ' + row.shapes;
    body += svg_text({left - 8, y + 4}, Anchor::end, "label", shortened(name, 48));
    body += svg_line({x.at(row.ratio_interval.low), y}, {x.at(row.ratio_interval.high), y}, "bar");
    body += svg_marker({x.at(row.ratio), y}, 4, dtype_look(row.dtype), "m",
                       name + ": " + significant_text(row.ratio) + ", " +
                           std::to_string(row.kernels) + " kernels");
  }
  body += svg_text({x.at(1), bottom + 34}, Anchor::middle, "label",
                   "time of " + side_label(c, pair.second) + " / time of " +
                       side_label(c, pair.first) + ": right of the line the latter is faster");
  return "<figure class=\"wide-picture\">" +
         svg_picture(width, bottom + 44, pair_summary(c, pair), body) + "</figure>\n";
}

std::string section(const DeviceComparison& c, const DevicePair& pair) {
  std::string out = element("h2", pair_summary(c, pair));
  if (pair.classes.empty()) return out;
  out += picture(c, pair) + table_html(class_table(c, pair), "classes of shapes");
  if (const Table costs = cost_table(c, pair); !costs.rows.empty()) {
    out += table_html(costs, "work and what it costs");
  }
  if (pair.crossovers.empty()) return out;
  return out + element("p", crossover_summary(pair)) +
         table_html(crossover_table(c, pair), "sizes between which the faster one changes");
}

}  // namespace

std::string device_comparison_html(const DeviceComparison& c) {
  const std::string title = "Halmark: devices side by side";
  std::string out = report::page_head(title) + "<body>\n" + element("h1", title);
  for (std::size_t i = 0; i < c.sides.size(); ++i) {
    out += element("p", side_title(c, i));
    for (const auto& [reason, rows] : c.sides[i].left_out) {
      out += element("p", "left out: " + std::to_string(rows) + " rows, " + reason);
    }
  }
  for (const DevicePair& pair : c.pairs) out += section(c, pair);
  if (!c.what_ifs.empty()) out += element("h2", what_if_text(c));
  for (const DevicePair& pair : c.modelled) out += section(c, pair);
  for (const std::string& note : reading_notes(c)) out += element("p", note);
  return out + "</body>\n</html>\n";
}

}  // namespace halmark::history
