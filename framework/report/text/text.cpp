#include <algorithm>

#include "core/chosen/objective.hpp"
#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/choice/grouping.hpp"
#include "report/closing.hpp"
#include "report/front_view.hpp"
#include "report/report.hpp"
#include "report/rival_view.hpp"
#include "report/sentences.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/memory_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/report_text.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/tables.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/times_from.hpp"
#include "report/untried_view.hpp"

namespace halmark {
namespace {

constexpr int prose_width_max = 120;            // longer lines are hard to read, in files too
constexpr double mentioned_probability = 0.05;  // of configurations off the front
constexpr std::size_t untried_rows_max = 8;

// Words of clean text in lines of at most `width` columns; later lines are indented.
std::string prose(const std::string& text, const std::string& first, const std::string& rest,
                  int width) {
  std::string out;
  std::string current = first;
  std::string word;
  const auto flush_word = [&] {
    if (word.empty()) return;
    const bool is_start = current == first || current == rest;
    if (!is_start && report::display_width(current) + 1 + report::display_width(word) > width) {
      out += current + '\n';
      current = rest;
    }
    if (current != first && current != rest) current += ' ';
    current += word;
    word.clear();
  };
  for (const char c : report::clean_text(text)) {
    if (c == ' ') {
      flush_word();
    } else {
      word += c;
    }
  }
  flush_word();
  return out + current + '\n';
}

// How lines leave: bold and colour only repeat what the words say; nothing is cut to fit.
class Ink {
 public:
  Ink(bool is_on, int width) : is_on_(is_on), width_(width) {}
  int width() const { return width_; }
  // Without its last newline.
  std::string line(const std::string& text) const {
    const int width = width_ == report::unlimited_width ? width_ : width_ - 2;
    std::string out = report::wrapped(report::clean_text(text), width, 4);
    out.pop_back();
    return out;
  }
  std::string wrapped(const std::string& text, const std::string& first,
                      const std::string& rest) const {
    return prose(text, first, rest, std::min(width_, prose_width_max));
  }
  std::string bold(const std::string& text) const { return with("1", text); }
  std::string good(const std::string& text) const { return with("32", text); }
  std::string bad(const std::string& text) const { return with("33", text); }

