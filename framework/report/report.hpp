// RunReport: everything a report shows, as values. Formats are pure folds over it: no device, no
// database, no clock; the same value gives the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/rival.hpp"
#include "core/chosen/table_use.hpp"
#include "core/chosen/untried.hpp"
#include "core/device.hpp"
#include "core/json/json_type.hpp"
#include "core/limiter.hpp"
#include "core/measured/measurement.hpp"
#include "core/measured/validation.hpp"

namespace halmark {

// One measured kernel, folded over its rounds, with what the host says about it.
struct KernelPoint {
  std::string key;          // KernelCase::key()
  std::string op, problem;  // "gemm", "gemm k=1024 m=1 ..."
  std::string dtype;        // compute dtype
  std::string place;        // "cpu:0/2 x2"
  std::string mode;         // "rotate_const:4"
  std::string implementation, isa;
  Status status = Status::ok;  // worst usable round, or the failure
  std::string reason;
  int rounds = 0;
  std::optional<double> duration_ns, low_ns, high_ns;
  double matmul_flops = 0, bytes = 0;  // of one execution, one shard
  double lower_bound_ns = 0;
  Limiter limiter = Limiter::unknown;  // what the bound is made of
  std::optional<double> mfu, path_fraction, mfu_datasheet, roofline_fraction;
  std::string mfu_reason;
  std::optional<double> algbw_bytes_per_s, busbw_bytes_per_s;  // collectives, as nccl-tests
  std::int64_t constant_bytes = 0, workspace_bytes = 0;
  OneTimeCost one_time;
  // The memory's bandwidth while it was measured, as a share of the best seen here: median of its
  // rounds.
  std::optional<double> bandwidth_share;
  std::string bandwidth_reason;       // why absent
  std::optional<double> clean_share;  // of its samples: median of its rounds; absent without labels
  // The speed-of-light score against a baseline that was measured beside it, and which that was.
  std::optional<double> score;
  std::string baseline;      // "cpu: gemm_onednn ..."; "" = none was asked for
  std::string score_reason;  // why absent
};

struct FrontPoint {
  std::size_t evaluation = 0;  // index into RunReport::evaluations
  bool is_suspect = false;
  std::vector<std::string> ties;  // keys of front points whose intervals overlap this one
};

// Median and worst |error| over the points that were run and passed the gate; without a figure
// where fewer than 3 did. What it leaves out is counted.
struct ErrorOverPoints {
  int points = 0, left_out = 0;
  std::optional<double> median, worst;
};

// Runs against the intervals that were printed for them, each in the state of the memory that it
// met.
struct IntervalCoverage {
  struct Runs {
    int runs = 0, inside = 0;
    std::optional<double> half_width;  // of the intervals, as a share of the step: median
  };
  Runs named;   // in the state that the interval names
  Runs scaled;  // in another
  // Of the memory, each more than a tenth from the one before: a coverage of few says little.
  int states = 0;
};

struct RunReport {
  std::string title;  // sweep name
  std::string model;
  std::string command;  // the exact command that makes it again
  std::string started_utc, tool, plan_hash, chain_head, fingerprint;
  std::vector<std::string> machine;   // lines: CPU model, cores, memory, isa, libraries
  std::vector<std::string> left_out;  // what the plan trimmed and why
  std::vector<std::string> notes;     // what the run did besides its plan
  std::vector<std::string> warnings;
  double measuring_s = 0;
  // Of a search on times that others measured: their tables, and what of them cannot be true.
  std::vector<TableUse> tables;
  std::optional<QuarantinedTimes> quarantined;
  std::optional<Device> device;         // measured peaks
  std::vector<std::string> objectives;  // "latency", "throughput", "memory"
  std::vector<Evaluation> evaluations;  // all configurations, refused ones included
  std::vector<FrontPoint> front;        // per phase, in order of latency
  std::vector<Untried> untried;         // of phases that were not tried to the end
  std::vector<Rival> rivals;            // of each phase with another configuration
  std::vector<KernelPoint> kernels;
  std::vector<Validation> validations;
};

// The run against its own kernels in the same state of the machine, and against what was printed.
ErrorOverPoints composition_errors(const std::vector<Validation>& rows);
ErrorOverPoints prediction_errors(const std::vector<Validation>& rows);

IntervalCoverage interval_coverage(const std::vector<Validation>& rows);

// The document of one run of a whole stack.
Json validation_json(const Validation& validation);

// Data of the documented JSON (`halmark tune --json`): front, evaluations, kernels, validations.
Json report_json(const RunReport& report);
// Human tables: the fronts with MFU, bottleneck, provenance and error, then the validation.
std::string report_text(const RunReport& report, bool color);
// One row per evaluated configuration (RFC 4180), provenance and status columns always present.
std::string report_csv(const RunReport& report);
// One row per measured kernel.
std::string kernels_csv(const RunReport& report);
std::string report_markdown(const RunReport& report);
// One self-contained page: the front, a roofline with every measured kernel, the breakdown of every
// front point. Inline SVG, readable without script.
std::string report_html(const RunReport& report);

// Writes `text` to a temporary name in the same folder, then renames. Throws Error (exit 1) naming
// the path for a storage error.
void write_whole_file(const std::string& text, const std::string& path);

// Before the work whose report it is to be: throws what write_report would throw of its suffix.
void check_report_path(const std::string& path);
// Writes by suffix (.json .csv .md .html) to a temporary name in the same folder, then renames.
// Throws Error: exit 2 for an unknown suffix, exit 1 naming the path for a storage error.
void write_report(const RunReport& report, const std::string& path);

}  // namespace halmark
