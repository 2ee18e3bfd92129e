// The results database: append-only rows, each with a checksum, each run with a chain.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/untried.hpp"
#include "core/chosen/winner.hpp"
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

// The ceilings that rows of a run were judged by. Rows behind an entry were judged by it, until the
// next one.
struct UsedPeaks {
  std::string device_text;                // the device file as it was
  int threads = 0;                        // CPUs of the whole device
  std::vector<std::string> devices = {};  // whose rows ("cuda:0"); empty = all of the run
  bool operator==(const UsedPeaks&) const = default;
};

// What the machine of a run was, in lines for people: a report is often made elsewhere, or later.
struct RunMachine {
  std::vector<std::string> lines;
  std::string build = {};  // id of the kept build that it ran; "" where none is kept
  bool ends_night = false;
};

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

// One writing connection in one process. A row is committed before append returns, into the file
// that the path still names: else Error (exit 1), with the place where all rows were kept.
// Readers hold the columns of all runs against their checksums when they first look for one, and
// follow the chain of each run that they read.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::int64_t begin_run(const RunInfo& run) = 0;
  virtual void append(std::int64_t run, const Measurement& measurement) = 0;
  virtual void append(std::int64_t run, std::span<const Measurement> measurements) = 0;
  virtual void append(std::int64_t run, const Evaluation& evaluation) = 0;
  virtual void append(std::int64_t run, const Validation& validation) = 0;
  virtual void append(std::int64_t run, const Winner& winner) = 0;
  virtual void append(std::int64_t run, const Duet& duet) = 0;
  virtual void append(std::int64_t run, const UsedPeaks& peaks) = 0;
  // Of rows of this run that are stored: readers find them suspect from then on.
  virtual void append(std::int64_t run, std::span<const Doubt> doubts) = 0;
  virtual void append(std::int64_t run, const RunMachine& machine) = 0;
  virtual void append(std::int64_t run, const Untried& untried) = 0;
  // All rounds of a case on a machine, oldest first. Rows that fail their checksum are left out and
  // reported through `damaged`.
  virtual std::vector<Measurement> measurements(std::string_view case_key,
                                                std::string_view fingerprint) const = 0;
  virtual std::vector<Measurement> run_measurements(std::int64_t run) const = 0;
  virtual std::vector<Evaluation> evaluations(std::int64_t run) const = 0;
  virtual std::vector<Validation> validations(std::int64_t run) const = 0;
  virtual std::vector<Winner> winners(std::int64_t run) const = 0;
  virtual std::vector<Duet> duets(std::int64_t run) const = 0;
  // Oldest first; none of a run of an earlier version, or of a device without measured peaks.
  virtual std::vector<UsedPeaks> used_peaks(std::int64_t run) const = 0;
  // The last one; none of a run of an earlier version.
  virtual std::optional<RunMachine> machine(std::int64_t run) const = 0;
  // One of each phase that its budget did not cover; none of a run of an earlier version.
  virtual std::vector<Untried> untried(std::int64_t run) const = 0;
  // Runs of a machine that hold winners, oldest first.
  virtual std::vector<std::int64_t> runs_with_winners(std::string_view fingerprint) const = 0;
  virtual std::optional<std::int64_t> find_run(std::string_view plan_hash,
                                               std::string_view fingerprint) const = 0;
  virtual std::optional<std::int64_t> latest_run() const = 0;
  // The latest one that has a plan: kernels that were measured outside of sweeps have none.
  virtual std::optional<std::int64_t> latest_sweep() const = 0;
  virtual RunInfo run_info(std::int64_t run) const = 0;
  // The latest `count` runs, oldest first; of one machine, unless the fingerprint is empty.
  virtual std::vector<std::int64_t> latest_runs(std::size_t count,
                                                std::string_view fingerprint = {}) const = 0;
  // For histories of many runs: rows are held against their checksums, chains are not followed.
  virtual std::vector<RowFigures> run_figures(std::int64_t run) const = 0;
  // The latest `count` rows of a case on whatever machine, oldest first.
  virtual std::vector<RowFigures> case_figures(std::string_view case_key,
                                               std::size_t count) const = 0;
  // Keys of all cases that were ever measured and begin with `prefix`, in order.
  virtual std::vector<std::string> measured_cases(std::string_view prefix) const = 0;
  // Runs whose rows have raw samples that can be deleted, in order. (Up to schema 2 samples are
  // part of their row and stay.)
  virtual std::vector<RunSamples> samples_by_run() const = 0;
  // Deletes those of a run and adds the row to its chain that says so, in one commit; their figures
  // stay. Returns what there was. Throws Error (exit 2) where a row or its samples do not hold:
  // damage is not retired.
  virtual RunSamples retire_samples(std::int64_t run, const std::string& policy) = 0;
  virtual DatabaseSize size() const = 0;
  // Makes the file as small as its rows are. Takes twice its size of space meanwhile; throws Error
  // (exit 1) without it, and nothing is changed.
  virtual void shrink() = 0;
  virtual std::string chain_head(std::int64_t run) const = 0;  // SHA-256 hex
  // What was met so far of rows and runs that do not hold: a checksum, a chain, a missing row.
  virtual std::vector<std::string> damaged() const = 0;
  // Throws Error (exit 2) naming it, with the command that saves the rest, unless that is empty.
  virtual void require_sound() const = 0;
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