 private:
  std::string with(const char* code, const std::string& text) const {
    return is_on_ ? std::string("\x1b[") + code + 'm' + text + "\x1b[0m" : text;
  }
  bool is_on_;
  int width_;
};

// The front of a phase with one row for points that hardly differ.
report::PhaseView representatives(const RunReport& report, const report::PhaseView& view,
                                  std::vector<PointGroup>& groups) {
  std::vector<Objective> objectives;
  for (const std::string& name : report.objectives) {
    if (const auto objective = parse_objective(name)) objectives.push_back(*objective);
  }
  std::vector<const Evaluation*> points = mapped(view.front, &report::FrontRow::evaluation);
  groups = group_points(points, objectives, alike_share);
  report::PhaseView out = view;
  out.front.clear();
  for (const PointGroup& g : groups) out.front.push_back(view.front[g.representative]);
  return out;
}

// " by latency, throughput, memory": a point may be there for one of them alone.
std::string objectives_text(const RunReport& report) {
  std::string out;
  for (const std::string& name : report.objectives) out += (out.empty() ? " by " : ", ") + name;
  return out;
}

std::string row_energy(const report::FrontRow& row, const Ink& ink) {
  const std::string text = report::energy_text(*row.evaluation);
  return text.empty() ? text : "  " + ink.line(row.label + ": " + text) + '\n';
}

std::string untried_block(const RunReport& report, const report::PhaseView& view, const Ink& ink) {
  const std::string text = report::untried_text(report, view);
  if (text.empty()) return {};
  const Untried& untried = *report::untried_of(report, view.phase);
  std::string out = ink.wrapped(text, "", "  ");
  if (untried.could_enter.empty()) return out;
  out +=
      report::stacked_text(report::untried_table(report, untried, untried_rows_max), ink.width());
  const std::string more = report::untried_more(untried, untried_rows_max);
  return more.empty() ? out : out + ink.line(more) + '\n';
}

std::string phase_text(const RunReport& report, const report::PhaseView& view, const Ink& ink) {
  std::string out =
      ink.bold(std::string(phase_name(view.phase)) + ": " + std::to_string(view.front.size()) +
               " of " + std::to_string(view.evaluations) + " configurations on the front" +
               objectives_text(report)) +
      '\n';
  if (view.front.empty()) return out + "no configuration has a usable latency\n\n";
  std::vector<PointGroup> groups;
  const report::PhaseView shown = representatives(report, view, groups);
  out += report::stacked_text(report::front_table(shown, report::TableWidth::narrow), ink.width());
  if (const std::string alike = alike_text(groups); !alike.empty()) out += ink.line(alike) + '\n';
  for (const report::FrontRow& row : shown.front) {
    if (!row.point->ties.empty()) {
      out += ink.wrapped("cannot be told apart from " + std::to_string(row.point->ties.size()) +
                             " other front point(s)",
                         "  " + report::clean_text(row.label) + ": ", "    ");
    }
  }
  for (const report::FrontRow& row : shown.front) {
    if (!row.estimate->alone) continue;
    out += "  " +
           ink.line(row.label + ": isolated step, as it is run, " +
                    report::duration_text(row.estimate->alone->ns)) +
           '\n';
  }
  for (const report::FrontRow& row : shown.front) out += row_energy(row, ink);
  for (const report::FrontRow& row : shown.front) {
    if (report.tables.empty()) break;
    out += ink.wrapped(report::times_text(times_from(*row.estimate), report.tables),
                       "  " + report::clean_text(row.label) + ": ", "    ");
  }
  for (const report::FrontRow& row : shown.front) {
    const auto& standing = row.evaluation->standing;
    if (!standing || standing->front_class == FrontClass::certain) continue;
    out += "  " +
           ink.line(row.label + ": on the front with probability " +
                    report::probability_text(standing->probability)) +
           '\n';
  }
  for (const Evaluation* e : view.others) {
    if (!e->standing || e->standing->probability < mentioned_probability) continue;
    out += "  " +
           ink.line(report::deployment_label(e->configuration, report) +
                    ": may be on the front too, with probability " +
                    report::probability_text(e->standing->probability)) +
           '\n';
  }
  for (const std::string& rival : report::rival_texts(report, view)) {
    out += ink.wrapped(rival, "", "  ");
  }
  return out + untried_block(report, view, ink) + '\n';
}

std::string verdict_text(const RunReport& report, const Ink& ink) {
  const std::string verdict = report::composition_verdict(composition_errors(report.validations));
  const std::string state = report::bandwidth_state_text(report);
  const std::string standing = report::in_stack_text(report);
  const std::string composition = ink.line(report::composition_text(report));
  const std::string prediction = report::prediction_text(report);
  const std::string coverage = report::coverage_text(report);
  const std::string memory = report::memory_line(report.validations);
  const std::string judged = report::validity_text(report);
  const std::string validity = judged.empty() ? judged : ink.line(judged);
  const bool is_valid = report::validity(report) == "valid";
  return (validity.empty() ? "" : (is_valid ? ink.good(validity) : ink.bad(validity)) + '\n') +
         (state.empty() ? "" : ink.line(state) + '\n') +
         (standing.empty() ? "" : ink.line(standing) + '\n') +
         (composition.empty()
              ? ""
              : (verdict == "within" ? ink.good(composition) : ink.bad(composition)) + '\n') +
         (prediction.empty() ? "" : ink.line(prediction) + '\n') +
         (coverage.empty() ? "" : ink.wrapped(coverage, "", "  ")) +
         (memory.empty() ? "" : ink.line(memory) + '\n');
}

std::string list_text(const char* title, const std::vector<std::string>& items, const Ink& ink) {
  if (items.empty()) return {};
  std::string out = '\n' + ink.bold(title) + '\n';
  for (const std::string& item : items) out += ink.wrapped(item, "- ", "  ");
  return out;
}

std::string closing_text(const RunReport& report, const Ink& ink) {
  std::string out;
  for (const std::string& line : report::closing_lines(report)) {
    out += ink.wrapped(line, "", "  ");
  }
  return out;
}

}  // namespace

std::string report_text(const RunReport& report, bool color) {
  return report_text(report, color, report::unlimited_width);
}

std::string brief_text(const RunReport& report, bool color, int width) {
  const Ink ink(color, width);
  std::string out = ink.bold(ink.line(report.title + ": " + report.model)) + "\n\n";
  for (const report::PhaseView& view : report::phase_views(report)) {
    out += phase_text(report, view, ink);
  }
  return out + closing_text(report, ink);
}

std::string report_text(const RunReport& report, bool color, int width, const std::string& rows) {
  const Ink ink(color, width);
  std::string out =
      ink.bold(ink.line(rows.empty() ? report.title + ": " + report.model : report.command)) + '\n';
  for (const std::string& machine : report.machine) out += ink.line(machine) + '\n';
  out += '\n';
  for (const report::PhaseView& view : report::phase_views(report)) {
    out += phase_text(report, view, ink);
  }
  if (!report.validations.empty()) {
    out += ink.bold("predicted against run") + '\n' +
           report::stacked_text(report::validation_table(report), ink.width()) + '\n';
  }
  out += rows.empty() ? verdict_text(report, ink) : rows;
  out += list_text("left out", report.left_out, ink);
  out += list_text("notes", report.notes, ink);
  out += list_text("warnings", report.warnings, ink);
  const std::string closing = closing_text(report, ink);
  return closing.empty() ? out : out + '\n' + closing;
}

}  // namespace halmark
