// The proof file: JSON lines from which somebody else can recompute every step of a certificate.
// Format: results/schema/front_proof.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json.hpp"
#include "search/certify/certificate.hpp"

namespace halmark {

inline constexpr int front_proof_version = 2;

// Where a kernel's interval is from.
struct KernelEvidence {
  double confidence = 1;        // of the interval; 1 = a deterministic source
  std::vector<int> rounds;      // rows of the run: (kernel key, round)
  std::vector<double> medians;  // of each of them
};

// A configuration of the front run whole, beside what was composed.
struct EndToEnd {
  double value = 0;
  Interval interval;
};

struct ProofFacts {
  std::string program;   // that wrote it: "halmark 0.1"
  std::string plan;      // SHA-256 of the plan
  std::int64_t run = 0;  // of the journal; 0 = none
  // What the proof is about, as records of these kinds behind the header: nothing here knows what
  // they mean.
  std::vector<std::pair<std::string, Json>> context;
  // Whether formulas are what is meant, or a model of it that runs have to confirm.
  bool is_definition = false;
  std::vector<KernelEvidence> evidence;    // by kernel; empty = all deterministic
  std::map<std::uint64_t, EndToEnd> runs;  // of objective `run_objective`, by configuration
  std::int32_t run_objective = -1;         // -1 = runs say nothing about any objective
  double wall_s = 0, device_s = 0;
};

// Whether every point of the front was run, and overlapped its composed interval.
bool is_confirmed(const Certificate& certificate, const ProofFacts& facts);

// Probability by which some interval may miss, all kernels together (union bound), at most 1.
double joint_alpha(const Certifier& certifier, const ProofFacts& facts);

std::string proof_text(const Certifier& certifier, const Certificate& certificate,
                       const ProofFacts& facts);

}  // namespace halmark
