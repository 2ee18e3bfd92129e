// halmark verify-front: a proof of a front, recomputed.
#include <memory>

#include "cli/console/command.hpp"
#include "core/input/input_file.hpp"
#include "plan/device/device_file.hpp"
#include "verify/front_proof/front_proof_text.hpp"

namespace halmark::cli {
namespace {

struct VerifyFrontOptions {
  std::string proof, journal;
};

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

CommandResult execute(const GlobalOptions&, const VerifyFrontOptions& options) {
  const FrontProofCheck check = check_front_proof(
      read_input(options.proof, proof_input),
      {.journal = options.journal,
       .read_device = [](std::string_view text) { return parse_device(text, "device record"); }});
  CommandResult out{.exit_code = exit_code_of(check.verdict),
                    .text = front_proof_text(check, options.proof)};
  out.data = front_proof_json(check, options.proof);
  return out;
}

}  // namespace

Action add_verify_front(OptionSet& app) {
  auto o = std::make_shared<VerifyFrontOptions>();
  app.add_option("proof", o->proof, "What halmark tune --proof wrote")->required();
  app.add_option("--journal", o->journal, "Results database whose rows it must follow from");
  return [o](const GlobalOptions& options) { return execute(options, *o); };
}

}  // namespace halmark::cli
