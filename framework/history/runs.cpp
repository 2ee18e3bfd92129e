#include "history/runs.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace halmark::history {

std::vector<ListedRun> list_runs(const Store& store, std::size_t count, const std::string& path) {
  std::vector<ListedRun> out;
  for (const std::int64_t run : store.latest_runs(count)) {
    ListedRun next{.id = run, .info = store.run_info(run)};
    for (const RowFigures& figures : store.run_figures(run)) {
      ++next.rows;
      next.failed += counts_as_failure(figures.row.status) ? 1 : 0;
      next.invalid += figures.row.status == Status::invalid ? 1 : 0;
    }
    next.configurations = store.rows<Evaluation>(run).size();
    out.push_back(std::move(next));
  }
  store.require_sound();
  if (out.empty())
    throw refused("the database has no run", path, "run halmark tune or bench first");
  return out;
}

}  // namespace halmark::history
