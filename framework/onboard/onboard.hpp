// Onboarding: from a device without tables to a folder that forecasts use, with the
// error of its forecasts measured on what was kept back.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "journal/store.hpp"
#include "onboard/candidates.hpp"
#include "onboard/fit.hpp"
#include "tune/devices/local_machine.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::onboard {

struct Request {
  std::string out;  // a name, or the path of a folder
  std::string backend = "cpu", device = "0";
  std::vector<std::string> dtypes;  // names of precisions; empty = bf16, or f32 without it
  double minutes = 60;
  double goal = 0.05;  // of the median error; of the 90th percentile three times that
  std::uint64_t seed = 1;
  bool only_plan = false;
};
// Throws Error (exit 2) for a name that is none, and for one of a shipped device.
void check_request(const Request& request);
// Where a name lies: among the devices of this user; a path is itself.
std::filesystem::path folder_of(const Request& request);

// What the command found on this machine.
struct Setting {
  tune::Target target;                     // with its measured peaks
  std::set<std::string, std::less<>> ops;  // of the backend
  std::string plugin_release;
  bool has_bf16 = true;
  std::vector<std::filesystem::path> models, devices;
};

Setting setting_of(const tune::LocalMachine& machine, const protocol::PluginDescription& plugin,
                   const Request& request);

struct Plan {
  Request request;
  std::filesystem::path folder;
  Device device;  // as the folder will state it
  Candidates candidates;
  double total_s = 0, held_s = 0, steps_s = 0;  // of it: for what is kept back, and for whole steps
  std::size_t held_out = 0, steps = 0;          // that fit into these, of the candidates
  std::string text;                             // canonical: what its rows are kept under
};
// Opens no device. Throws Error as candidates_of does.
Plan plan(const Request& request, const Setting& setting, const std::string& utc);

// A step of a model that was not measured, executed whole.
struct StepError {
  std::string model, phase;
  std::string deployment;
  double measured_ns = 0, ns = 0, low_ns = 0, high_ns = 0;
  double error() const { return ns / measured_ns - 1; }
  bool is_inside() const { return low_ns <= measured_ns && measured_ns <= high_ns; }
};
template <class V, Of<StepError> M>
void fields(V& v, M& m) {
  v("model", m.model);
  v("phase", m.phase);
  v("deployment", m.deployment);
  v("measured_ns", m.measured_ns);
  v("forecast_ns", m.ns);
  v("low_ns", m.low_ns);
  v("high_ns", m.high_ns);
}

struct Outcome {
  bool is_interrupted = false;  // then there is no folder yet
  std::string end;              // why no more was measured
  double seconds = 0;           // of measuring, earlier calls included
  std::size_t fitted = 0, failed = 0, too_fast = 0;
  std::vector<FamilyError> families;
  std::vector<StepError> steps;
  std::vector<std::string> unrun;  // steps that were not executed, with the reason
  std::string measured_range;      // "products of 1 to 2048 rows, contexts of 64 to 4096"
  std::string checksum;            // of SHA256SUMS
};

struct Hooks {
  // Seconds done and in all, and what was measured last; may be empty.
  std::function<void(double done_s, double total_s, const std::string& what)> progress;
};

// Measures what `store` does not have yet of this plan, row by row into it, and writes the folder:
// device.toml, manifest.toml, the tables, evidence.csv, report.json and SHA256SUMS. `info` names
// the run, whose plan is this one's. Ends between kernels where it is asked to stop; called again
// it goes on.
Outcome onboard(const Plan& plan, const Setting& setting, tune::KernelMeasuring measuring,
                Store& store, RunInfo info, const Hooks& hooks = {});

}  // namespace halmark::onboard
