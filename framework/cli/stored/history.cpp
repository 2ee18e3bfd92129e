// halmark history: series over the latest runs; exit 3 where one has become slower, 4 where
// something is undecided, unless it is a gate.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "core/text/url.hpp"
#include "history/view/history_view.hpp"

namespace halmark::cli {

Action add_history(OptionSet& app) {
  struct Options {
    history::HistoryQuery query;
    std::string floor = "3%";
    int nights = 60;
    bool lists = false, is_gate = false;
    std::vector<std::string> out;
  };
  auto o = std::make_shared<Options>();
  app.add_option("--op", o->query.op, "Kernels of this op alone");
  app.add_option("--model", o->query.model, "Configurations of this model instead of kernels");
  app.add_option("--device", o->query.device, "Of this backend or device alone: cpu, cpu:0");
  app.add_flag("--list", o->lists, "The latest runs, of tune, run and bench, and nothing else");
  app.add_option("--nights", o->nights, "The latest runs to look at")->check(within(2, 1000));
  app.add_option("--floor", o->floor, "Smaller changes of a time are none (default 3%)");
  add_gate_option(app, o->is_gate).excludes("--list");
  app.add_option("--out,-o", o->out, "File to write, format by suffix: .json .md .html");
  return [o](const GlobalOptions& global) {
    const std::string path = database_path(global), shown_path = without_password(path);
    o->query.nights = static_cast<std::size_t>(o->nights);
    if (o->lists) {
      return shown(history::runs_view(
          history::list_runs(*open_store_read_only(path), o->query.nights, shown_path)));
    }
    const history::NightReport night =
        history::night_report(*open_store_read_only(path), o->query,
                              {.floor = history::parse_floor(o->floor, "--floor")}, shown_path);
    for (const std::string& file : o->out) history::write_history(night, file);
    CommandResult result = shown(history::history_view(night));
    result.exit_code = history::history_exit(night, o->is_gate);
    return result;
  };
}

}  // namespace halmark::cli
