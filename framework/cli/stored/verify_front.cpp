// halmark verify-front: a proof of a front, recomputed.

#include "cli/console/command.hpp"
#include "core/input/file_kind.hpp"
#include "plan/device/device_file.hpp"
#include "verify/front_proof/front_proof_text.hpp"

namespace halmark::cli {
namespace {

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

}  // namespace

Action add_verify_front(OptionSet& app) {
  const auto proof = app.add<std::string>("proof", "What halmark tune --proof wrote").required();
  const auto journal =
      app.add<std::string>("--journal", "Results database whose rows it must follow from");
  return [=](const GlobalOptions&) {
    const FrontProofCheck check = check_front_proof(
        read_kind(*proof, proof_input, "proof"),
        {.journal = *journal,
         .read_device = [](std::string_view text) { return parse_device(text, "device record"); }});
    return CommandResult{.exit_code = exit_code_of(check.verdict),
                         .data = front_proof_json(check, *proof),
                         .text = front_proof_text(check, *proof)};
  };
}

}  // namespace halmark::cli
