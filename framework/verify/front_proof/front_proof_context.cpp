// Nothing here reads a number of the proof but to compare it: every expected figure is made from a
// kernel's key, the device record or the model's configuration.
#include "verify/front_proof/front_proof_context.hpp"

#include <set>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "verify/front_proof/front_proof_bounds.hpp"
#include "verify/front_proof/front_proof_key.hpp"

namespace halmark::front_proof {
namespace {

bool has_context(const Proof& proof) { return missing_record(proof).empty(); }

// Peaks may have been raised by alarms: a chain of them begins at what the device record has.
std::vector<double> first_peaks(const Proof& proof) {
  std::vector<double> out = mapped(proof.peaks, &Peak::value);
  std::vector<bool> is_seen(out.size(), false);
  for (const Alarm& a : proof.alarms) {
    if (a.peak >= out.size() || is_seen[a.peak]) continue;
    is_seen[a.peak] = true;
    out[a.peak] = a.peak_before;
  }
  return out;
}

void check_term(const Proof& proof, const Kernel& k, const Term& stated, double per_s,
                const ExpectedTerm& expected) {
  const Peak& peak = proof.peaks[stated.peak];
  if (peak.id != expected.peak || peak.counts_operations != expected.counts_operations) {
    throw Broken(k.line,
                 "a term is of peak '" + peak.id + "', where '" + expected.peak + "' bounds it");
  }
  if (stated.amount != expected.amount) {
    throw Broken(k.line, "a term's amount is not what its contract and the caches leave of '" +
                             peak.id + "'");
  }
  const char* unit = expected.counts_operations ? "FLOP/s" : "bytes/s";
  if (per_s != expected.per_s || peak.source != expected.source || peak.unit != unit) {
    throw Broken(1, "peak '" + peak.id + "' is not that of the device record");
  }
}

}  // namespace

std::string missing_record(const Proof& proof) {
  if (!proof.device) return "no device record";
  if (!proof.plan) return "no plan record";
  if (!proof.model) return "no model record";
  return proof.target ? "" : "no target record";
}

void check_contracts(const Proof& proof) {
  for (const Kernel& k : proof.kernels) {
    const auto kernel_case = read_kernel_key(k.key);
    if (!kernel_case) {
      if (has_context(proof)) throw Broken(k.line, "the key names no kernel case");
      continue;
    }
    Work work;
    try {
      work = contract_work(*kernel_case);
    } catch (const Error& e) {
      if (!has_context(proof)) continue;
      throw Broken(k.line, "the contract of its op refuses it: " + e.line());
    }
    if (work.matmul_flops != k.operations || work.bytes() != k.bytes) {
      throw Broken(k.line, "operations or bytes are not those of the contract of '" +
                               kernel_case->problem.op + "'");
    }
  }
}

void check_bounds(const Proof& proof, const DeviceReader& read_device) {
  const DeviceRecord& stated = *proof.device;
  if (proof.target->cores < 0 || proof.target->memory_bytes < 1) {
    throw Broken(proof.target->line, "no target has these cores and this memory");
  }
  if (proof.time_units_per_s != 1e9) throw Broken(1, "times of kernels are not in ns");
  if (stated.threads != (stated.text.empty() ? 0 : proof.target->cores)) {
    throw Broken(stated.line, "the device record is of another number of cores than the target");
  }
  Device device;
  if (!stated.text.empty()) {
    try {
      device = read_device(stated.text);
    } catch (const Error& e) {
      throw Broken(stated.line, "the device record cannot be read: " + e.line());
    }
    if (device.ring_plateau_bytes != proof.target->ring_plateau_bytes) {
      throw Broken(proof.target->line, "the plateau of rings is not that of the device record");
    }
  }
  const std::vector<double> peaks = first_peaks(proof);
  std::set<std::size_t> named;
  for (const Kernel& k : proof.kernels) {
    const KernelCase kernel_case = *read_kernel_key(k.key);
    std::vector<ExpectedTerm> expected;
    if (!stated.text.empty()) {
      expected = expected_terms(device, stated.threads, kernel_case, contract_work(kernel_case));
    }
    if (expected.size() != k.terms.size()) {
      throw Broken(k.line,
                   "the device record has " + std::to_string(expected.size()) + " ceilings for it");
    }
    for (const auto i : indices(expected)) {
      check_term(proof, k, k.terms[i], peaks[k.terms[i].peak], expected[i]);
      named.insert(k.terms[i].peak);
    }
  }
  if (named.size() != proof.peaks.size()) throw Broken(1, "a peak bounds no kernel");
}

}  // namespace halmark::front_proof
