#include "deploy/engine/benchmark_app.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "core/json/json.hpp"
#include "core/measured/engine_step.hpp"
#include "core/text/error.hpp"
#include "deploy/bench/engine_bench.hpp"
#include "deploy/engine/openvino_layer.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/interrupt.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::deploy {
namespace {

namespace fs = std::filesystem;
constexpr int run_s = 5;                 // of calls, as the app is asked
constexpr double load_time_max_s = 300;  // to read and compile, beside the run itself
constexpr auto poll_interval = std::chrono::milliseconds(50);

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, ignored);
}

// A folder of its own, that nobody else may write to and that goes with it.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "halmark-layer-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw unfit("cannot make a folder at " + pattern);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string last_line(const std::string& log) {
  std::istringstream lines(log);
  std::string last = "it said nothing";
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

void run(const std::string& app, const std::vector<std::string>& arguments,
         const std::stop_token& stop) {
  ProcessSpec spec{.program = app, .arguments = arguments, .environment = {}, .cpus = {}};
  for (const char* name : {"PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) spec.environment[name] = value;
  }
  const auto process = ContainedProcess::start(spec);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(run_s + load_time_max_s);
  while (process->running()) {
    if (stop.stop_requested()) throw Error(interrupt_exit_code(), "interrupted");
    if (std::chrono::steady_clock::now() > end) throw unfit("benchmark_app did not end");
    std::this_thread::sleep_for(poll_interval);
  }
  const auto cause = process->wait(protocol::deadline_after(1));
  process->settle();
  if (cause && cause->code == 0 && cause->signal == 0) return;
  throw unfit("benchmark_app ended with " + (cause ? cause->text() : "no code") + ": " +
              printable(last_line(process->log_tail())));
}

// Of the operators of all decoder layers, over the number of layers.
double predicted_layer_ns(const ModelSpec& spec, const Estimate& estimate) {
  double out = 0;
  for (const OperatorShare& share : estimate.operators) {
    if (share.layer_type == "decoder") out += share.ns;
  }
  return out / static_cast<double>(spec.layers);
}

}  // namespace

std::string benchmark_app(const std::string& folder) {
  std::istringstream folders(folder);
  if (folder.empty()) {
    const char* path = std::getenv("PATH");
    folders.str(path == nullptr ? "" : path);
  }
  for (std::string each; std::getline(folders, each, ':');) {
    if (is_program(fs::path(each) / "benchmark_app")) {
      return fs::absolute(fs::path(each) / "benchmark_app").string();
    }
  }
  throw unfit(
      "there is no program benchmark_app in " + (folder.empty() ? "PATH" : printable(folder)),
      "pip install openvino, --engine the folder bin of that Python environment");
}

CheckedLayer check_layer(const ModelSpec& spec, const Deployment& deployment,
                         const std::string& app, const std::stop_token& stop) {
  const Configuration& configuration = deployment.configuration();
  const exports::DecoderLayer layer = layer_of(spec, configuration);
  if (!deployment.point.estimate) throw refused("it is no step with a time", configuration.key());
  const Folder folder;
  exports::write_layer_ir(layer, folder.file("layer"));
  const std::string weights(dtype_name(layer.weights));
  const std::vector<std::string> arguments = {"-m",
                                              folder.file("layer.xml"),
                                              "-d",
                                              "CPU",
                                              "-api",
                                              "sync",
                                              "-hint",
                                              "latency",
                                              "-infer_precision",
                                              weights,
                                              "-t",
                                              std::to_string(run_s),
                                              "-report_type",
                                              "no_counters",
                                              "-json_stats",
                                              "-report_folder",
                                              folder.path()};
  run(app, arguments, stop);
  const EngineImport report = read_bench("openvino-bench", folder.file("benchmark_report.json"),
                                         {.model_id = configuration.model, .precision = weights});
  CheckedLayer out{.point_name = deployment.point_name,
                   .key = configuration.key(),
                   .predicted_ns = predicted_layer_ns(spec, *deployment.point.estimate),
                   .predicted_from = deployment.provenance,
                   .measured = report.steps.at(0),
                   .command = "benchmark_app"};
  for (const std::string& word : arguments) out.command += ' ' + word;
  return out;
}

report::View layer_view(const CheckedLayer& l) {
  report::TextTable table({"one layer of", ">predicted", "from", ">engine measured", ">least",
                           ">calls", ">engine / predicted"});
  const bool is_predicted = l.predicted_ns > 0;
  const double ratio = is_predicted ? l.measured.step_ns / l.predicted_ns : 0;
  table.add({report::clean_text(l.key),
             is_predicted ? report::duration_text(l.predicted_ns) : std::string("-"),
             report::clean_text(l.predicted_from), report::duration_text(l.measured.step_ns),
             report::duration_text(l.measured.least_ns.value_or(l.measured.step_ns)),
             std::to_string(l.measured.samples),
             is_predicted ? report::significant_text(ratio) : std::string("-")});
  report::View out;
  out.data = {{"point", l.point_name},
              {"key", l.key},
              {"predicted_layer_ns", is_predicted ? Json(l.predicted_ns) : Json(nullptr)},
              {"predicted_from", l.predicted_from},
              {"measured", l.measured},
              {"measured_over_predicted", is_predicted ? Json(ratio) : Json(nullptr)},
              {"command", l.command}};
  out.text = table.text() + report::clean_text(l.point_name) + "; random weights\n  " +
             report::clean_text(l.command) + '\n';
  return out;
}

}  // namespace halmark::deploy
