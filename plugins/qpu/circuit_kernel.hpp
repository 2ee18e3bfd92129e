// A kernel of an op that is a circuit: domains of blocks and fusion, plan, execution.
#pragma once

#include <string>

#include "kernel.hpp"

namespace hm_qpu {

struct Sizes {
  int qubits = 0;
  std::int64_t depth = 1;
};

class CircuitKernel : public Kernel {
 public:
  CircuitKernel(std::string op, std::vector<std::string_view> params, bool has_source)
      : op_(std::move(op)),
        name_(op_ + "_fused"),
        params_(std::move(params)),
        has_source_(has_source) {}
  std::string_view name() const override { return name_; }
  std::string_view op() const override { return op_; }
  std::vector<Domain> domains(const Device&, const Params& problem) const override;
  void require_support(const Device&, const Params& problem) const override;
  std::unique_ptr<Prepared> prepare(const Device&, const Params& problem,
                                    const Params& config) const override;

  // Of one execution; `operands` in contract order.
  virtual Circuit circuit(const Sizes& sizes, void* const* operands) const = 0;
  // With a source, it is operand 0.
  virtual std::vector<Operand> inputs(const Params& problem) const = 0;

 private:
  std::string op_, name_;
  std::vector<std::string_view> params_;
  bool has_source_;
};

}  // namespace hm_qpu
