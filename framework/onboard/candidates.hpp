// Kernels of steps of the known models: those that may be measured for a forecast, and those that
// are kept back to judge it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/kernel_case.hpp"
#include "tune/plan/target.hpp"

namespace halmark::onboard {

struct Candidate {
  KernelCase kernel;
  std::string family;  // "gemm bf16", "attention decode bf16"
  double share = 0;    // of the steps that were asked about, by their bounds: of one each the part
  double seconds = 0;  // of measuring it once, as predicted
};

// A step of a model that is kept back, executed whole at the end.
struct HeldStep {
  std::string model;
  Configuration configuration;
  double seconds = 0;  // of measuring it, as predicted
};

struct Candidates {
  std::vector<Candidate> fitted, held_out;  // fewest of a family: those that the seed draws
  std::size_t floors =
      0;  // of `fitted`, the first ones: with hardly any work, for what a launch takes
  std::vector<HeldStep> steps;
  std::vector<std::string> held_models;
};

struct CandidateQuestion {
  const tune::Target& target;
  std::set<std::string, std::less<>> ops;  // that the backend has
  std::vector<std::string> dtypes;         // names of precisions
  bool has_bf16 = true;
  std::vector<std::filesystem::path> models;
  std::uint64_t seed = 1;
};

// A fifth of the models is kept back, drawn by the seed: products of a shape (n, k) that one of
// them has are never fitted, and their steps have other batches and lengths than those that are.
// Two of them, and one with experts, that this device holds are to be executed. Models that cannot
// be read are left out. Throws Error (exit 2) for an unknown precision, (exit 5) where no kernel is
// left.
Candidates candidates_of(const CandidateQuestion& question);

}  // namespace halmark::onboard
