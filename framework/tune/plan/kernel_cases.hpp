// Kernels without a sweep around them: the cases that a user names by op, parameters and dtypes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "tune/plan/plan.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {

struct CaseRequest {
  std::string op, params, kernel;  // params: plan/param_grid.hpp; kernel: "" = the plugin's choice
  std::vector<std::string> dtypes;
  std::string backend = "cpu", device = "0", mode = "rotate_const";
  int parts = 1, shards = 1, sets = 4;
};

// What a request leaves out that names an op alone, or it and types: a usual problem, and f32 or
// the first type that the op has. Returns the options that say so; "" where nothing was left out.
// Throws Error (exit 2) for no op, or an unknown one.
std::string take_usual(CaseRequest& request);

// One per dtype and point of the parameters. Throws Error (exit 2) for an unknown op, parameter or
// dtype.
std::vector<KernelCase> kernel_cases(const CaseRequest& request);

// The same on each kind of these places: as many shards at once as lie on one device, alone where
// they lie on devices that differ.
std::vector<KernelCase> kernel_cases(const CaseRequest& request, std::span<const ShardPlace> on);

// Those of [[nightly.kernel]] or [[nightly.sentinel]] on the sweep's device, each once.
std::vector<KernelCase> night_cases(const Sweep& sweep, const std::vector<AskedKernels>& asked);

// A problem as one of the kernels of a step, on the whole device: its constants rotate through as
// many sets as the step's `constant_bytes` would fill, within the ring of the target. In the step
// the other kernels move that memory.
KernelCase executed_case(const Problem& problem, double constant_bytes, const Target& target);

// Kernels of a plan by problem and place, of `op` or of all ops but collectives: variants are
// compared once, whatever the ring. Throws Error (exit 2) when there are none.
std::vector<KernelCase> variant_questions(const TunePlan& plan, const std::string& op);

}  // namespace halmark::tune
