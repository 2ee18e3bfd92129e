#include "judge/judge.hpp"

#include <unistd.h>
#include <stop_token>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "host/plugin/plugin_choice.hpp"
#include "judge/problems.hpp"

namespace halmark::judge {
namespace {

namespace fs = std::filesystem;

// A few samples each: what counts is whether every element is right, call after call.
constexpr double conformance_seconds = 0.01;

// What is built here is loaded by workers, so that nobody else may write to it.
class Folder {
 public:
  explicit Folder(const std::string& kept) : is_kept_(!kept.empty()) {
    std::error_code code;
    if (is_kept_) {
      path_ = fs::absolute(kept).string();
      fs::create_directories(path_, code);
      if (code) {
        throw Error(ExitCode::error, "cannot make the folder: " + code.message(), path_,
                    "name another one: --keep");
      }
      return;
    }
    path_ = (fs::temp_directory_path() / "halmark-judge.XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) {
      throw Error(ExitCode::error, "cannot make a folder", path_, "free space there");
    }
  }
  ~Folder() {
    std::error_code ignored;
    if (!is_kept_) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  bool is_kept_;
  std::string path_;
};

class Judging {
 public:
  Judging(const JudgeRequest& request, const std::vector<KernelCase>& cases,
          tune::KernelMeasuring measuring, const std::vector<FoundPlugin>& found)
      : request_(request),
        cases_(cases),
        measuring_(std::move(measuring)),
        found_(found),
        source_(read_source(request.path)),
        contract_(*find_contract(cases.front().problem.op)),
        folder_(request.keep) {
    out_.source = request.path;
    out_.op = cases.front().problem.op;
    out_.entry = entry_text(contract_, cases.front().problem.params, source_.language);
    sink_ = measuring_.sink;
  }

  Judged run() {
    require_one_kernel();
    find_baseline();
    conformance_ = cases_of_conformance();
    if (build() && load() && conforms()) measure();
    return std::move(out_);
  }

 private:
  // A source is written for one set of types and flags.
  void require_one_kernel() const {
    if (contract_.is_collective()) {
      throw refused("'" + out_.op + "' is a collective, and a source has one process", "--op");
    }
    for (const KernelCase& c : cases_) {
      if (!are_alike(contract_, c.problem.params, cases_.front().problem.params)) {
        throw refused("the problems differ in more than their sizes", source_.path,
                      "judge a source for one dtype and one set of flags at a time");
      }
    }
  }

  const FoundPlugin& machinery() const { return plugin_of(found_, backend_of(source_.language)); }

  // Known before a minute is spent on a compiler.
  void find_baseline() {
    if (request_.baseline == "none") {
      out_.baseline_reason = "--baseline none";
      return;
    }
    const bool is_named = !request_.baseline.empty();
    baseline_ = tune::parse_baseline(is_named ? request_.baseline
                                              : std::string(backend_of(source_.language)));
    const auto plugin = std::ranges::find_if(found_, [&](const FoundPlugin& p) {
      return p.is_loaded() && p.description->name == baseline_->backend;
    });
    if (plugin == found_.end() && !is_named) {
      out_.baseline_reason = "there is no plugin '" + baseline_->backend + "' here";
      baseline_.reset();
      return;
    }
    const FoundPlugin& chosen = plugin_of(found_, baseline_->backend);
    check_kernel(*chosen.description, baseline_->kernel);
    measuring_.others = {{{baseline_->backend, chosen.path}}, {{baseline_->backend, chosen.hash}}};
  }

  std::vector<KernelCase> cases_of_conformance() {
    std::vector<KernelCase> out;
    for (const KernelCase& asked : cases_) {
      for (const Problem& problem : conformance_problems(contract_, asked.problem)) {
        KernelCase next = asked;
        next.problem = problem;
        next.sets = 1;
        if (!contains(out, next)) out.push_back(std::move(next));
      }
    }
    out_.conformance_problems = out.size();
    return out;
  }

