// Staging in the order of its costs: create, constants, first call, each timed by itself, because a
// user pays them once and a row states them apart from the steady time.
#include "worker/staging/staged_kernel.hpp"

#include "core/lists.hpp"
#include "worker/request_failed.hpp"
#include "worker/staging/staged_constants.hpp"

namespace halmark::worker {
namespace {

const protocol::Stage& reported(const protocol::Stage& request, const ReportPhase& report) {
  report("create");
  return request;
}

}  // namespace

StagedKernel::StagedKernel(DeviceContext& context, const protocol::Stage& request,
                           const ReportPhase& report)
    : context_(context),
      problem_(complete_problem(request.problem)),
      work_(find_contract(problem_.op)->work(problem_.params)),
      prepared_(context, reported(request, report), problem_),
      ring_(context, prepared_, problem_, request) {
  describe(request);
  ring_.fill_inputs();
  if (ring_.has(Role::constant)) {
    const StagedConstants constants = load_constants(context, prepared_, ring_, request, report);
    staged_.constants_shared = constants.shared;
    staged_.witness = constants.witness;
    staged_.one_time.pack_ns = constants.pack_ns;
  }
  ring_.poison_outputs();
  check_ = std::make_unique<RevealCheck>(ring_);
  first_call(report);
}

void StagedKernel::describe(const protocol::Stage& request) {
  const PreparedInfo& info = prepared_.info();
  staged_.id = request.id;
  staged_.kernel = prepared_.kernel();
  staged_.implementation = info.implementation;
  staged_.one_time.create_ns = prepared_.create_ns();
  staged_.workspace_bytes = as_int64(info.workspace_bytes);
  staged_.constant_bytes = as_int64(info.constant_bytes);
  staged_.nondeterministic = prepared_.has(HM_PREPARED_NONDETERMINISTIC);
  staged_.constants_opaque = prepared_.has(HM_PREPARED_CONSTANTS_OPAQUE);
  staged_.sets = ring_.sets();
  staged_.memory = ring_.memory();
}

void StagedKernel::first_call(const ReportPhase& report) {
  report("first");
  const double begin_ns = context_.clock.wall_ns();
  check(run(0, 1), "first");
  staged_.one_time.first_ns = context_.clock.wall_ns() - begin_ns;
}

PluginError StagedKernel::enqueue(int first_set, std::int64_t repeat) noexcept {
  if (!prepared_.is_one_per_set()) {
    return prepared_.of(0).enqueue(context_.stream, ring_.launch(first_set, repeat));
  }
  // Constants compiled in: each set has a prepared of its own.
  hm_launch launch = ring_.launch(0, 1);
  const hm_arguments* arguments = launch.sets;
  launch.set_count = 1;
  for (const std::int64_t i : below(repeat)) {
    const int set = as_int((first_set + i) % ring_.sets());
    launch.sets = arguments + set;
    PluginError error = prepared_.of(set).enqueue(context_.stream, launch);
    if (!error.ok()) return error;
  }
  return {};
}

PluginError StagedKernel::run(int first_set, std::int64_t repeat) noexcept {
  PluginError error = enqueue(first_set, repeat);
  if (!error.ok()) return error;
  return context_.stream.wait();
}

PluginError StagedKernel::run_on(int set, const hm_arguments& arguments) noexcept {
  PluginError error = prepared_.of(set).enqueue(context_.stream, ring_.launch_on(arguments));
  if (!error.ok()) return error;
  return context_.stream.wait();
}

}  // namespace halmark::worker
