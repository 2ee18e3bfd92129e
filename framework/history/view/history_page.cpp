// The page: one strip per series, nights from left to right, times on an axis of its own.
#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "history/view/history_view.hpp"
#include "history/view/step_changes_view.hpp"
#include "report/charts/svg.hpp"
#include "report/page/html_page.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::history {
namespace {

using namespace report;

constexpr double width = 1100, height = 150, left = 70, right = 1080, top = 12, bottom = 120;
constexpr std::size_t pictures_max = 200;  // a page of more is slow to open; the JSON has them all

class Strip {
 public:
  explicit Strip(const SeriesHistory& series) : series_(series), y_(scale_of(series)) {}

  std::string picture() const {
    std::string body;
    for (const double ns : {y_.low(), std::sqrt(y_.low() * y_.high()), y_.high()}) {
      body += svg_line({left, y_.at(ns)}, {right, y_.at(ns)}, "grid");
      body += svg_text({left - 6, y_.at(ns) + 4}, Anchor::end, "tick", duration_text(ns));
    }
    body += levels() + marks();
    for (const std::size_t night : {std::size_t{0}, series_.nights.size() - 1}) {
      body += svg_text({x_at(night), bottom + 20}, night == 0 ? Anchor::start : Anchor::end, "tick",
                       "run " + std::to_string(series_.nights[night].run));
    }
    return svg_picture(width, height, "times of " + series_.name.what + " by night", body);
  }

 private:
  static LogScale scale_of(const SeriesHistory& series) {
    std::vector<double> values;
    for (const Night& night : series.nights) {
      values.push_back(night.ns);
      values.push_back(night.adjusted_ns);
    }
    const Range range = padded_range(values, 1.05);
    return {range.low, range.high, bottom, top};
  }

  double x_at(std::size_t night) const {
    const auto last = as_double(std::max<std::size_t>(series_.nights.size(), 2) - 1);
    return left + 10 + (right - left - 20) * as_double(night) / last;
  }

  // Hollow: as measured, where the memory's speed makes a difference; filled: at its usual speed.
  std::string marks() const {
    const DtypeLook look = dtype_look("f32");
    std::string out;
    for (std::size_t i = 0; i < series_.nights.size(); ++i) {
      const Night& night = series_.nights[i];
      const std::string title =
          "run " + std::to_string(night.run) + ": " + duration_text(night.ns) + ", " +
          std::to_string(night.processes.size()) + " processes, build " + night.build +
          (night.bytes_per_s ? ", memory at " + bandwidth_text(*night.bytes_per_s) : "");
      if (std::abs(night.ns / night.adjusted_ns - 1) > 0.005) {
        out += svg_marker({x_at(i), y_.at(night.ns)}, 3, look, "h", title);
      }
      out += svg_marker({x_at(i), y_.at(night.adjusted_ns)}, 3.5, look, "m", title);
    }
    return out;
  }

  // Between changes that both detectors see, the median; a change is a line down the picture.
  std::string levels() const {
    std::string out;
    std::size_t begin = 0;
    const auto add = [&](std::size_t end) {
      std::vector<double> values;
      for (std::size_t i = begin; i < end; ++i) values.push_back(series_.nights[i].adjusted_ns);
      const double y = y_.at(median(values));
      out += svg_line({x_at(begin), y}, {x_at(end - 1), y}, "roof");
      begin = end;
    };
    for (const ChangePoint& change : series_.changes) {
      if (!change.is_agreed) continue;
      add(change.at);
      const double x = (x_at(change.at - 1) + x_at(change.at)) / 2;
      out += svg_line({x, top}, {x, bottom}, "bar");
      out += svg_text({x + 4, top + 10}, Anchor::start, "label",
                      signed_percent_text(std::exp(change.after - change.before) - 1));
    }
    add(series_.nights.size());
    return out;
  }

  const SeriesHistory& series_;
  LogScale y_;
};

std::string verdict_of(const SeriesHistory& series) {
  std::string out(change_name(series.change));
  if (series.ratio) {
    out += ' ' + signed_percent_text(*series.ratio - 1) + " (" +
           signed_percent_text(series.interval.low - 1) + " .. " +
           signed_percent_text(series.interval.high - 1) + ')';
  }
  if (!series.reason.empty()) out += ": " + series.reason;
  if (series.machine.memory_share > 0.05) {
    out += "; follows the memory's speed by " + percent_text(series.machine.memory_share);
  }
  return out;
}

std::string section_of(const SeriesHistory& series) {
  std::string out = element("h3", series.name.what) + element("p", verdict_of(series));
  if (series.nights.empty()) return out;
  return out + "<figure class=\"wide-picture\">" + Strip(series).picture() + "</figure>\n";
}

}  // namespace

std::string history_html(const NightReport& night) {
  const std::string title = "Halmark history, " + night.last_started_utc;
  std::string out = report::page_head(title) + "<body>\n" + element("h1", title);
  const bool is_bad = history_exit(night, true) != ExitCode::ok;
  out += std::string("<div class=\"badges\"><span class=\"badge ") + (is_bad ? "bad" : "ok") +
         "\">" + counts_text(night) + " of " + std::to_string(night.series.size()) +
         "</span></div>\n";
  out += element("p", "Machine " + night.fingerprint + ", " + std::to_string(night.runs.size()) +
                          " runs. Filled marks: at the usual speed of the memory; hollow: as "
                          "measured, where that differs.");
  for (const std::string& line : step_change_lines(night.changed)) out += element("p", line);
  std::size_t shown = 0;
  for (const SeriesHistory& series : night.series) {
    if (shown++ == pictures_max) break;
    out += section_of(series);
  }
  if (night.series.size() > pictures_max) {
    out += element("p", std::to_string(night.series.size() - pictures_max) +
                            " further series, the calmest, are in the JSON");
  }
  return out + "</body>\n</html>\n";
}

}  // namespace halmark::history
