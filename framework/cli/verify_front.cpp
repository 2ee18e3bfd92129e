// halmark verify-front: a proof of a front, recomputed.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/console/command.hpp"
#include "verify/front_proof.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string proof, journal;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  if (!file) throw refused("the proof cannot be read", path);
  return std::move(out).str();
}

ExitCode exit_code_of(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::holds:
      return ExitCode::ok;
    case ProofVerdict::conditional:
      return ExitCode::partial;
    case ProofVerdict::broken:
      return ExitCode::gate_failed;
    case ProofVerdict::unreadable:
      return ExitCode::refused;
  }
  return ExitCode::error;
}

std::string text_of(const FrontProofCheck& check, const std::string& path) {
  std::string out = path;
  if (check.line > 0) out += fmt::format(":{}", check.line);
  out += fmt::format(": the proof {}", proof_verdict_name(check.verdict));
  if (!check.reason.empty()) out += ": " + printable(check.reason);
  out += '\n';
  if (check.verdict == ProofVerdict::broken || check.verdict == ProofVerdict::unreadable) {
    return out;
  }
  out += fmt::format(
      "  {} configurations in {} boxes: {} evaluated, {} dominated, {} failed, {} open\n"
      "  front: {} points, {} certain; kernels: {} of {} measured; {} alarms\n",
      check.configurations, check.leaves, check.evaluated, check.dominated, check.failed,
      check.open, check.front, check.certain, check.kernels_measured, check.kernels, check.alarms);
  if (check.open > 0) {
    out += std::isfinite(check.gap) ? fmt::format("  gap {:.2f} %\n", check.gap * 100)
                                    : "  gap without limit: a front has nothing evaluated\n";
  }
  if (check.stated_exclusions > 0) {
    out += fmt::format("  {} combinations are left out by rules that it states, not shows\n",
                       check.stated_exclusions);
  }
  out += check.rows_compared ? "  intervals follow from the rows of the journal\n"
                             : "  intervals are taken as stated; --journal compares the rows\n";
  return out;
}

CommandResult execute(const GlobalOptions&, const Options& options) {
  const FrontProofCheck check = check_front_proof(bytes_of(options.proof), options.journal);
  CommandResult out{.exit_code = exit_code_of(check.verdict),
                    .text = text_of(check, options.proof)};
  out.data = {{"path", options.proof},
              {"verdict", proof_verdict_name(check.verdict)},
              {"line", check.line},
              {"reason", check.reason},
              {"configurations", check.configurations},
              {"evaluated", check.evaluated},
              {"dominated", check.dominated},
              {"failed", check.failed},
              {"open", check.open},
              {"leaves", check.leaves},
              {"front", check.front},
              {"certain", check.certain},
              {"kernels", check.kernels},
              {"kernels_measured", check.kernels_measured},
              {"alarms", check.alarms},
              {"stated_exclusions", check.stated_exclusions},
              {"gap", optional_number(check.gap)},
              {"alpha", check.alpha},
              {"rows_compared", check.rows_compared}};
  return out;
}

}  // namespace

Action add_verify_front(OptionSet& app) {
  auto o = std::make_shared<Options>();
  app.add_option("proof", o->proof, "What halmark tune --proof wrote")->required();
  app.add_option("--journal", o->journal, "Results database whose rows it must follow from");
  return [o](const GlobalOptions& options) { return execute(options, *o); };
}

}  // namespace halmark::cli
