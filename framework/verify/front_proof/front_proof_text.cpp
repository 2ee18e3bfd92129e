// What a person or a program reads of a recomputed proof.
#include "verify/front_proof/front_proof_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/json/json.hpp"
#include "core/text/clean_text.hpp"

namespace halmark {
namespace {

// What the verdict rests on, and what it takes on trust.
std::string grounds_of(const FrontProofCheck& check) {
  if (!check.undecided.empty()) {
    return "  not decided, it has " + check.undecided +
           ": operations, bytes, peaks and formulas are taken as stated\n" +
           (check.rows_compared ? "  intervals follow from the rows of the journal\n"
                                : "  intervals are taken as stated; --journal compares the rows\n");
  }
  return std::string(
             "  operations and bytes follow from the contracts, bounds from its device record, "
             "formulas from its model's graph\n"
             "  contracts and graph are shared with the program that wrote it; "
             "tests/verify_front_proof.py has its own\n") +
         (check.rows_compared
              ? "  plan, device record, intervals and runs are those of the journal\n"
              : "  plan, device record, intervals and runs are taken as stated; --journal compares "
                "them\n");
}

}  // namespace

std::string front_proof_text(const FrontProofCheck& check, const std::string& path) {
  std::string out = path;
  if (check.line > 0) out += fmt::format(":{}", check.line);
  out += fmt::format(": the proof {}", proof_verdict_name(check.verdict));
  if (!check.reason.empty()) out += ": " + message_text(check.reason);
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
  return out + grounds_of(check);
}

Json front_proof_json(const FrontProofCheck& check, const std::string& path) {
  return {{"path", path},
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
          {"rows_compared", check.rows_compared},
          {"undecided", check.undecided}};
}

}  // namespace halmark
