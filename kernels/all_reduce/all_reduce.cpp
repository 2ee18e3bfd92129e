// all_reduce: every rank receives the sum over ranks.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class AllReduce final : public ReducingCollective {
 public:
  AllReduce() : ReducingCollective("all_reduce", "dst = sum of src over ranks") {}

 protected:
  // A reduce-scatter, then an all-gather: (n - 1) / n of the message each.
  double bus_factor(double ranks) const override { return 2 * (ranks - 1) / ranks; }
  Exchange exchange() const override { return Exchange::reduce; }
};

}  // namespace

const OpContract& all_reduce_contract() {
  static const AllReduce contract;
  return contract;
}

}  // namespace halmark
