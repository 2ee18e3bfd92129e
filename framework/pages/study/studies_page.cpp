#include "pages/study/studies_page.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "report/terminal/terminal.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"
#include "study/front.hpp"
#include "study/values_json.hpp"

namespace halmark::pages {
namespace {

using report::TextTable;

std::string value_text(double value) { return fmt::format("{:.6g}", value); }

std::string objectives_text(const StudyInfo& study) {
  std::string out;
  const std::vector<std::string> names = metric_names(study);
  for (const auto i : indices(names)) {
    const bool is_max = study.directions[i] == StudyDirection::maximize;
    append_item(out, ", ", names[i] + (is_max ? " max" : " min"));
  }
  return out;
}

std::string trials_table(const StudyInfo& study, const std::vector<const TrialRow*>& rows) {
  std::vector<std::string> header = {"trial"};
  for (const std::string& name : metric_names(study)) header.push_back(printable(name));
  header.emplace_back("parameters");
  TextTable table(header);
  for (const TrialRow* row : rows) {
    std::vector<std::string> cells = {std::to_string(row->number)};
    for (const auto i : indices(study.directions)) {
      cells.push_back(i < row->values.size() ? value_text(row->values[i]) : "-");
    }
    std::string params = join(row->params, " ", [](const TrialParam& param) {
      return param.name + '=' + text_of(param.distribution->value(param.internal));
    });
    cells.push_back(printable(params));
    table.add(cells);
  }
  return table.text();
}

}  // namespace

report::View studies_page(std::string_view location, std::span<const StudySummary> studies) {
  TextTable table(
      {"study", "objectives", ">trials", ">complete", ">running", ">failed", ">pruned"});
  Json list = Json::array();
  for (const StudySummary& study : studies) {
    const auto count = [&](TrialState state) {
      return std::to_string(study.counts[as_size(state)]);
    };
    table.add({printable(study.info.name), printable(objectives_text(study.info)),
               std::to_string(study.trials()), count(TrialState::complete),
               count(TrialState::running), count(TrialState::fail), count(TrialState::pruned)});
    list.push_back(study_summary_json(study));
  }
  return {.data = {{"location", location}, {"studies", list}},
          .text = list.empty() ? "no studies\n" : table.text()};
}

report::View study_page(const StudySummary& study, std::span<const TrialRow> trials,
                        const StudyPage& options) {
  const std::vector<std::size_t> front = study_front(study.info, trials);
  report::View out{.data = study_summary_json(study), .text = {}};
  Json front_json = Json::array();
  std::vector<const TrialRow*> shown;
  for (const std::size_t i : front) {
    front_json.push_back(trial_json(trials[i]));
    if (shown.size() < options.rows) shown.push_back(&trials[i]);
  }
  out.data["front"] = front_json;
  if (options.all) {
    const Json all = json_list(trials, trial_json);
    out.data["trials_all"] = all;
    shown.clear();
    for (const TrialRow& row : trials) shown.push_back(&row);
  }
  const std::string head =
      fmt::format("study '{}': {}; {} trials, {} complete, {} on the front",
                  printable(study.info.name), printable(objectives_text(study.info)),
                  study.trials(), study.counts[as_size(TrialState::complete)], front.size());
  out.text = report::wrapped(head, report::stdout_columns());
  if (!shown.empty()) out.text += trials_table(study.info, shown);
  return out;
}

}  // namespace halmark::pages
