#include "verify/database.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/json/json.hpp"
#include "core/json/winner_json.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "journal/check.hpp"
#include "journal/row_codec.hpp"
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
    for (const StoredRun& run : runs) chains_[run.id] = run.start_chain;
    for (const auto& [run, chain] : chains_) note(run, chain);
  }

  void see(const StoredEntry& entry) {
    ++out_.entries;
    if (entry.run != run_) end_run();
    run_ = entry.run;
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

  const std::string& head_of(std::int64_t run) { return chains_[run]; }

 private:
  bool check_hashes(const StoredEntry& entry) {
    const bool is_unchanged = static_cast<std::int64_t>(xxh3_of(entry.bytes)) == entry.checksum;
    if (!is_unchanged) {
      out_.findings.push_back(
          {"entry", entry.id, "checksum", "the row was changed after it was stored"});
    }
    std::string& chain = chains_[entry.run];
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
      note(entry.run, chain);
    }
    return is_unchanged;
  }

  void note(std::int64_t run, const std::string& chain) {
    if (!noted_ || noted_->chain != chain || (noted_->run && noted_->run != run)) return;
    out_.noted = {run, 0};
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
      out_.retired[entry.run] += static_cast<std::int64_t>(without_samples_.size());
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
  std::map<std::int64_t, std::string> chains_;
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

}  // namespace

DatabaseCheck check_database(const std::string& path, const std::optional<NotedHead>& noted) {
  const DatabaseSnapshot snapshot(path);
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
  for (const StoredRun& run : stored.runs) {
    ++out.runs;
    out.heads.push_back({run.id, run.chain});
    if (!run.has_checksum) {
      out.findings.push_back({"run", run.id, "checksum", "its own columns were changed"});
    }
    if (checker.head_of(run.id) != run.chain) {
      out.findings.push_back({"run", run.id, "chain", "the last rows of this run are missing"});
    }
  }
  if (noted) check_noted(*noted, out);
  return out;
}

}  // namespace halmark
