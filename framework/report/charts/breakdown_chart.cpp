#include <algorithm>
#include <cmath>

#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/tables.hpp"

namespace halmark::report {
namespace {

constexpr double width = 1100, bar_height = 34, bar_top = 4;
constexpr double share_min = 0.008;  // thinner segments are drawn as one
constexpr int colors = 8;

std::string segment(double from, double to, int color, const std::string& label,
                    const std::string& title) {
  const std::string name = "f" + std::to_string(color);
  std::string out = "<rect class=\"seg " + name + "\" x=\"" + px(from) + "\" y=\"" + px(bar_top) +
                    "\" width=\"" + px(to - from) + "\" height=\"" + px(bar_height) + "\">" +
                    svg_title(title) + "</rect>\n";
  const Point middle{(from + to) / 2, bar_top + bar_height / 2 + 4};
  if (text_width(label, 12) + 6 < to - from) {
    out += svg_text(middle, Anchor::middle, "seglabel t" + std::to_string(color), label);
  }
  return out;
}

// "1 gate_up_proj 31.2 %", shorter where the segment is narrow.
std::string fitting_label(std::size_t number, const OperatorShare& share, double part,
                          double available) {
  const std::string index = std::to_string(number);
  for (const std::string& text :
       {index + ' ' + share.name + ' ' + percent_text(part), index + ' ' + share.name}) {
    if (text_width(clean_text(text), 12) + 6 < available) return text;
  }
  return index;
}

}  // namespace

std::string breakdown_chart(const FrontRow& row) {
  const std::vector<const OperatorShare*> shares = by_share(*row.estimate);
  double total = 0;
  for (const OperatorShare* share : shares) {
    if (std::isfinite(share->ns)) total += std::max(0.0, share->ns);
  }
  if (!(total > 0)) return {};
  std::string body;
  double x = 0;
  std::size_t number = 0;
  for (const OperatorShare* share : shares) {
    ++number;
    const double part = share->ns / total;
    if (!(part >= share_min)) break;  // sorted: the rest is thinner still
    const double end = x + width * part;
    body += segment(x, end, static_cast<int>((number - 1) % colors),
                    fitting_label(number, *share, part, end - x),
                    share->name + ": " + duration_text(share->ns) + ", " + percent_text(part) +
                        ", " + share->bound);
    x = end;
  }
  if (width - x > 0.5) {
    body += segment(
        x, width, colors - 1, "rest",
        "everything below " + percent_text(share_min) + ": " + percent_text((width - x) / width));
  }
  return svg_picture(width, bar_height + 8, "share of each operator in " + row.label, body);
}

}  // namespace halmark::report
