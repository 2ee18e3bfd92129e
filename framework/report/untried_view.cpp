#include "report/untried_view.hpp"

#include <algorithm>
#include <utility>

#include "report/text/table_columns.hpp"

namespace halmark::report {

namespace {

struct UntriedRow {
  std::string label;
  const UntriedConfiguration* of = nullptr;
};

constexpr Column<UntriedRow> untried_columns[] = {
    {"configuration", false, true,
     [](const UntriedRow& r) { return noted(r.label, r.of->configuration.key()); }},
    {"best bound", true, true,
     [](const UntriedRow& r) {
       return noted(duration_text(r.of->step_ns),
                    "kernels that were measured for others at the low end of their interval, the "
                    "others at their lower bound");
     }},
    {"tokens/s", true, true,
     [](const UntriedRow& r) { return plain(significant_text(r.of->tokens_per_s)); }},
    {"memory", true, true,
     [](const UntriedRow& r) {
       return plain(bytes_text(static_cast<double>(r.of->memory_bytes_total)));
     }},
    {"on the front", true, true,
     [](const UntriedRow& r) { return plain(probability_text(r.of->probability)); }},
};

}  // namespace

const Untried* untried_of(const RunReport& report, Phase phase) {
  const auto own = std::ranges::find(report.untried, phase, &Untried::phase);
  return own == report.untried.end() ? nullptr : &*own;
}

std::string untried_text(const RunReport& report, const PhaseView& view) {
  const Untried* untried = untried_of(report, view.phase);
  if (untried == nullptr) return {};
  const std::string begin = std::to_string(untried->count) + " of " +
                            std::to_string(untried->count + view.evaluations) +
                            " configurations were not tried";
  if (!untried->reason.empty()) {
    return begin + " and have no bound (" + untried->reason +
           "): probabilities of this front are among those tried";
  }
  if (untried->could_enter.empty()) return begin + "; none of them could enter this front";
  return begin + "; " + std::to_string(untried->could_enter.size()) +
         " of them could still enter this front, best bound first";
}

Table untried_table(const RunReport& report, const Untried& untried, std::size_t rows_max) {
  std::vector<UntriedRow> rows;
  for (const UntriedConfiguration& u : untried.could_enter) {
    if (rows.size() == rows_max) break;
    rows.push_back({deployment_label(u.configuration, report), &u});
  }
  return make_table<UntriedRow>(untried_columns, rows, TableWidth::wide);
}

std::string untried_more(const Untried& untried, std::size_t rows_max) {
  if (untried.could_enter.size() <= rows_max) return {};
  return "and " + std::to_string(untried.could_enter.size() - rows_max) + " more: --json has them";
}

}  // namespace halmark::report
