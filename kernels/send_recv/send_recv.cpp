// send_recv: a ring shift; rank r receives the source of rank (r - 1) mod ranks.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class SendRecv final : public MovingCollective {
 public:
  SendRecv() : MovingCollective("send_recv", "dst = src of rank (r - 1) mod ranks") {}

 protected:
  double bus_factor(double) const override { return 1; }
  Exchange exchange() const override { return Exchange::shift; }
  Origin origin(const Params& p, int rank, std::int64_t element) const override {
    const auto ranks = static_cast<int>(p.at("ranks"));
    return {(rank + ranks - 1) % ranks, element};
  }
};

}  // namespace

const OpContract& send_recv_contract() {
  static const SendRecv contract;
  return contract;
}

}  // namespace halmark
