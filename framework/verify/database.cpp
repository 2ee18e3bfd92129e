#include "verify/database.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/check.hpp"
#include "journal/rows/row_codec.hpp"
#include "verify/composed_row.hpp"
#include "verify/measured_row.hpp"

namespace halmark {
namespace {

// A winner is a conclusion: it must follow from the rounds of its run that lie in the database.
std::string fault_of_winner(const StoredEntry& entry, std::span<const Measurement> rows) {
  try {
    const auto stored = parse_json(entry.body, "body").get<Winner>();
    std::vector<Variant> variants;
    for (const VariantTime& v : stored.variants) variants.push_back(v.variant);
    const auto again = judge_variants(stored.question, variants, rows);
    if (again && dump_json(Json(*again)) == entry.body) return {};
    return "this winner does not follow from the measurements of run " + std::to_string(entry.run);
  } catch (const std::exception& e) {
    return std::string("this winner cannot be read: ") + e.what();
  }
}

// Samples are checked by then, and would be most of the memory; that there were some still counts.
Measurement without_samples(Measurement m) {
  m.samples.resize(std::min<std::size_t>(1, m.samples.size()));
  m.shard_wall_ns.clear();
  return m;
}

// Entries come run by run, in their order.
class Checker {
 public:
  Checker(DatabaseCheck& out, const std::vector<StoredRun>& runs,
          const std::optional<NotedHead>& noted)
      : out_(out), noted_(noted) {
    for (const StoredRun& run : runs) {
      Followed& followed = runs_[run.id];
      followed.start = run.start_chain;
      for (const RowChain& chain : run.chains) followed.upcoming.push_back(chain);
      note(run.id);
      join(run.id, 0);
    }
  }

  void see(const StoredEntry& entry) {
    ++out_.entries;
    if (entry.run != run_) end_run();
    run_ = entry.run;
    join(entry.run, entry.id);
    const bool is_unchanged = check_hashes(entry);
    // Of a changed row that is said already, and its figures are nobody's.
    if (is_unchanged) check_content(entry);
  }

  void end_run() {
    for (const std::int64_t id : without_samples_) {
      out_.findings.push_back(
          {"entry", id, "samples", journal::fault_of(journal::SampleBytes::State::missing)});
    }
    without_samples_.clear();
    for (const StoredEntry& winner : winners_) {
      const std::string fault = fault_of_winner(winner, rows_);
      if (!fault.empty()) out_.findings.push_back({"entry", winner.id, "body", fault});
    }
    winners_.clear();
    rows_.clear();
    kernels_ = {};
  }

  // Behind the last row that there is of this writer.
  const std::string& end_of(std::int64_t run, std::int64_t writer) {
    join(run, std::numeric_limits<std::int64_t>::max());
    return chain_of(run, writer);
  }

 private:
  struct Followed {
    std::string start;
    std::vector<RowChain> chains;    // `head`: of the last row so far
    std::vector<RowChain> upcoming;  // of writers that begin later
  };

  // Writers of a server share the numbers of rows: what is before `row` began before it.
  void join(std::int64_t run, std::int64_t row) {
    Followed& followed = runs_[run];
    while (!followed.upcoming.empty() && followed.upcoming.front().writer <= row) {
      RowChain chain = followed.upcoming.front();
      followed.upcoming.erase(followed.upcoming.begin());
      chain.head = chain.start;
      followed.chains.push_back(std::move(chain));
      note(run);
    }
  }

  std::string& chain_of(std::int64_t run, std::int64_t writer) {
    std::vector<RowChain>& chains = runs_[run].chains;
    auto* it = find_or_null(chains, writer, &RowChain::writer);
    // An orphan, which is said already.
    return it ? it->head : chains.emplace_back(RowChain{.writer = writer}).head;
  }

  bool check_hashes(const StoredEntry& entry) {
    const bool is_unchanged = as_int64(xxh3_of(entry.bytes)) == entry.checksum;
    if (!is_unchanged) {
      out_.findings.push_back(
          {"entry", entry.id, "checksum", "the row was changed after it was stored"});
    }
    std::string& chain = chain_of(entry.run, entry.writer);
    chain = sha256_of(chain + entry.bytes);
    if (chain != entry.chain) {
      out_.findings.push_back(
          {"entry", entry.id, "chain",
           "a row of run " + std::to_string(entry.run) +
               " was changed, removed, inserted or moved at or before this one"});
      chain = entry.chain;
      // What lies behind a break does not speak for what lies before it.
      if (out_.noted && out_.noted->run == entry.run) out_.noted.reset();
    } else {
      if (out_.noted && out_.noted->run == entry.run) ++out_.noted->rows_behind;
      note(entry.run);
    }
    return is_unchanged;
  }

