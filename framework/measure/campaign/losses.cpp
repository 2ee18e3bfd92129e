// A kernel that loses its workers would cost every case of it a start and a limit; so does a hang.
#include "measure/campaign/losses.hpp"

#include "core/lists.hpp"
#include "measure/campaign/gate/retry.hpp"

namespace halmark {
namespace {

constexpr int losses_max = 3;

std::string loss_key(const KernelCase& kernel_case) {
  return kernel_case.problem.op + " " + kernel_case.kernel + " " + kernel_case.config.text() +
         " on " + device_key(kernel_case);
}

}  // namespace

std::string device_key(const KernelCase& kernel_case) {
  return kernel_case.backend + ":" + kernel_case.device;
}

bool is_of_device(const std::string& phase) {
  return phase == "start" || phase == "hello" || phase == "load" || phase == "open" ||
         phase == "token" || phase == "join";
}

void Losses::note(const Measurement& row) {
  note_hang(row);
  InARow& seen = in_a_row_[loss_key(row.kernel_case)];
  const bool is_one = is_loss(row.status);
  seen.losses = is_one ? seen.losses + 1 : 0;
  if (is_one) seen.last_reason = row.reason;
}

void Losses::note_hang(const Measurement& row) {
  if (row.status != Status::timed_out) return;
  const KernelCase& c = row.kernel_case;
  hangs().emplace(is_of_device(row.phase) ? device_key(c) : c.key(),
                  "not tried again: hung in " + row.phase + " in round " +
                      std::to_string(row.round) + ": " + row.reason);
}

std::string Losses::why_not(const KernelCase& kernel_case) const {
  const auto* seen = find_value(in_a_row_, loss_key(kernel_case));
  if (seen && seen->losses >= losses_max) {
    return "disabled after " + std::to_string(losses_max) +
           " lost workers in a row: " + seen->last_reason;
  }
  return why_hung(kernel_case);
}

std::string Losses::why_hung(const KernelCase& kernel_case) const {
  for (const std::string& key : {kernel_case.key(), device_key(kernel_case)}) {
    if (const auto hang = hangs().find(key); hang != hangs().end()) return hang->second;
  }
  return {};
}

}  // namespace halmark
