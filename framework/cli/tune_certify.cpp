#include "cli/tune_certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>

#include "cli/certify_deployments.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "core/version.hpp"
#include "search/certify/proof.hpp"
#include "search/deployment_front.hpp"

namespace halmark::cli {
namespace {

// Kernels that one campaign measures: its workers start once for all of them, and its rounds lie
// as far apart as the batch is long.
constexpr std::size_t batch_kernels = 16;
constexpr double early_share = 0.25;  // of the exhaustive measuring time: where a gap is printed

// The rows that fold_usable_rounds takes: what the interval rests on.
std::vector<Measurement> rows_behind(const std::vector<Measurement>& rows) {
  std::vector<Measurement> ok, usable, noisy;
  for (const Measurement& m : rows) {
    if (m.status == Status::ok) ok.push_back(m);
    if (has_latency(m.status)) usable.push_back(m);
    if (m.status == Status::invalid && !m.samples.empty()) noisy.push_back(m);
  }
  if (ok.size() >= 2) return ok;
  return usable.empty() ? noisy : usable;
}

// min..max of n process medians misses the median of all processes with 2^(1 - n); from six on the
// interval's ranks are chosen for 95 % (core/statistics.hpp). One process says nothing of others.
KernelEvidence evidence_of(const std::vector<Measurement>& rows) {
  KernelEvidence out;
  for (const Measurement& m : rows) {
    out.rounds.push_back(m.round);
    out.medians.push_back(m.duration_ns_median);
  }
  const auto n = static_cast<int>(out.medians.size());
  out.confidence = n < 6 ? 1 - std::ldexp(1.0, 1 - n) : 0.95;
  return out;
}

// What was measured and kept out because it beats the machine's peak; 0 when nothing was.
double quarantined_ns(const std::vector<Measurement>& rows) {
  double out = 0;
  for (const Measurement& m : rows) {
    if (m.status != Status::quarantined || m.duration_ns_median <= 0) continue;
    out = out == 0 ? m.duration_ns_median : std::min(out, m.duration_ns_median);
  }
  return out;
}

struct AnyTime {
  double share = 0;  // of the predicted measuring time of all kernels
  ProvedGap gap;
};

std::string gap_text(double eps) {
  return std::isfinite(eps) ? fmt::format("{:.1f} %", eps * 100) : "without limit";
}

}  // namespace

struct CertifiedRun::State {
  State(const TunePlan& p, const TuneContext& c, const CertifySettings& s)
      : plan(p),
        context(c),
        settings(s),
        translated(certifiable_deployments(p, *c.machine, s.safety)),
        certifier(translated.problem, {.eps = s.eps, .seed = p.sweep.seed}),
        run(p, c) {
    facts.program = std::string("halmark ") + tool_version;
    facts.plan = p.hash();
    facts.run = run.id();
    facts.evidence.resize(translated.cases.size());
    const auto latency = std::ranges::find(translated.certified, Objective::latency);
    if (latency != translated.certified.end()) {
      facts.run_objective = static_cast<std::int32_t>(latency - translated.certified.begin());
    }
    for (const CertifyKernel& k : translated.problem.kernels) cost_of_all += k.cost;
  }

  void tell(std::int32_t kernel) {
    const auto k = static_cast<std::size_t>(kernel);
    const KernelCase& c = translated.cases[k];
    cost_so_far += translated.problem.kernels[k].cost;
    const std::vector<Measurement> rows = run.source().rows(c);
    for (const Measurement& m : rows) measured_s += m.wall_s;
    const auto latency = run.source().latency(c);
    if (!latency) {
      certifier.tell_failed(kernel, run.source().why_absent(c), quarantined_ns(rows));
      return;
    }
    facts.evidence[k] = evidence_of(rows_behind(rows));
    certifier.tell(kernel, latency->low_ns, latency->high_ns);
  }

  // False when measuring was interrupted: the last kernels have no rows then.
  bool measure(const std::vector<std::int32_t>& kernels) {
    std::vector<KernelCase> cases;
    for (const std::int32_t k : kernels) {
      cases.push_back(translated.cases[static_cast<std::size_t>(k)]);
    }
    run.source().require(cases);
    if (interrupted()) return false;
    for (const std::int32_t k : kernels) tell(k);
    history.push_back({cost_so_far / cost_of_all, certifier.gap()});
    return true;
  }

