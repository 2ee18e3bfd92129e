// broadcast: every rank, the first included, receives the source of rank 0.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class Broadcast final : public MovingCollective {
 public:
  Broadcast() : MovingCollective("broadcast", "dst = src of rank 0") {}

 protected:
  double bus_factor(double) const override { return 1; }
  Exchange exchange() const override { return Exchange::copy; }
  Origin origin(const Params&, int, std::int64_t element) const override { return {0, element}; }
};

}  // namespace

const OpContract& broadcast_contract() {
  static const Broadcast contract;
  return contract;
}

}  // namespace halmark
