// The digest of a database: what its runs and rows say of the causes, and which digest was the
// last.
#include <algorithm>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "history/digest.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t date_length = 10;  // of 2026-11-22T02:30:00Z

RunFacts facts_of(const Store& store, std::int64_t run) {
  const RunInfo info = store.run_info(run);
  RunFacts out{.run = run,
               .night = info.started_utc.substr(0, date_length),
               .command = info.command,
               .tool = info.tool_version + " (" + info.tool_build + ')'};
  if (auto machine = store.machine(run)) out.machine = std::move(machine->lines);
  return out;
}

// Of a kernel's rows in one run.
struct RowFacts {
  std::string implementation, environment, doubt;
};

RowFacts facts_of(const Store& store, const NewsLine& line, std::int64_t run) {
  RowFacts out;
  for (const Measurement& row : store.run_measurements(run)) {
    if (row.kernel_case.key() != line.name.what || row.plugin_name != line.name.plugin) continue;
    if (row.status == Status::suspect) out.doubt = row.reason;
    if (!has_latency(row.status)) continue;
    const Implementation& made = row.implementation;
    out.implementation = made.name + ' ' + made.library + ' ' + made.library_version;
    if (!made.isa.empty()) out.implementation += " (" + made.isa + ')';
    out.environment = row.environment;
  }
  return out;
}

void find_cause(const Store& store, NewsLine& line) {
  if (line.cause != "unknown" || line.run_before == 0) return;
  const RowFacts before = facts_of(store, line, line.run_before);
  const RowFacts after = facts_of(store, line, line.run_after);
  if (before.implementation != after.implementation) {
    line.cause = "implementation " + before.implementation + " to " + after.implementation;
  } else if (before.environment != after.environment) {
    line.cause = "environment " + before.environment + " to " + after.environment;
  } else if (before.doubt.empty() && !after.doubt.empty()) {
    line.cause = "neighbours: " + after.doubt;
  }
}

// The last run of the night, or of an earlier one where nothing ran on that date.
std::int64_t last_run_by(const std::vector<RunFacts>& runs, const std::string& night,
                         const std::string& where) {
  std::int64_t out = 0;
  for (const RunFacts& run : runs) {
    if (run.night <= night) out = run.run;
  }
  if (out != 0) return out;
  throw refused("no night of this machine is as early as " + night, where,
                runs.empty() ? std::string()
                             : "the earliest that is looked at is " + runs.front().night +
                                   "; --nights N looks at more");
}

std::string night_before_last(const std::vector<RunFacts>& runs) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->night != runs.back().night) return run->night;
  }
  throw refused("there is one night, and a digest says what changed since an earlier one", "",
                "halmark history says what it has");
}

}  // namespace

std::string sent_path(const std::string& database) { return database + ".digest"; }

std::optional<std::string> sent_through(const std::string& database) {
  if (is_postgresql_url(database)) return std::nullopt;
  std::string night;
  try {
    night = read_input(sent_path(database), json_input);
  } catch (const Error&) {
    return std::nullopt;  // none was sent
  }
  while (!night.empty() && night.back() == '\n') night.pop_back();
  if (is_date(night)) return night;
  throw refused("this is no record of a digest that was sent", sent_path(database),
                "delete it, or name the night with --since");
}

Digest stored_digest(const Store& store, const HistoryQuery& query, const HistoryRules& rules,
                     const std::string& path, const std::string& since) {
  if (!since.empty() && !is_date(since)) {
    throw refused("'" + since + "' is no date", "--since", "as 2026-11-22");
  }
  const NightReport now = night_report(store, query, rules, without_password(path));
  std::vector<RunFacts> runs;
  for (const std::int64_t run : now.runs) runs.push_back(facts_of(store, run));
  std::string night = since.empty() ? sent_through(path).value_or("") : since;
  if (night.empty()) night = night_before_last(runs);
  HistoryQuery earlier = query;
  earlier.through = last_run_by(runs, night, since.empty() ? without_password(path) : "--since");
  Digest out = digest_of(night_report(store, earlier, rules, without_password(path)), now, runs);
  for (NewsLine& line : out.lines) find_cause(store, line);
  return out;
}

}  // namespace halmark::history