  // Configurations all of whose kernels are known, and those that failed.
  void evaluate() {
    for (const auto& [combination, configuration] : translated.deployments) {
      bool is_known = true, has_failed = false;
      for (const std::int32_t k : certifier.configurations().kernels(combination)) {
        const KernelStatus status = certifier.kernels()[static_cast<std::size_t>(k)].status;
        is_known &= status != KernelStatus::unmeasured;
        has_failed |= status == KernelStatus::failed;
      }
      if (!is_known && !has_failed) continue;
      check(combination, run.evaluate(configuration));
    }
  }

  // The formulas of the proof must say what the model says, or the proof is of something else.
  void check(std::uint64_t combination, const Evaluation& e) const {
    if (!e.estimate) return;
    std::vector<double> times;
    for (const KernelCase& c : translated.cases) {
      const auto latency = run.source().latency(c);
      times.push_back(latency ? latency->ns : 0);
    }
    const Objectives expected = objective_values(*e.estimate, translated.certified);
    Objectives composed(expected.size());
    certifier.configurations().compose(combination, times, composed);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      if (std::abs(composed[j] - expected[j]) <= 1e-9 * std::abs(expected[j])) continue;
      throw Error(ExitCode::error, "the composition of " + e.configuration.key() +
                                       " is not what its proof would state");
    }
  }

  // Whatever may be on the front is to be confronted with a run, not only what the medians say.
  void add_possible_points(TuneRun& measured) const {
    for (const CertifiedPoint& point : make_certificate(certifier).front) {
      const Configuration& configuration = translated.deployments.at(point.configuration);
      const auto at =
          std::ranges::find(measured.evaluations, configuration, &Evaluation::configuration);
      const auto index = static_cast<std::size_t>(at - measured.evaluations.begin());
      if (at == measured.evaluations.end() || !at->estimate) continue;
      if (std::ranges::find(measured.front, index) != measured.front.end()) continue;
      measured.front.push_back(index);
    }
  }

  const TunePlan& plan;
  const TuneContext& context;
  CertifySettings settings;
  DeploymentProblem translated;
  Certifier certifier;
  MeasuringRun run;
  ProofFacts facts;
  double cost_of_all = 0, cost_so_far = 0, measured_s = 0, wall_s = 0;
  std::vector<AnyTime> history;
};

CertifiedRun::CertifiedRun(const TunePlan& plan, const TuneContext& context,
                           const CertifySettings& settings)
    : state_(std::make_unique<State>(plan, context, settings)) {}

CertifiedRun::~CertifiedRun() = default;

TuneRun CertifiedRun::measure() {
  State& s = *state_;
  const auto begin = std::chrono::steady_clock::now();
  while (!interrupted() && s.measured_s < s.plan.sweep.budget_s) {
    const std::vector<std::int32_t> kernels = s.certifier.ask(batch_kernels);
    if (kernels.empty() || !s.measure(kernels)) break;
  }
  s.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  s.evaluate();
  TuneRun run = s.run.finish();
  s.add_possible_points(run);
  return run;
}

namespace {

std::string kernel_text(const DeploymentProblem& translated, std::int32_t kernel) {
  return kernel < 0 ? "" : translated.cases[static_cast<std::size_t>(kernel)].problem.text();
}

// Where a quarter of the exhaustive measuring time was spent: the last gap before.
std::string early_text(const std::vector<AnyTime>& history, const DeploymentProblem& translated) {
  const AnyTime* at = nullptr;
  for (const AnyTime& h : history) {
    if (h.share <= early_share || at == nullptr) at = &h;
  }
  if (at == nullptr) return "";
  const std::string when =
      fmt::format("  gap after {:.0f} % of the time of all: ", at->share * 100);
  if (at->gap.kernel < 0) return when + "none, proved\n";
  return when + gap_text(at->gap.eps) + ", by the bound of " +
         kernel_text(translated, at->gap.kernel) + '\n';
}

std::map<std::uint64_t, EndToEnd> runs_of(const DeploymentProblem& translated, const TuneRun& run) {
  std::map<std::uint64_t, EndToEnd> out;
  for (const Validation& v : run.validations) {
    if (!has_latency(v.status)) continue;
    for (const auto& [combination, configuration] : translated.deployments) {
      if (configuration.key() != v.deployment_key) continue;
      out[combination] = {v.measured_ns, v.measured_interval_ns};
    }
  }
  return out;
}

void write_proof(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.flush();
  if (!file) throw Error(ExitCode::error, "the proof cannot be written", path);
}

}  // namespace

