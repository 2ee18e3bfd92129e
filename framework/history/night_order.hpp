// What the next night measures first: a pure fold over the nights before.
#pragma once

#include <span>
#include <vector>

#include "core/kernel_case.hpp"
#include "journal/store.hpp"

namespace halmark::history {

// Nights that are looked back at.
inline constexpr std::size_t nights_of_order = 30;

// First what was never measured, then what moved in its last night (the next one confirms it or
// not), then what was unseen for longest, and of these what scattered most between its processes.
// `before`: the run of the night itself, which is not looked at.
std::vector<KernelCase> night_order(std::span<const KernelCase> kernels, const Store& store,
                                    const std::string& fingerprint, std::int64_t before);

// Of kernels that the run has measured and no pair of its builds has decided: first those whose
// code has changed most likely (suspicion_of), weighed by their time and by how many pairs an
// answer still needs; last those that have nothing sound to compare. Kernels without a time in the
// run are left out.
std::vector<KernelCase> moved_first(std::span<const KernelCase> kernels, const Store& store,
                                    const std::string& fingerprint, std::int64_t run);

// Those that no pair of the build of the night before this run has decided.
std::vector<KernelCase> undecided(std::span<const KernelCase> kernels, const Store& store,
                                  const std::string& fingerprint, std::int64_t run);

}  // namespace halmark::history
