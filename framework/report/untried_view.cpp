#include "report/untried_view.hpp"

#include "core/ranges.hpp"
#include "report/text/table_columns.hpp"

namespace halmark::report {

namespace {

struct UntriedRow {
  std::string label;
  const UntriedConfiguration* of = nullptr;
};

void describe_untried(RowCells& cells, const UntriedRow& r) {
  cells.text("configuration", r.label, r.of->configuration.key());
  cells.number("best bound", duration_text(r.of->step_ns),
               "kernels that were measured for others at the low end of their interval, the others "
               "at their lower bound");
  cells.number("tokens/s", significant_text(r.of->tokens_per_s));
  cells.number("memory", bytes_text(r.of->memory_bytes_total));
  cells.number("on the front", probability_text(r.of->probability));
}

}  // namespace

const Untried* untried_of(const RunReport& report, Phase phase) {
  return find_or_null(report.untried, phase, &Untried::phase);
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
  return table_of(rows, describe_untried);
}

std::string untried_more(const Untried& untried, std::size_t rows_max) {
  if (untried.could_enter.size() <= rows_max) return {};
  return "and " + std::to_string(untried.could_enter.size() - rows_max) + " more: --json has them";
}

}  // namespace halmark::report