namespace {

// Everything that the certificate says, once: as text and as JSON.
struct Conclusion {
  Certificate certificate;
  ProvedGap gap;
  std::string open_configuration, open_kernel;  // whose bounds leave the gap
  std::size_t kernels = 0, kernels_measured = 0, alarms = 0, certain = 0;
  double share = 0, measured_s = 0, safety = 1, alpha = 0;
  int rounds = 0;
  bool is_confirmed = false, has_peaks = false;
  std::string early;
  std::vector<Objective> only_reported;
};

std::string text_of(const Conclusion& c) {
  const Certificate& z = c.certificate;
  std::string out = fmt::format("certificate: {}", certificate_state_name(z.state));
  out += z.open > 0 ? ", gap " + gap_text(z.gap) + '\n' : "\n";
  if (z.open > 0) {
    out += fmt::format("  open: {} configurations; the gap is that of {}, by the bound of {}\n",
                       z.open, c.open_configuration, c.open_kernel);
  }
  out += fmt::format(
      "  of {} configurations {} on the front ({} certain), {} dominated, {} failed, {} open\n",
      z.configurations, z.front.size(), c.certain, z.dominated, z.failed, z.open);
  out += fmt::format("  kernels: {} of {} measured in {:.0f} s; {:.0f} % of the time of all\n",
                     c.kernels_measured, c.kernels, c.measured_s, c.share * 100);
  out += c.early;
  out += fmt::format("  bounds: peaks x {}; {} alarms\n", c.safety, c.alarms);
  if (!c.has_peaks) out += "  no peaks are known for this back end: nothing can be discarded\n";
  out += c.alpha < 1
             ? fmt::format("  all intervals hold together with {:.0f} %\n", (1 - c.alpha) * 100)
             : fmt::format("  intervals of {} processes each: no joint confidence\n", c.rounds);
  out += c.is_confirmed ? "  composition: confirmed by a run of each front point\n"
                        : "  composition: not confirmed by runs of each front point "
                          "(--validate=all runs them)\n";
  for (const Objective o : c.only_reported) {
    out += fmt::format("  {}: reported, not certified: it need not grow with a kernel's time\n",
                       objective_name(o));
  }
  return out;
}

Json json_of(const Conclusion& c) {
  const Certificate& z = c.certificate;
  Json out = {{"state", certificate_state_name(z.state)},
              {"gap", optional_number(z.gap)},
              {"configurations", z.configurations},
              {"front", z.front.size()},
              {"certain", c.certain},
              {"dominated", z.dominated},
              {"failed", z.failed},
              {"open", z.open},
              {"kernels", c.kernels},
              {"kernels_measured", c.kernels_measured},
              {"predicted_share", c.share},
              {"measured_s", c.measured_s},
              {"alarms", c.alarms},
              {"alpha", c.alpha},
              {"composition_confirmed", c.is_confirmed}};
  if (z.open > 0) {
    out["open_configuration"] = c.open_configuration;
    out["open_kernel"] = c.open_kernel;
  }
  return out;
}

}  // namespace

CommandResult CertifiedRun::conclude(const TuneRun& run) const {
  const State& s = *state_;
  ProofFacts facts = s.facts;
  facts.runs = runs_of(s.translated, run);
  facts.wall_s = s.wall_s;
  facts.device_s = s.measured_s;
  Conclusion c{.certificate = make_certificate(s.certifier),
               .gap = s.certifier.gap(),
               .kernels = s.translated.cases.size(),
               .kernels_measured = s.certifier.kernels_measured(),
               .alarms = s.certifier.alarms().size(),
               .share = s.cost_so_far / s.cost_of_all,
               .measured_s = s.measured_s,
               .safety = s.settings.safety,
               .alpha = joint_alpha(s.certifier, facts),
               .rounds = s.plan.sweep.measure.rounds,
               .has_peaks = !s.translated.problem.peaks.empty(),
               .early = early_text(s.history, s.translated),
               .only_reported = s.translated.only_reported};
  c.certain = static_cast<std::size_t>(
      std::ranges::count_if(c.certificate.front, &CertifiedPoint::is_certain));
  c.is_confirmed = is_confirmed(c.certificate, facts);
  if (c.certificate.open > 0) {
    c.open_configuration = s.translated.deployments.at(c.gap.configuration).key();
    c.open_kernel = kernel_text(s.translated, c.gap.kernel);
  }
  CommandResult out{.data = json_of(c), .text = text_of(c)};
  if (s.settings.proof.empty()) return out;
  write_proof(s.settings.proof, proof_text(s.certifier, c.certificate, facts));
  out.text += "  proof: " + s.settings.proof + '\n';
  out.data["proof"] = s.settings.proof;
  return out;
}

}  // namespace halmark::cli
