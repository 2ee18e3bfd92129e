// all_gather: every rank receives the sources of all ranks, in rank order. `bytes` is one
// rank's source; the message of nccl-tests is the gathered destination.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class AllGather final : public MovingCollective {
 public:
  AllGather() : MovingCollective("all_gather", "dst[ranks, ...] = src of every rank") {}

 protected:
  double bus_factor(double ranks) const override { return (ranks - 1) / ranks; }
  Exchange exchange() const override { return Exchange::gather; }
  double message_bytes(const Params& p) const override { return product(p, {"ranks", "bytes"}); }
  std::vector<std::int64_t> destination_dims(const Params& p) const override {
    return {p.at("ranks"), elements_of(p)};
  }
  Origin origin(const Params& p, int, std::int64_t element) const override {
    return {static_cast<int>(element / elements_of(p)), element % elements_of(p)};
  }
  std::int64_t row_elements(const Params& p) const override { return elements_of(p); }
};

}  // namespace

const OpContract& all_gather_contract() {
  static const AllGather contract;
  return contract;
}

}  // namespace halmark
