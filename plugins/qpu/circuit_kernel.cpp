#include "circuit_kernel.hpp"

#include <algorithm>
#include <bit>

#include "engine.hpp"

namespace hm_qpu {
namespace {

constexpr int block_min = 8;
// Eight vectors and what they need in between fill 16 registers.
constexpr int fusion_default = 3;
constexpr int run_bits = 6;  // of a block, contiguous in memory: 512 bytes of c64

int amplitude_bits(const Params& problem) { return is_single(problem) ? 3 : 4; }

// Half of the second-level cache holds a block: its other half is for what comes and goes.
int block_default(const Device& device, const Params& problem) {
  const auto qubits = static_cast<int>(problem.at("qubits"));
  const auto l2_bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(device.l2_bytes))) - 1;
  const int fitting = std::clamp(l2_bits - 2 - amplitude_bits(problem), block_min, 16);
  // Four blocks per thread, so that none waits for a slow one, where that leaves blocks large.
  const auto shares =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(4 * device.threads - 1)));
  const int shared = std::max(qubits - shares, 12);
  return std::min({fitting, shared, qubits});
}

std::vector<std::int64_t> block_values(const Params& problem) {
  std::vector<std::int64_t> out;
  const std::int64_t qubits = problem.at("qubits");
  for (std::int64_t b = std::min<std::int64_t>(block_min, qubits);
       b <= std::min<std::int64_t>(qubits, 18); ++b) {
    out.push_back(b);
  }
  return out;
}

class Circuitry final : public Prepared {
 public:
  Circuitry(const CircuitKernel& kernel, const Device& device, const Params& problem,
            const PlanShape& shape, bool has_source)
      : kernel_(kernel),
        shape_(shape),
        sizes_{shape.qubits, problem.value_or("depth", 1)},
        has_source_(has_source),
        is_single_(is_single(problem)),
        f32_(shape, device.threads, device.loops().f32),
        f64_(shape, device.threads, device.loops().f64) {}

  void run(void* const* operands) override {
    const std::vector<Pass> passes = plan_passes(shape_, kernel_.circuit(sizes_, operands));
    const std::size_t last = this->operands.size() - 1;
    const void* source = has_source_ ? operands[0] : nullptr;
    if (is_single_) {
      f32_.run(passes, static_cast<const float*>(source), static_cast<float*>(operands[last]));
    } else {
      f64_.run(passes, static_cast<const double*>(source), static_cast<double*>(operands[last]));
    }
  }

 private:
  const CircuitKernel& kernel_;
  PlanShape shape_;
  Sizes sizes_;
  bool has_source_, is_single_;
  Engine<float> f32_;
  Engine<double> f64_;
};

}  // namespace

std::vector<Domain> CircuitKernel::domains(const Device& device, const Params& problem) const {
  return {halmark::plugin::domain::ordered("block", block_values(problem),
                                           block_default(device, problem)),
          halmark::plugin::domain::ordered("fusion", {1, 2, 3, 4}, fusion_default),
          threads_domain(device)};
}

void CircuitKernel::require_support(const Device& device, const Params& problem) const {
  for (const hm_param& param : problem) {
    if (std::ranges::find(params_, std::string_view(param.name)) == params_.end()) {
      unsupported("unknown parameter '" + std::string(param.name) + "'");
    }
  }
  require_states(device, problem, has_source_ ? 2 : 1);
  if (std::ranges::find(params_, "depth") != params_.end()) problem.extent("depth");
}

std::unique_ptr<Prepared> CircuitKernel::prepare(const Device& device, const Params& problem,
                                                 const Params& config) const {
  PlanShape shape{.qubits = static_cast<int>(problem.at("qubits"))};
  shape.block = static_cast<int>(config.value_or("block", block_default(device, problem)));
  shape.fusion = static_cast<int>(config.value_or("fusion", fusion_default));
  shape.low = std::min(run_bits, shape.block);
  Device own = device;
  own.threads = static_cast<int>(config.value_or("threads", device.threads));
  // A block narrower than a vector is computed by the narrow loops.
  const auto lane_bits = [&] {
    return is_single(problem) ? own.loops().f32.lane_bits : own.loops().f64.lane_bits;
  };
  while (own.isa_ceiling > 0 && lane_bits() > shape.block) --own.isa_ceiling;
  auto out = std::make_unique<Circuitry>(*this, own, problem, shape, has_source_);
  out->operands = inputs(problem);
  out->operands.push_back(state_operand("dst", HM_ROLE_OUTPUT, problem));
  const std::string isa = is_single(problem) ? own.loops().f32.isa : own.loops().f64.isa;
  out->info.implementation = "halmark:fused_passes:" + std::string(isa.empty() ? "generic" : isa);
  out->info.isa = isa;
  out->info.flags = HM_PREPARED_ALLOCATES_INSIDE;
  return out;
}

}  // namespace hm_qpu
