// halmark history: series over the latest runs; exit 3 where one has become slower, 4 where
// something is undecided, unless it is a gate.
#include <memory>

#include "cli/console/command.hpp"
#include "core/text/url.hpp"
#include "history/view/digest_view.hpp"
#include "history/view/history_view.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::cli {

Action add_history(OptionSet& app) {
  const auto query = std::make_shared<history::HistoryQuery>();
  app.add_option("--op", query->op, "Kernels of this op alone");
  app.add_option("--model", query->model, "Configurations of this model instead of kernels");
  app.add_option("--device", query->device, "Of this backend or device alone: cpu, cpu:0");
  const auto lists =
      app.add_flag("--list", "The latest runs, of tune, run and bench, and nothing else");
  const auto nights = app.add("--nights", "The latest runs to look at", 60).check(within(2, 1000));
  const auto floor =
      app.add<std::string>("--floor", "Smaller changes of a time are none (default 3%)", "3%");
  const auto is_gate = add_gate_option(app).excludes("--list");
  const auto brief =
      app.add_flag("--digest", "What is new, in 20 lines").excludes("--list").excludes("--gate");
  const std::string told =
      "What was said by this night is no news (default: the last that was sent)";
  const auto since = app.add<std::string>("--since", told, "").with("--digest");
  const std::string place = "http:// URL that takes the digest's JSON";
  const auto post = app.add<std::string>("--post", place, "").with("--digest");
  const auto out =
      app.add<std::vector<std::string>>(
             "--out,-o", "File by suffix: .json .md .html; of a digest .txt .md .json .eml")
          .excludes("--list");
  return [=](const GlobalOptions& global) -> CommandResult {
    const std::string path = database_path(global), shown_path = without_password(path);
    query->nights = static_cast<std::size_t>(*nights);
    query->front_of = tune::stored_front;
    const auto store = open_store_read_only(path);
    if (*lists) return runs_view(history::list_runs(*store, query->nights, shown_path));
    const history::HistoryRules rules{.floor = history::parse_floor(*floor, "--floor")};
    if (*brief) {
      const auto digest = history::stored_digest(*store, *query, rules, path, *since);
      history::send_digest(digest, *out, *post, path);
      return {history::digest_view(digest), history::digest_exit(digest)};
    }
    const history::NightReport night = history::night_report(*store, *query, rules, shown_path);
    for (const std::string& file : *out) history::write_history(night, file);
    return {history::history_view(night), history::history_exit(night, *is_gate)};
  };
}

}  // namespace halmark::cli
