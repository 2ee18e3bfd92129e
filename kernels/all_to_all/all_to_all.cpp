// all_to_all: block i of rank r goes to rank i, as block r there. `bytes` is a whole source, with
// the block that stays.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class AllToAll final : public MovingCollective {
 public:
  AllToAll()
      : MovingCollective("all_to_all", "dst[r] = block (rank) of src[ranks, ...] of rank r") {}

 protected:
  double bus_factor(double ranks) const override { return (ranks - 1) / ranks; }
  Exchange exchange() const override { return Exchange::personal; }
  bool is_source_split() const override { return true; }
  Origin origin(const Params& p, int rank, std::int64_t element) const override {
    const auto block = block_elements_of(p);
    return {static_cast<int>(element / block), rank * block + element % block};
  }
  std::int64_t row_elements(const Params& p) const override { return block_elements_of(p); }
};

}  // namespace

const OpContract& all_to_all_contract() {
  static const AllToAll contract;
  return contract;
}

}  // namespace halmark
