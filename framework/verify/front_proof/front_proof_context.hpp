// What a proof is about: the plan, the device, the model and the target that it states, and all
// that follows from them. Contracts of ops and graphs of models are those of the prover; the
// arithmetic of bounds, the space and its configurations are the checker's own.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/device.hpp"
#include "verify/front_proof/front_proof_records.hpp"
#include "verify/front_proof/front_proof_space.hpp"

namespace halmark::front_proof {

// Reads a device file's text; throws Error for one that is none.
using DeviceReader = std::function<Device(std::string_view)>;

// The first record of {plan, device, model, target} that is missing, as "no device record"; empty
// where all are there. Such a proof can hold in itself, and nothing more is decided by it.
std::string missing_record(const Proof& proof);

// Operations and bytes of every kernel whose key names a case of a known op. Of a proof with its
// context every key has to. Throws Broken.
void check_contracts(const Proof& proof);

// Terms of every kernel and values of peaks, from the device record. Throws Broken.
void check_bounds(const Proof& proof, const DeviceReader& read_device);

// The space is the plan's, and of every combination: whether it is a configuration, and its
// formulas, as the graph of the model's configuration has them. Throws Broken.
KnownSpace check_graphs(const Proof& proof, const ProofSpace& space);

}  // namespace halmark::front_proof
