// What a certificate says for people and for programs, and the proof behind it.
#include "tune/certify/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"

namespace halmark::tune {
namespace {

constexpr double early_share = 0.25;  // of the exhaustive measuring time: where a gap is printed

std::string gap_text(double eps) {
  return std::isfinite(eps) ? fmt::format("{:.1f} %", eps * 100) : "without limit";
}

std::string kernel_text(const StepsToCertify& translated, std::int32_t kernel) {
  return kernel < 0 ? "" : translated.cases[as_size(kernel)].problem.text();
}

// Where a quarter of the exhaustive measuring time was spent: the last gap before.
std::string early_text(const std::span<const ProvedSoFar>& history,
                       const StepsToCertify& translated) {
  const ProvedSoFar* at = nullptr;
  for (const ProvedSoFar& h : history) {
    if (h.share <= early_share || at == nullptr) at = &h;
  }
  if (at == nullptr) return "";
  const std::string when =
      fmt::format("  gap after {:.0f} % of the time of all: ", at->share * 100);
  if (at->gap.kernel < 0) return when + "none, proved\n";
  return when + gap_text(at->gap.eps) + ", by the bound of " +
         kernel_text(translated, at->gap.kernel) + '\n';
}

std::map<std::uint64_t, EndToEnd> runs_of(const StepsToCertify& translated,
                                          std::span<const Validation> validations) {
  std::map<std::uint64_t, EndToEnd> out;
  for (const Validation& v : validations) {
    if (!has_latency(v.status) || v.is_oversubscribed) continue;
    for (const auto& [combination, configuration] : translated.configurations) {
      if (configuration.key() != v.deployment_key) continue;
      // Formulas are of a stream of steps, which hides what a pipeline's step alone shows.
      if (configuration.parallel.pp > 1) continue;
      out[combination] = {v.measured_ns, v.measured_interval_ns};
    }
  }
  return out;
}

// Everything that the certificate says, once: as text and as JSON.
struct Conclusion {
  Certificate certificate;
  ProvedGap gap;
  std::string open_configuration, open_kernel;  // whose bounds leave the gap
  std::size_t kernels = 0, kernels_measured = 0, alarms = 0, certain = 0;
  double share = 0, measured_s = 0, budget_s = 0, safety = 1, alpha = 0;
  int rounds = 0;
  bool is_confirmed = false, has_peaks = false, is_budget_spent = false;
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
  if (z.open > 0 && c.is_budget_spent) {
    out += fmt::format(
        "  stopped: budget_s = {:g} of measuring is spent; the sweep may state more\n", c.budget_s);
  }
  out += fmt::format(
      "  of {} configurations {} on the certified front ({} certain), {} dominated, {} failed, {} "
      "open\n",
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
    out["budget_spent"] = c.is_budget_spent;
    out["open_configuration"] = c.open_configuration;
    out["open_kernel"] = c.open_kernel;
  }
  return out;
}

Conclusion concluded(const CertifyChooser& chooser, ProofFacts& facts, int rounds) {
  const Certifier& certifier = chooser.certifier();
  const StepsToCertify& steps = chooser.steps();
  Conclusion c{.certificate = make_certificate(certifier),
               .gap = certifier.gap(),
               .kernels = steps.cases.size(),
               .kernels_measured = certifier.kernels_measured(),
               .alarms = certifier.alarms().size(),
               .share = chooser.cost_share(),
               .measured_s = chooser.measured_s(),
               .budget_s = chooser.budget_s(),
               .safety = chooser.settings().safety,
               .alpha = joint_alpha(certifier, facts),
               .rounds = rounds,
               .has_peaks = !steps.problem.peaks.empty(),
               .is_budget_spent = chooser.is_budget_spent(),
               .early = early_text(chooser.history(), steps),
               .only_reported = steps.only_reported};
  c.certain = as_size(std::ranges::count_if(c.certificate.front, &CertifiedPoint::is_certain));
  c.is_confirmed = is_confirmed(c.certificate, facts);
  if (c.certificate.open > 0) {
    c.open_configuration = steps.configurations.at(c.gap.configuration).key();
    c.open_kernel = kernel_text(steps, c.gap.kernel);
  }
  return c;
}

}  // namespace

CertificateReport conclude(const CertifyChooser& chooser, std::int64_t run, int rounds,
                           std::span<const Validation> validations) {
  ProofFacts facts = chooser.facts();
  facts.run = run;
  facts.runs = runs_of(chooser.steps(), validations);
  const Conclusion c = concluded(chooser, facts, rounds);
  CertificateReport out{.data = json_of(c), .text = text_of(c)};
  const std::string& path = chooser.settings().proof;
  if (path.empty()) return out;
  write_whole_file(proof_text(chooser.certifier(), c.certificate, facts), path);
  out.text += "  proof: " + path + '\n';
  out.data["proof"] = path;
  return out;
}

}  // namespace halmark::tune