  void note(std::int64_t run) {
    if (!noted_ || (noted_->run && noted_->run != run)) return;
    const Followed& followed = runs_[run];
    if (run_head(followed.start, followed.chains) == noted_->chain) out_.noted = {run, 0};
  }

  void check_content(const StoredEntry& entry) {
    if (entry.kind != "measurement" && entry.block) {
      add(entry, {{"samples", journal::fault_of(journal::SampleBytes::State::unnamed)}});
    }
    if (entry.kind == "measurement") {
      CheckedMeasurement checked = check_measurement(entry);
      add(entry, checked.faults);
      if (checked.misses_samples) without_samples_.push_back(entry.id);
      if (checked.value.kernel_case.problem.op.empty()) return;
      rows_.push_back(without_samples(std::move(checked.value)));
      kernels_.add(rows_.back());
    } else if (entry.kind == "evaluation") {
      add(entry, kernels_.check_evaluation(entry));
    } else if (entry.kind == "validation") {
      add(entry, check_validation(entry));
    } else if (entry.kind == "winner") {
      winners_.push_back(entry);
    } else if (entry.kind == "retirement") {
      if (without_samples_.empty()) return;
      out_.retired[entry.run] += std::ssize(without_samples_);
      without_samples_.clear();
    }
  }

  void add(const StoredEntry& entry, const std::vector<RowFault>& faults) {
    for (const RowFault& f : faults) {
      out_.findings.push_back({"entry", entry.id, f.column, f.text});
    }
  }

  DatabaseCheck& out_;
  const std::optional<NotedHead>& noted_;
  std::map<std::int64_t, Followed> runs_;
  std::int64_t run_ = 0;
  std::vector<Measurement> rows_;
  std::vector<std::int64_t> without_samples_;  // rows, until one retires what they had
  std::vector<StoredEntry> winners_;
  MeasuredKernels kernels_;
};

void check_noted(const NotedHead& noted, DatabaseCheck& out) {
  if (out.noted) return;
  const std::string who = noted.run ? "run " + std::to_string(*noted.run) : std::string("no run");
  out.findings.push_back({"run", noted.run.value_or(0), "chain",
                          who + (noted.run ? " has not, and never had," : " has, or ever had,") +
                              " the head " + noted.chain +
                              ": its rows are not those that the head was noted of"});
}

void check_run(const StoredRun& run, Checker& checker, DatabaseCheck& out) {
  ++out.runs;
  out.heads.push_back({run.id, run_head(run.start_chain, run.chains)});
  if (!run.has_checksum) {
    out.findings.push_back({"run", run.id, "checksum", "its own columns were changed"});
  }
  if (!run.fault.empty()) out.findings.push_back({"run", run.id, "chain", run.fault});
  for (const RowChain& chain : run.chains) {
    if (checker.end_of(run.id, chain.writer) == chain.head) continue;
    const bool is_file = chain.writer == 0;
    out.findings.push_back({is_file ? "run" : "writer", is_file ? run.id : chain.writer, "chain",
                            is_file ? "the last rows of this run are missing"
                                    : "the last rows of this writer of run " +
                                          std::to_string(run.id) + " are missing"});
  }
}

DatabaseCheck check_snapshot(DatabaseSnapshot& snapshot, const std::optional<NotedHead>& noted) {
  const StoredDatabase stored = snapshot.read();
  DatabaseCheck out;
  for (const std::string& line : stored.integrity) out.findings.push_back({"file", 0, "", line});
  for (const auto& orphan : stored.orphans) {
    out.findings.push_back(
        {orphan.table, orphan.row, orphan.column, "names no row of table " + orphan.parent});
  }
  for (const std::string& part : stored.foreign_parts) {
    out.findings.push_back({"schema", 0, "", "the database has " + part});
  }
  Checker checker(out, stored.runs, noted);
  snapshot.for_each_entry([&](const StoredEntry& entry) { checker.see(entry); });
  checker.end_run();
  for (const StoredRun& run : stored.runs) check_run(run, checker, out);
  if (noted) check_noted(*noted, out);
  return out;
}

}  // namespace

DatabaseCheck check_database(const std::string& path, const std::optional<NotedHead>& noted) {
  const std::unique_ptr<DatabaseSnapshot> snapshot = open_snapshot(path);
  DatabaseCheck out;
  snapshot->in_one_state([&] { out = check_snapshot(*snapshot, noted); });
  return out;
}

}  // namespace halmark
