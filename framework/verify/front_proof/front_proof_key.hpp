// A kernel's key read back: the case that it names, and what its contract says that costs.
#pragma once

#include <optional>
#include <string>

#include "core/kernel_case.hpp"
#include "core/work.hpp"

namespace halmark::front_proof {

// The case whose key() is `key`; nothing for another text. `kernel` then holds kernel and config as
// they are written.
std::optional<KernelCase> read_kernel_key(const std::string& key);

// The same question, whichever kernel answers it.
KernelCase without_choice(KernelCase kernel_case);

// Operations and bytes of one execution. Throws Error (exit 2) for an unknown op, and for
// parameters that its contract refuses.
Work contract_work(const KernelCase& kernel_case);

}  // namespace halmark::front_proof
