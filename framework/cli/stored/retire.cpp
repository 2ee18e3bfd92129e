// halmark retire: raw samples that a policy does not keep are deleted; the runs' chains say so.

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "history/view/retention_view.hpp"

namespace halmark::cli {
Action add_retire(OptionSet& app) {
  const auto keep_runs =
      app.add("--keep-runs", "The latest runs keep their samples", 0).check(within(1, 1'000'000));
  const auto keep_nights =
      app.add("--keep-nights", "Runs of the latest dates on which one began keep theirs", 0)
          .check(within(1, 1'000'000));
  const auto older_than =
      app.add<std::string>("--older-than", "Of runs that began before: 12h, 30d, 8w");
  const auto is_dry_run = app.add_flag("--dry-run", "Say what would go, and change nothing");
  return [=](const GlobalOptions& global) {
    return shown(history::retention_view(history::apply_retention(
        database_path(global), retention_policy(*keep_runs, *keep_nights, *older_than),
        *is_dry_run)));
  };
}

}  // namespace halmark::cli