  bool build() {
    std::vector<Problem> problems = mapped(cases_, &KernelCase::problem);
    for (const KernelCase& c : conformance_) problems.push_back(c.problem);
    BuildRequest wanted{.folder = folder_.path(),
                        .machinery_path = {},
                        .architecture = {},
                        .options = request_.flags,
                        .limits = {.seconds = request_.compile_limit_s}};
    if (is_device_language(source_.language)) {
      const auto& device = check_device(machinery(), cases_.front().device);
      wanted.machinery_path = machinery().path;
      wanted.architecture = device.isa;
    }
    auto built = build_plugin(source_, problems, wanted);
    if (!built) return end(built.failure.status, built.failure.reason, "build");
    out_.build = *built;
    return true;
  }

  bool load() {
    const auto loaded = discover({.paths = {out_.build.plugin_path},
                                  .allow_insecure = false,
                                  .search_installed = false,
                                  .worker_program = {},
                                  .limits = measuring_.worker_limits});
    const FoundPlugin& plugin = loaded.front();
    if (!plugin.is_loaded()) return end(plugin.status, plugin.refusal, "load");
    measuring_.backend = cases_.front().backend;
    measuring_.plugin_path = plugin.path;
    measuring_.plugin_hash = plugin.hash;
    return true;
  }

  // A kernel that never ran has a row too.
  bool end(Status status, const std::string& reason, const std::string& phase) {
    Measurement row;
    row.kernel_case = cases_.front();
    row.status = status == Status::ok ? Status::refused : status;
    row.reason = reason;
    row.phase = phase;
    row.plugin_name = row.kernel_case.backend;
    out_.fault = row;
    if (sink_) sink_(row);
    return false;
  }

  // Ends with the first shape that fails: what hangs on one hangs on all. Rows of these shapes are
  // kept where they failed; their times are nobody's figures.
  bool conforms() {
    tune::KernelMeasuring short_one = measuring_;
    short_one.rounds = 1;
    short_one.seconds = std::min(measuring_.seconds, conformance_seconds);
    short_one.others = {};
    bool has_failed = false;
    short_one.sink = [&](const Measurement& row) {
      if (row.status == Status::quarantined || !counts_as_failure(row.status)) return;
      has_failed = true;
      if (sink_) sink_(row);
    };
    std::stop_source over;
    short_one.stop = over.get_token();
    short_one.progress = [&](const CampaignProgress& progress) {
      if (measuring_.progress) measuring_.progress(progress);
      if (has_failed || measuring_.stop.stop_requested()) over.request_stop();
    };
    if (measuring_.stop.stop_requested()) over.request_stop();
    out_.conformance = tune::measure_kernels(conformance_, short_one);
    return !has_failed;
  }

  void measure() {
    std::vector<KernelCase> all = cases_;
    if (baseline_) all = tune::joined(all, tune::baseline_cases(cases_, *baseline_));
    for (Measurement& row : tune::measure_kernels(all, measuring_)) {
      const bool is_own = row.kernel_case.backend == measuring_.backend;
      (is_own ? out_.rows : out_.baseline).push_back(std::move(row));
    }
  }

  const JudgeRequest& request_;
  const std::vector<KernelCase>& cases_;
  tune::KernelMeasuring measuring_;
  const std::vector<FoundPlugin>& found_;
  Source source_;
  const OpContract& contract_;
  Folder folder_;
  std::function<void(const Measurement&)> sink_;
  std::optional<tune::Baseline> baseline_;
  std::vector<KernelCase> conformance_;
  Judged out_;
};

}  // namespace

FoundPlugin machinery_of(const std::string& path, const std::vector<FoundPlugin>& found) {
  const Language language = language_of(path);
  if (is_device_language(language)) return plugin_of(found, backend_of(language));
  FoundPlugin host;
  host.description.emplace();
  return host;
}

Judged judge_source(const JudgeRequest& request, const std::vector<KernelCase>& cases,
                    tune::KernelMeasuring measuring, const std::vector<FoundPlugin>& found) {
  return Judging(request, cases, std::move(measuring), found).run();
}

}  // namespace halmark::judge
