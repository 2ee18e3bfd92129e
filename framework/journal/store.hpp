// The results database: append-only rows, each with a checksum, each run with a chain.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/untried.hpp"
#include "core/chosen/winner.hpp"
#include "core/fields/fields.hpp"
#include "core/measured/doubt.hpp"
#include "core/measured/duet.hpp"
#include "core/measured/measurement.hpp"
#include "core/measured/validation.hpp"

namespace halmark {

struct RunInfo {
  std::string command;    // the reproducer line
  std::string plan_hash;  // SHA-256 hex of the canonical plan
  std::string plan_text;
  std::string fingerprint;  // of the machine
  std::string tool_version;
  std::string tool_build;
  std::string started_utc;  // ISO 8601
};
// Its columns, in the order of its checksum.
template <class V, Of<RunInfo> M>
void fields(V& v, M& m) {
  v("command", m.command);
  v("plan_hash", m.plan_hash);
  v("plan_text", m.plan_text);
  v("fingerprint", m.fingerprint);
  v("tool_version", m.tool_version);
  v("tool_build", m.tool_build);
  v("started_utc", m.started_utc);
}

// The ceilings that rows of a run were judged by. Rows behind an entry were judged by it, until the
// next one.
struct UsedPeaks {
  std::string device_text;                // the device file as it was
  int threads = 0;                        // CPUs of the whole device
  std::vector<std::string> devices = {};  // whose rows ("cuda:0"); empty = all of the run
  bool operator==(const UsedPeaks&) const = default;
};
template <class V, Of<UsedPeaks> M>
void fields(V& v, M& m) {
  v("device_text", m.device_text);
  v("threads", m.threads);
  v.unless_default("devices", m.devices);
}

// What the machine of a run was, in lines for people: a report is often made elsewhere, or later.
struct RunMachine {
  std::vector<std::string> lines;
  std::string build = {};  // id of the kept build that it ran; "" where none is kept
  bool ends_night = false;
};
template <class V, Of<RunMachine> M>
void fields(V& v, M& m) {
  v("lines", m.lines);
  v.unless_default("build", m.build);
  v.unless_default("ends_night", m.ends_night);
}

// Raw samples that lie beside rows of a run.
struct RunSamples {
  std::int64_t run = 0;
  std::int64_t rows = 0, bytes = 0;
};

// The raw samples of all rows of a run behind which it stands were deleted.
struct Retirement {
  std::string policy;       // on whose word
  std::string retired_utc;  // ISO 8601
  RunSamples samples;       // what there was
};
template <class V, Of<Retirement> M>
void fields(V& v, M& m) {
  v("policy", m.policy);
  v("retired_utc", m.retired_utc);
  v("rows", m.samples.rows);
  v("bytes", m.samples.bytes);
}
// Its case is the key of its row.
template <class V, Of<Doubt> M>
void fields(V& v, M& m) {
  v("round", m.round);
  v("reason", m.reason);
}

struct DatabaseSize {
  std::int64_t rows = 0;        // of all kinds
  std::int64_t bytes = 0;       // in use
  std::int64_t free_bytes = 0;  // in the file, for later rows
};

// What a history follows of a row: backend and device of its case, round, status, reason, plugin,
// median, and the machine's state. All else of `row` is as in an empty one; `key` is the case's.
struct RowFigures {
  std::int64_t run = 0;
  std::string key;
  Measurement row;
};

namespace journal {

class RowReader;
class RowSource;

// What a value becomes, before its run, checksum and chain are added.
struct Entry {
  std::string_view kind;
  std::string key, body;
  std::string samples = {};  // the block beside the row
  bool has_samples = false;
};
Entry entry_of(const Measurement& measurement);
Entry entry_of(const Evaluation& evaluation);
Entry entry_of(const Validation& validation);
Entry entry_of(const Winner& winner);
Entry entry_of(const Duet& duet);
Entry entry_of(const Doubt& doubt);
Entry entry_of(const UsedPeaks& peaks);
Entry entry_of(const RunMachine& machine);
Entry entry_of(const Untried& untried);
Entry entry_of(const Retirement& retirement);

}  // namespace journal

// One writing connection in one process. A row is committed before append returns, into the file
// that the path still names: else Error (exit 1), with the place where all rows were kept.
// Readers hold the columns of all runs against their checksums when they first look for one, and
// follow the chain of each run that they read.
class Store {
 public:
  virtual ~Store();
  virtual std::int64_t begin_run(const RunInfo& run) = 0;
  // A value of one of the kinds of rows, or a range of them in one commit. A Doubt is of a row of
  // this run that is stored: readers find it suspect from then on.
  template <class Values>
  void append(std::int64_t run, const Values& values) {
    std::vector<journal::Entry> entries;
    if constexpr (std::ranges::range<Values>) {
      for (const auto& value : values) entries.push_back(journal::entry_of(value));
    } else {
      entries.push_back(journal::entry_of(values));
    }
    write(run, entries);
  }
  // Rows of a run, oldest first: Evaluation, Validation, Winner, Duet, UsedPeaks (none of a device
  // without measured peaks), RunMachine or Untried (of each phase that its budget did not cover).
  // None of a run from before there were such. Rows that fail their checksum are left out and
  // reported through `damaged`.
  template <class Value>
  std::vector<Value> rows(std::int64_t run) const;
  std::vector<Measurement> run_measurements(std::int64_t run) const;
  std::optional<RunMachine> machine(std::int64_t run) const;  // the last one
  // All rounds of a case on a machine, oldest first.
  std::vector<Measurement> measurements(std::string_view case_key,
                                        std::string_view fingerprint) const;
  // Runs of a machine that hold winners, oldest first.
  std::vector<std::int64_t> runs_with_winners(std::string_view fingerprint) const;
  std::optional<std::int64_t> find_run(std::string_view plan_hash,
                                       std::string_view fingerprint) const;
  std::optional<std::int64_t> latest_run() const;
  // The latest one that has a plan: kernels that were measured outside of sweeps have none.
  std::optional<std::int64_t> latest_sweep() const;
  RunInfo run_info(std::int64_t run) const;
  // The latest `count` runs, oldest first; of one machine, unless the fingerprint is empty.
  std::vector<std::int64_t> latest_runs(std::size_t count, std::string_view fingerprint = {}) const;
  // For histories of many runs: rows are held against their checksums, chains are not followed.
  std::vector<RowFigures> run_figures(std::int64_t run) const;
  // The latest `count` rows of a case on whatever machine, oldest first.
  std::vector<RowFigures> case_figures(std::string_view case_key, std::size_t count) const;
  // Keys of all cases that were ever measured and begin with `prefix`, in order.
  std::vector<std::string> measured_cases(std::string_view prefix) const;
  // Runs whose rows have raw samples that can be deleted, in order. (Up to schema 2 samples are
  // part of their row and stay.)
  std::vector<RunSamples> samples_by_run() const;
  // Deletes those of a run and adds the row to its chain that says so, in one commit; their figures
  // stay. Returns what there was. Throws Error (exit 2) where a row or its samples do not hold:
  // damage is not retired.
  virtual RunSamples retire_samples(std::int64_t run, const std::string& policy) = 0;
  DatabaseSize size() const;
  // Makes the file as small as its rows are. Takes twice its size of space meanwhile; throws Error
  // (exit 1) without it, and nothing is changed.
  virtual void shrink() = 0;
  std::string chain_head(std::int64_t run) const;  // SHA-256 hex
  // What was met so far of rows and runs that do not hold: a checksum, a chain, a missing row.
  std::vector<std::string> damaged() const;
  // Throws Error (exit 2) naming it, with the command that saves the rest, unless that is empty.
  void require_sound() const;

 protected:
  explicit Store(std::unique_ptr<journal::RowSource> source);
  // All of them in one commit, or none.
  virtual void write(std::int64_t run, const std::vector<journal::Entry>& entries) = 0;
  // Before a run is begun, and before samples of one are deleted: damage is not written on.
  void require_sound_runs() const;
  void require_sound_samples(std::int64_t run) const;

 private:
  std::unique_ptr<journal::RowReader> rows_;
};

// Opens or creates the journal: in a SQLite file, or in a server's database that several processes
// write at once (postgresql://..., shared_store.hpp). Throws Error: exit 2 for a foreign, newer or
// damaged file (untouched), another URL, or a second writer of a file that does not leave within
// 5 s (its holder is named); exit 1 for storage errors, naming the path.
std::unique_ptr<Store> open_store(const std::string& path);
// Read-only: never writes, never checkpoints.
std::unique_ptr<Store> open_store_read_only(const std::string& path);

// Name and linked version of the database library.
std::string storage_description();

}  // namespace halmark
