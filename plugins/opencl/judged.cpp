// The kernel that a copy of this plugin's file carries behind its end: `run` over the operands and
// the sizes, as the source of it says.
#include <halmark_judged.hpp>

#include "kernel.hpp"

namespace hm_opencl {
namespace {

namespace judged = plug::judged;

constexpr const char* options = "-cl-std=CL1.2";

class PreparedJudged : public Prepared {
 public:
  PreparedJudged(OpenedDevice& device, const judged::Problem& problem) {
    operands = problem.operands;
    implementation = "judged " + judged::carried().source;
    cl::Program& program = device.program(judged::carried().code, options);
    try {
      launch_.kernel = cl::Kernel(program, "run");
    } catch (const cl::Error&) {
      throw plug::failure(HM_COMPILE_FAILED,
                          judged::carried().source + ": it has no entry `__kernel void run`");
    }
    translated([&] { set_sizes(problem); });
    launch_.global = range(problem.global);
    launch_.local = range(problem.local);
  }

  void enqueue(cl::CommandQueue& queue, Buffers buffers, cl::Event* event) override {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      launch_.kernel.setArg(static_cast<cl_uint>(i), memory_of(buffers[i]));
    }
    launch_.enqueue(queue, event);
  }

 private:
  void set_sizes(const judged::Problem& problem) {
    auto index = static_cast<cl_uint>(operands.size());
    for (const std::int64_t size : problem.sizes) {
      launch_.kernel.setArg(index++, static_cast<cl_long>(size));
    }
  }

  static cl::NDRange range(const std::vector<std::uint64_t>& sizes) {
    switch (sizes.size()) {
      case 1:
        return cl::NDRange(sizes[0]);
      case 2:
        return cl::NDRange(sizes[0], sizes[1]);
      case 3:
        return cl::NDRange(sizes[0], sizes[1], sizes[2]);
      default:
        return cl::NullRange;
    }
  }

  Launch launch_;
};

class Judged : public Kernel {
 public:
  std::string_view name() const override { return judged::carried().kernel; }
  std::string_view op() const override { return judged::carried().op; }
  std::vector<plug::Domain> domains(const Limits&, plug::Params) const override { return {}; }

  void require_support(const Limits& limits, plug::Params problem, plug::Params) const override {
    const judged::Problem& known = judged::carried().at(problem);
    std::uint64_t items = 1;
    for (const std::uint64_t size : known.local) items *= size;
    if (items > limits.work_group_items) {
      unsupported("a work-group of " + std::to_string(items) + " items; this device has " +
                  std::to_string(limits.work_group_items));
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params) const override {
    return std::make_unique<PreparedJudged>(device, judged::carried().at(problem));
  }
};

}  // namespace

const Kernel& judged_kernel() {
  static const Judged kernel;
  return kernel;
}

}  // namespace hm_opencl
