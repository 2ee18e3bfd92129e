#include <algorithm>

#include "core/lists.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/front_view.hpp"
#include "report/kernel_rates.hpp"
#include "report/page/html_page.hpp"
#include "report/page/points_table.hpp"
#include "report/report.hpp"
#include "report/rival_view.hpp"
#include "report/sentences.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/memory_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/tables.hpp"
#include "report/untried_view.hpp"

namespace halmark {
namespace {

using report::element;
using report::FrontRow;
using report::html_text;
using report::list_element;
using report::PhaseView;

std::string badge(bool is_good, const std::string& text) {
  return std::string("<span class=\"badge ") + (is_good ? "ok" : "bad") + "\">" + html_text(text) +
         "</span>\n";
}

std::string heading(const std::string& anchor, const std::string& text) {
  return "<h2 id=\"" + anchor + "\">" + html_text(text) + "</h2>\n";
}

std::string state_line(const RunReport& report) {
  const std::string state = report::bandwidth_state_text(report);
  const std::string standing = report::in_stack_text(report);
  return (state.empty() ? "" : element("p", state)) +
         (standing.empty() ? "" : element("p", standing));
}

std::string opening(const RunReport& report) {
  const std::string machine = report.machine.empty() ? "unknown machine" : report.machine.front();
  const std::string verdict = report::composition_verdict(composition_errors(report.validations));
  const std::string composition = report::composition_text(report);
  return "<header>\n" + element("h1", report.model + " on " + machine) + "<p class=\"sub\">" +
         html_text(report.title + ", " + report.started_utc) + "</p>\n<div class=\"badges\">\n" +
         (report::is_unmeasured(report)
              ? ""
              : badge(report::validity(report) == "valid", report::validity_text(report))) +
         (composition.empty() ? "" : badge(verdict == "within", composition)) + "</div>\n" +
         state_line(report) +
         "<nav aria-label=\"sections\"><a href=\"#front\">front and all configurations</a> <a "
         "href=\"#roofline\">"
         "roofline</a> <a href=\"#breakdown\">breakdown</a> <a href=\"#validation\">predicted "
         "against run</a> <a href=\"#kernels\">kernels</a> <a href=\"#left-out\">left out</a> <a "
         "href=\"#provenance\">provenance</a></nav>\n</header>\n";
}

std::string legend_entry(const std::string& sign, const std::string& text) {
  return "<li>" + sign + ' ' + html_text(text) + "</li>\n";
}

std::string line_sign(const char* css_class) {
  return "<svg class=\"key line\" viewBox=\"0 0 26 14\" aria-hidden=\"true\">" +
         report::svg_line({1, 7}, {25, 7}, css_class) + "</svg>";
}

std::string front_caption(const PhaseView& view) {
  auto dtypes = mapped(view.front, [&](const FrontRow& row) {
    return row.evaluation->configuration.precision.name;
  });
  for (const Evaluation* other : view.others) dtypes.push_back(other->configuration.precision.name);
  const report::DtypeLook circle{{}, 0, 7};
  return "<figcaption><p>Shape and colour: data type of the weights. " +
         report::dtype_legend(dtypes) + "</p>\n<ul class=\"legend\">\n" +
         legend_entry(report::legend_marker(circle, "m"),
                      "on the front: no other configuration is better in every objective; leads to "
                      "where its time goes") +
         legend_entry(report::legend_marker(circle, "h faint"),
                      "evaluated, and another one is better in everything") +
         legend_entry(
             report::legend_marker(circle, "h"),
             "on the front, but suspect: some of its rows did not pass the validity gate") +
         legend_entry(line_sign("bar"), "the range that a run should lie in") +
         legend_entry(
             line_sign("front"),
             "the most tokens per second at or below a latency; points below it are on the "
             "front for their memory") +
         "</ul>\n<p>The larger a mark, the more memory. Lower right is worse, upper left is "
         "better.</p></figcaption>\n";
}

std::string points_part(const RunReport& report, const PhaseView& view) {
  const std::string phase(phase_name(view.phase));
  return "<h3 id=\"all-" + phase + "\">" + "All " + std::to_string(view.evaluations) + ' ' + phase +
         " configurations that were evaluated</h3>\n" +
         report::table_html(report::points_table(report, view), "all " + phase + " configurations");
}

std::string untried_part(const RunReport& report, const PhaseView& view) {
  const std::string text = report::untried_text(report, view);
  if (text.empty()) return {};
  const Untried& untried = *report::untried_of(report, view.phase);
  const std::string phase(phase_name(view.phase));
  std::string out = "<h3 id=\"untried-" + phase + "\">" + "What was not tried of " + phase +
                    "</h3>\n" + element("p", text);
  if (untried.could_enter.empty()) return out;
  return out +
         report::table_html(report::untried_table(report, untried, untried.could_enter.size()),
                            phase + " configurations that were not tried");
}

std::string front_section(const RunReport& report, const std::vector<PhaseView>& views) {
  std::string out = "<section id=\"front\">\n";
  if (views.empty()) out += heading("front-none", "front") + element("p", "nothing was evaluated");
  for (const PhaseView& view : views) {
    const std::string phase(phase_name(view.phase));
    out += heading("front-" + phase, phase + ": " + std::to_string(view.front.size()) + " of " +
                                         std::to_string(view.evaluations) +
                                         " configurations on the Pareto front");
    const std::string chart = report::front_chart(view, report);
    if (chart.empty()) {
      out += element("p", "no configuration has a usable latency");
    } else {
      out += "<div class=\"pair\">\n<figure data-of=\"rows-" + phase + "\">" + chart +
             front_caption(view) + "</figure>\n" +
             report::table_html(report::front_table(view, report::TableWidth::wide),
                                phase + " front") +
             "</div>\n";
    }
    for (const std::string& rival : report::rival_texts(report, view)) out += element("p", rival);
    out += untried_part(report, view) + points_part(report, view);
  }
  return out + "</section>\n";
}

std::string contradictions(const RunReport& report) {
  std::vector<std::string> lines;
  for (const KernelPoint& kernel : report.kernels) {
    const std::string reason = report::contradiction(kernel, report);
    if (!reason.empty()) lines.push_back("ERROR " + kernel.key + ": " + reason);
  }
  if (lines.empty()) return {};
  return element("h3", "Figures that contradict a bound: " + std::to_string(lines.size())) +
         element("p",
                 "Faster than the roof means a wrong unit, dtype, FLOP count or bound; none of "
                 "these is a winner.") +
         list_element(lines);
}

std::string roofline_section(const RunReport& report) {
  std::string out = "<section>\n" + heading("roofline", "Roofline of every measured kernel");
  const std::string chart = report::roofline_chart(report);
  const std::string strips = report::bandwidth_strips(report);
  if (chart.empty() && strips.empty()) {
    return out + element("p", "no kernel has a latency") + "</section>\n";
  }
  if (!report.device) out += element("p", "No measured peaks: the chart has no roofs.");
  auto dtypes = mapped(report.kernels, &KernelPoint::dtype);
  if (!chart.empty()) {
    out +=
        "<figure class=\"wide-picture\" tabindex=\"0\">" + chart + "<figcaption>" +
        report::dtype_legend(dtypes) +
        "Filled: gemm. Hollow: attention and other ops with matmul FLOPs. Solid slopes: measured "
        "bandwidth per memory level. Dashed: measured peak per dtype; the small ring on it is "
        "its ridge with the slowest level. Roofs are those of the whole device; a shard has its "
        "part of them.</figcaption></figure>\n";
  }
  if (!strips.empty()) {
    out += element("h3", "Kernels without matmul FLOPs") +
           "<figure class=\"wide-picture\" tabindex=\"0\">" + strips +
           "<figcaption>They have no MFU: what counts is the share of the measured bandwidth "
           "bound. At the right: kernels, lowest and highest share.</figcaption></figure>\n";
  }
  return out + contradictions(report) + "</section>\n";
}

std::string breakdown_details(const FrontRow& row, bool is_open) {
  const Estimate& e = *row.estimate;
  const auto error = row.prediction_error();
  std::string facts = report::duration_text(e.step_ns) + ", " + e.bottleneck + ", " +
                      (error ? "run says " + report::duration_text(*row.measured_ns()) + " (" +
                                   report::signed_percent_text(error) + ")"
                             : row.measured_reason());
  return std::string("<details") + (is_open ? " open=\"open\"" : "") + "><summary><b>" +
         html_text(row.label) + "</b> " + html_text(facts) +
         "</summary>\n<div class=\"anchor\" id=\"" + row.anchor + "\">" +
         element("p", row.evaluation->configuration.key()) +
         "<div class=\"wide-picture\" tabindex=\"0\">" + report::breakdown_chart(row) + "</div>\n" +
         report::table_html(report::breakdown_table(row), "operators of " + row.label) +
         "</div></details>\n";
}

std::string breakdown_section(const std::vector<PhaseView>& views) {
  std::string out = "<section>\n" + heading("breakdown", "Where the time goes");
  bool is_first = true;
  for (const PhaseView& view : views) {
    if (!view.front.empty()) out += element("h3", std::string(phase_name(view.phase)));
    for (const FrontRow& row : view.front) {
      out += breakdown_details(row, is_first);
      is_first = false;
    }
  }
  return out + "</section>\n";
}

std::string validation_section(const RunReport& report) {
  std::string out = "<section>\n" + heading("validation", "Predicted against run");
  if (report.validations.empty()) {
    return out + element("p", "No configuration was run as a whole.") + "</section>\n";
  }
  out += element("p", report::composition_text(report));
  if (const std::string prediction = report::prediction_text(report); !prediction.empty()) {
    out += element("p", prediction);
  }
  if (const std::string coverage = report::coverage_text(report); !coverage.empty()) {
    out += element("p", coverage);
  }
  out += report::table_html(report::validation_table(report), "predicted against run");
  if (const std::string memory = report::memory_line(report.validations); !memory.empty()) {
    out += element("p", memory) +
           report::table_html(report::memory_table(report), "memory of the runs");
  }
  return out + "</section>\n";
}

std::string kernel_section(const RunReport& report) {
  const auto usable = std::ranges::count_if(
      report.kernels, [](const KernelPoint& k) { return has_latency(k.status); });
  return "<section>\n" + heading("kernels", "Kernels") + "<details class=\"fold\"><summary>" +
         std::to_string(report.kernels.size()) + " kernels, " + std::to_string(usable) +
         " with a usable latency</summary>\n" +
         report::table_html(report::kernel_table(report), "all kernels") +
         "</details>\n</section>\n";
}

std::string refused_configurations(const RunReport& report) {
  std::vector<std::string> lines;
  for (const Evaluation& e : report.evaluations) {
    if (has_latency(e.status)) continue;
    lines.push_back(e.configuration.key() + ": " + std::string(status_name(e.status)) +
                    (e.reason.empty() ? "" : ", " + e.reason));
  }
  if (lines.empty()) return {};
  return "<details class=\"fold\"><summary>" + std::to_string(lines.size()) +
         " configurations without a result</summary>\n" + list_element(lines) + "</details>\n";
}

std::string left_out_section(const RunReport& report) {
  std::string out = "<section>\n" + heading("left-out", "What was left out, and warnings");
  out += report.left_out.empty() ? element("p", "The plan left nothing out.")
                                 : list_element(report.left_out);
  out += refused_configurations(report);
  if (!report.warnings.empty()) out += element("h3", "Warnings") + list_element(report.warnings);
  return out + "</section>\n";
}

std::string fact(const char* name, const std::string& value) {
  return std::string("<dt>") + name + "</dt><dd><code>" +
         html_text(value.empty() ? "unknown" : value) + "</code></dd>\n";
}

std::string provenance_section(const RunReport& report) {
  std::string out = "<footer>\n" + heading("provenance", "Provenance") + "<dl>\n" +
                    fact("command", report.command) + fact("started", report.started_utc) +
                    fact("measuring", report::significant_text(report.measuring_s) + " s") +
                    fact("tool", report.tool) + fact("plan", report.plan_hash) +
                    fact("chain head", report.chain_head) + fact("fingerprint", report.fingerprint);
  for (const std::string& line : report.machine) out += fact("machine", line);
  out += "</dl>\n";
  if (report.device) {
    out += element("h3", "Measured peaks") +
           report::table_html(report::peak_table(*report.device), "measured peaks") +
           element("h3", "Measured bandwidth") +
           report::table_html(report::bandwidth_table(*report.device), "measured bandwidth");
  }
  return out + "</footer>\n";
}

}  // namespace

std::string report_html(const RunReport& report) {
  const std::vector<PhaseView> views = report::phase_views(report);
  return report::scripted_page_head(report.model + ": " + report.title) + "<body>\n" +
         opening(report) + "<main>\n" + front_section(report, views) + roofline_section(report) +
         breakdown_section(views) + validation_section(report) + kernel_section(report) +
         left_out_section(report) + "</main>\n" + provenance_section(report) +
         report::script_element() + "</body>\n</html>\n";
}

}  // namespace halmark
