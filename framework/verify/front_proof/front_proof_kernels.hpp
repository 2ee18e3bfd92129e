// What a front proof says of kernels: bounds from peaks, alarms, intervals from rows.
#pragma once

#include <string>

#include "verify/front_proof/front_proof_records.hpp"

namespace halmark::front_proof {

// Every bound from its operations, bytes and peaks; every interval above its bound and, where
// medians are given, equal to what they fold to; the joint alpha. Throws Broken.
void check_kernels(const Proof& proof);

// Every alarm: a measurement that its bound forbade, and a peak that covers it afterwards.
void check_alarms(const Proof& proof);

// Plan, device record, intervals, medians, failures and runs from the proof's run of the journal;
// what has a time there is not called unmeasured. Throws Unreadable for missing rows.
// `known` tells whose run a run is.
void check_rows(const Proof& proof, const KnownSpace& known, const std::string& journal);

}  // namespace halmark::front_proof
