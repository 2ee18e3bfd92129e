#include "report/front_view.hpp"
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

std::string list_markdown(const char* title, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string out = "\n## " + std::string(title) + "\n\n";
  for (const std::string& item : items) out += "- " + report::markdown_text(item) + '\n';
  return out;
}

std::string rival_markdown(const RunReport& report, const report::PhaseView& view) {
  std::string out;
  for (const std::string& text : report::rival_texts(report, view)) {
    out += "\n" + report::markdown_text(text) + ".\n";
  }
  return out;
}

std::string untried_markdown(const RunReport& report, const report::PhaseView& view) {
  const std::string text = report::untried_text(report, view);
  if (text.empty()) return {};
  const Untried& untried = *report::untried_of(report, view.phase);
  std::string out = "\n" + report::markdown_text(text) + ".\n";
  if (untried.could_enter.empty()) return out;
  return out + "\n" +
         report::table_markdown(report::untried_table(report, untried, untried.could_enter.size()));
}

std::string phase_markdown(const RunReport& report, const report::PhaseView& view) {
  std::string out = "\n## " + std::string(phase_name(view.phase)) + "\n\n" +
                    std::to_string(view.front.size()) + " of " + std::to_string(view.evaluations) +
                    " configurations are on the front.\n\n";
  if (view.front.empty()) return out;
  return out + report::table_markdown(report::front_table(view, report::TableWidth::wide)) +
         rival_markdown(report, view) + untried_markdown(report, view);
}

}  // namespace

std::string report_markdown(const RunReport& report) {
  std::string out = "# " + report::markdown_text(report.title + ": " + report.model) + "\n\n";
  out += "Validity: " + report::validity(report) + ".\n";
  if (const std::string composition = report::composition_text(report); !composition.empty()) {
    out += report::markdown_text(composition) + ".\n";
  }
  if (const std::string prediction = report::prediction_text(report); !prediction.empty()) {
    out += report::markdown_text(prediction) + ".\n";
  }
  if (const std::string state = report::bandwidth_state_text(report); !state.empty()) {
    out += report::markdown_text(state) + ".\n";
  }
  if (const std::string standing = report::in_stack_text(report); !standing.empty()) {
    out += report::markdown_text(standing) + ".\n";
  }
  for (const report::PhaseView& view : report::phase_views(report)) {
    out += phase_markdown(report, view);
  }
  if (!report.validations.empty()) {
    out +=
        "\n## predicted against run\n\n" + report::table_markdown(report::validation_table(report));
    if (const std::string memory = report::memory_line(report.validations); !memory.empty()) {
      out += "\n" + report::markdown_text(memory) + ".\n\n" +
             report::table_markdown(report::memory_table(report));
    }
  }
  out += list_markdown("left out", report.left_out);
  out += list_markdown("notes", report.notes);
  out += list_markdown("warnings", report.warnings);
  out += list_markdown("machine", report.machine);
  out += list_markdown("provenance",
                       {"command: " + report.command, "started: " + report.started_utc,
                        "tool: " + report.tool, "plan: " + report.plan_hash,
                        "chain head: " + report.chain_head, "fingerprint: " + report.fingerprint});
  return out;
}

}  // namespace halmark
