// The half of `bench` that compares: every variant of a problem, ties as ties, the winner stored.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/console/command.hpp"
#include "cli/console/session.hpp"
#include "tune/search/variants.hpp"

namespace halmark::cli {

// "all", or kernels as "gemm_onednn" and "gemm_onednn:packed=0+threads=2"; none of them is left
// out. Throws Error (exit 2) for what is not of this form or names no kernel of these ops.
std::vector<VariantFilter> variant_filters(const std::vector<std::string>& texts,
                                           const FoundPlugin& plugin,
                                           std::span<const KernelCase> questions);

// Asks the plugin. `is_searched`: a sampler chooses, so that every combination may be listed.
// Throws Error (exit 5) when it supports none of the questions.
std::vector<VariantSet> variants_of(std::span<const KernelCase> questions,
                                    const std::vector<VariantFilter>& filters,
                                    const FoundPlugin& plugin, bool is_searched);

// One table per problem, fastest first, and the winners as data.
struct VariantResult {
  std::vector<Winner> winners;
  std::string text;
  Json problems = Json::array();
};
VariantResult compare_variants(std::span<const VariantSet> sets, std::span<const Measurement> rows,
                               const LocalMachine& machine);

}  // namespace halmark::cli
