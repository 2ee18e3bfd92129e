#include "journal/run_chains.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/digest.hpp"

namespace halmark::journal {
namespace {

// A damaged page may show rows without end; the first ones tell enough.
constexpr std::size_t lines_max = 200;

std::string entry_name(std::int64_t id) { return "entry " + std::to_string(id); }
std::string run_name(std::int64_t id) { return "run " + std::to_string(id); }

}  // namespace

void Faults::add(const std::string& line) {
  if (lines_.size() >= lines_max || contains(lines_, line)) return;
  lines_.push_back(line);
}

void RunChains::follow_rows(std::int64_t run, std::int64_t writer, End& end) {
  RowQuery query{.run = run, .after = end.row};
  if (writer != 0) query.writer = writer;
  source_.each_row(query, [&](const StoredRow& row) {
    const std::string bytes = row.bytes();
    const std::string chain = sha256_of(end.chain + bytes);
    if (as_int64(xxh3_of(bytes)) != row.checksum) {
      faults_.add(entry_name(row.id) + ": checksum does not match");
    } else {
      ++rows_[run][row.kind];
      if (chain != row.chain) {
        faults_.add(entry_name(row.id) + ": a row of " + run_name(run) +
                    " was changed, removed, inserted or moved at or before this one");
      }
    }
    end.row = row.id;
    end.chain = row.chain;
  });
}

void RunChains::follow(std::int64_t id) {
  const auto run = source_.run(id);
  if (!run) return;
  for (const RowChain& chain : source_.chains(*run)) {
    End& end = ends_.try_emplace({id, chain.writer}, End{0, chain.start}).first->second;
    follow_rows(id, chain.writer, end);
    if (chain.head == end.chain) continue;
    faults_.add(chain.writer == 0
                    ? run_name(id) + ": its own columns were changed, or its last rows are missing"
                    : run_name(id) + ": the last rows of writer " + std::to_string(chain.writer) +
                          " are missing, or its columns or the run's were changed");
  }
}

std::int64_t RunChains::rows_of(std::int64_t run, const std::string& kind) const {
  const auto* of_run = find_value(rows_, run);
  if (!of_run) return 0;
  const auto rows = of_run->find(kind);
  return rows == of_run->end() ? 0 : rows->second;
}

void RunChains::check_start(const RunRow& run) {
  checked_.insert(run.id);
  const std::string fault = source_.fault_of_start(run);
  if (!fault.empty()) faults_.add(run_name(run.id) + ": " + fault);
}

void RunChains::check_run(std::int64_t id) {
  if (checked_.contains(id)) return;
  checked_.insert(id);
  // A writer that joins between the two would be one that is missing.
  source_.in_one_state([&] {
    if (const auto run = source_.run(id)) check_start(*run);
  });
}

void RunChains::check_runs() {
  if (has_checked_runs_) return;
  has_checked_runs_ = true;
  source_.in_one_state([&] {
    std::int64_t last = 0;
    source_.each_run([&](const RunRow& run) {
      last = std::max(last, run.id);
      if (!run.checksum) return check_start(run);
      if (run_checksum(run.info) == *run.checksum) return;
      faults_.add(run_name(run.id) + ": its own columns were changed");
    });
    const std::int64_t latest = source_.last_run_of_rows();
    if (latest > last) {
      faults_.add(run_name(latest) + ": has rows, and is not in the table of runs");
    }
  });
}

bool RunChains::is_retired(const StoredRow& row) {
  std::int64_t& up_to = retired_[row.run];
  if (row.id < up_to) return true;
  source_.each_row({.run = row.run, .kind = "retirement"}, [&](const StoredRow& retirement) {
    const bool is_whole = as_int64(xxh3_of(retirement.bytes())) == retirement.checksum;
    if (is_whole) up_to = retirement.id;
  });
  return row.id < up_to;
}

}  // namespace halmark::journal

namespace halmark {

std::string run_head(const std::string& start, const std::vector<RowChain>& chains) {
  if (chains.empty()) return start;
  if (chains.size() == 1 && chains.front().writer == 0) return chains.front().head;
  std::string heads;
  for (const RowChain& chain : chains) heads += chain.head;
  return sha256_of(heads);
}

}  // namespace halmark
