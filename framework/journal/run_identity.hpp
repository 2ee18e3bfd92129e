// Which runs of a database were measured on this machine, as this process may use it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/measured/machine_identity.hpp"
#include "core/measured/measurement.hpp"
#include "journal/store.hpp"

namespace halmark {

// "0-3,8" of "affinity=0-3,8 OMP_NUM_THREADS=...": on which CPUs a row was measured; "" where it
// does not say.
std::string affinity_of(const Measurement& row);

// Whether the run's figures are this machine's: by its fingerprint, or, under an earlier one, where
// every row that says on which CPUs it ran names those of here, and one used them all.
bool is_run_of(const Store& store, std::int64_t run, const MachineIdentity& machine);

// The latest run of this plan on this machine.
std::optional<std::int64_t> find_run(const Store& store, std::string_view plan_hash,
                                     const MachineIdentity& machine);
// Runs of this machine that hold winners, oldest first.
std::vector<std::int64_t> runs_with_winners(const Store& store, const MachineIdentity& machine);

// Whether rows of a run are figures of a device file: equal fingerprints, and under one of an
// earlier version rows on as many CPUs as the file's figures are of.
bool are_rows_of(const Device& device, const std::string& fingerprint,
                 std::span<const Measurement> rows);

}  // namespace halmark
