// halmark retire: raw samples that a policy does not keep are deleted; the runs' chains say so.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "history/view/retention_view.hpp"

namespace halmark::cli {
namespace {

struct RetireOptions {
  int keep_runs = 0, keep_nights = 0;
  std::string older_than;
  bool is_dry_run = false;
};

CommandResult execute(const GlobalOptions& global, const RetireOptions& o) {
  const RetentionPolicy policy = retention_policy(o.keep_runs, o.keep_nights, o.older_than);
  return shown(history::retention_view(
      history::apply_retention(database_path(global), policy, o.is_dry_run)));
}

}  // namespace

Action add_retire(OptionSet& app) {
  auto o = std::make_shared<RetireOptions>();
  app.add_option("--keep-runs", o->keep_runs, "The latest runs keep their samples")
      ->check(within(1, 1'000'000));
  app.add_option("--keep-nights", o->keep_nights,
                 "Runs of the latest dates on which one began keep theirs")
      ->check(within(1, 1'000'000));
  app.add_option("--older-than", o->older_than, "Of runs that began before: 12h, 30d, 8w");
  app.add_flag("--dry-run", o->is_dry_run, "Say what would go, and change nothing");
  app.add_example(
      "halmark retire --keep-nights 30\n"
      "  deletes the raw samples of runs before the latest 30 nights: medians, intervals and all\n"
      "  else of their rows stay, and halmark verify says that the samples are retired");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
