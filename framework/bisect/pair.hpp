// One pair: the good revision and another, measured one after the other in one time span, so that
// what the machine does hits both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bisect/shell.hpp"
#include "core/kernel_case.hpp"
#include "core/result.hpp"
#include "tune/evaluate/agreement/duets.hpp"

namespace halmark::bisect {

struct PairFailure {
  std::string reason;
  bool is_of_good = false;
};
// ln(figure of `folder` / figure of `good`); `pair` counts those of the search, from 0.
using MeasurePair = std::function<Result<double, PairFailure>(
    const std::string& good, const std::string& folder, std::size_t pair)>;

// The command in both folders, once each; which goes first alternates. Its figure is the last match
// in its output, the first group where it has one; without an expression the last number. Throws
// Error (exit 2) for what is no expression.
MeasurePair pairs_of_command(const std::string& command, const std::string& expression,
                             const ShellLimits& limits);

// The kernels with the plugin that lies at `path` in both folders, a pair of processes each: the
// mean over the kernels. `comparison` has all but the sides.
MeasurePair pairs_of_plugin(std::vector<KernelCase> cases, const std::string& path,
                            const tune::LiveComparison& comparison, bool allow_insecure);

}  // namespace halmark::bisect
