// Base of the collectives: `bytes` of one rank's source, `ranks`, `dtype`.
#pragma once

#include "kernels/rowwise.hpp"

namespace halmark {

class CollectiveContract : public OpContract {
 public:
  std::span<const ParamSpec> params() const override;
  std::optional<std::string> check_relations(const Params& p) const override;
  std::vector<OperandSpec> operands(const Params& p) const override;
  Params twin(const Params& p) const override;
  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override;
  bool is_collective() const override { return true; }

 protected:
  // Leading dimension of dst; 0 = dst has the shape of src.
  virtual std::int64_t gathered(const Params&) const { return 0; }
  static std::int64_t elements_of(const Params& p);
};

}  // namespace halmark
