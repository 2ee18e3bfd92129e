// Only the first `prepare` is timed as creation and only it joins ranks: further ones exist because
// some devices compile constants in, and no collective has constants.
#include "worker/staging/prepared_kernels.hpp"

#include "worker/request_failed.hpp"

namespace halmark::worker {

PreparedKernels::PreparedKernels(DeviceContext& context, const protocol::Stage& request,
                                 const Problem& problem)
    : context_(context),
      problem_(problem),
      choice_(choose_kernel(context, request.kernel, problem, request.config)),
      is_collective_(choice_.communicator != nullptr && problem.params.value_or("ranks", 1) > 1) {
  const double begin_ns = context.clock.wall_ns();
  prepared_.push_back(prepare(choice_.communicator));
  create_ns_ = context.clock.wall_ns() - begin_ns;
  info_ = take(prepared_.front().info(), "create");
}

PreparedKernel PreparedKernels::prepare(const Communicator* communicator) {
  const Config* config = choice_.config.params.empty() ? nullptr : &choice_.config;
  return take(context_.device.prepare(choice_.index, problem_, config, communicator), "create");
}

void PreparedKernels::add() { prepared_.push_back(prepare(nullptr)); }

OperandInfo PreparedKernels::operand(std::uint32_t index) {
  return take(prepared_.front().operand(index), "create");
}

}  // namespace halmark::worker
