// The digest of a database: what its runs and rows say of the causes, and which digest was the
// last.
#include <filesystem>
#include <sstream>

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
    line.cause = "doubt: " + after.doubt;
  }
}

// The last run of the night, or of an earlier one where nothing ran on that date.
std::int64_t last_run_by(const std::vector<RunFacts>& runs, const std::string& night) {
  std::int64_t out = 0;
  for (const RunFacts& run : runs) {
    if (run.night <= night) out = run.run;
  }
  if (out != 0) return out;
  throw refused(
      "no night of this machine is as early as " + night, "--since",
      "the earliest that is looked at is " + runs.front().night + "; --nights N looks at more");
}

std::int64_t night_before_last(const std::vector<RunFacts>& runs) {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->night != runs.back().night) return run->run;
  }
  throw refused(
      "there is one night among the runs that are looked at, and a digest says what "
      "changed since an earlier one",
      "", "halmark history says what it has; --nights N looks at more runs");
}

// The run that the digest of this machine ended with that was sent last.
std::optional<std::int64_t> sent_run(const std::string& database, const std::string& fingerprint) {
  if (is_postgresql_url(database) || !std::filesystem::exists(sent_path(database))) return {};
  std::istringstream record(read_input(sent_path(database), json_input));
  std::string machine;
  std::int64_t run = 0;
  if (record >> run && std::getline(record >> std::ws, machine)) {
    return machine == fingerprint ? std::optional(run) : std::nullopt;
  }
  throw refused("this is no record of a digest that was sent", sent_path(database),
                "delete it, or name the night with --since");
}

// Runs of a machine that has changed since, or that are no longer looked at, say nothing.
std::int64_t told_run(const std::vector<RunFacts>& runs, const std::optional<std::int64_t>& sent) {
  std::int64_t out = 0;
  for (const RunFacts& run : runs) {
    if (sent && run.run <= *sent) out = run.run;
  }
  return out != 0 ? out : night_before_last(runs);
}

}  // namespace

std::string sent_path(const std::string& database) { return database + ".digest"; }

Digest stored_digest(const Store& store, const HistoryQuery& query, const HistoryRules& rules,
                     const std::string& path, const std::string& since) {
  if (!since.empty() && !is_date(since)) {
    throw refused("'" + since + "' is no date", "--since", "as 2026-11-22");
  }
  const NightReport now = night_report(store, query, rules, without_password(path));
  std::vector<RunFacts> runs;
  for (const std::int64_t run : now.runs) runs.push_back(facts_of(store, run));
  const bool is_of_all = query.op.empty() && query.model.empty() && query.device.empty();
  const bool may_know = is_of_all && since.empty();
  HistoryQuery earlier = query;
  earlier.through = !since.empty()
                        ? last_run_by(runs, since)
                        : told_run(runs, may_know ? sent_run(path, now.fingerprint) : std::nullopt);
  Digest out = digest_of(night_report(store, earlier, rules, without_password(path)), now, runs);
  out.is_of_all = may_know;
  for (NewsLine& line : out.lines) find_cause(store, line);
  return out;
}

}  // namespace halmark::history
