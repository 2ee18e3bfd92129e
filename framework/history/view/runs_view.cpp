#include <fmt/format.h>

#include "core/json/json.hpp"
#include "history/view/history_view.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/table.hpp"

namespace halmark::history {

report::View runs_view(const std::vector<ListedRun>& runs) {
  report::View out;
  Json listed = Json::array();
  report::TextTable table(
      {"run", "began", "rows", "failed", "invalid", "configurations", "command"},
      {true, false, true, true, true, true});
  for (const ListedRun& run : runs) {
    listed.push_back({{"run", run.id},
                      {"started_utc", run.info.started_utc},
                      {"command", run.info.command},
                      {"fingerprint", run.info.fingerprint},
                      {"plan_hash", run.info.plan_hash},
                      {"rows", run.rows},
                      {"failed", run.failed},
                      {"invalid", run.invalid},
                      {"configurations", run.configurations}});
    table.add({std::to_string(run.id), run.info.started_utc, std::to_string(run.rows),
               std::to_string(run.failed), std::to_string(run.invalid),
               std::to_string(run.configurations), report::clean_text(run.info.command)});
  }
  out.data["runs"] = std::move(listed);
  out.text = table.text() + "halmark compare RUN RUN compares two of them, or two dates\n";
  return out;
}

}  // namespace halmark::history
