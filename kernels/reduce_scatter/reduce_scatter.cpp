// reduce_scatter: rank r receives block r of the sum over ranks. `bytes` is a whole source, all
// blocks.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class ReduceScatter final : public ReducingCollective {
 public:
  ReduceScatter()
      : ReducingCollective("reduce_scatter",
                           "dst = block (rank) of the sum of src[ranks, ...] over ranks") {}

 protected:
  double bus_factor(double ranks) const override { return (ranks - 1) / ranks; }
  Exchange exchange() const override { return Exchange::gather; }
  bool is_source_split() const override { return true; }
  std::vector<std::int64_t> destination_dims(const Params& p) const override {
    return {block_elements_of(p)};
  }
  std::int64_t first_element(const Params& p, int rank) const override {
    return rank * block_elements_of(p);
  }
};

}  // namespace

const OpContract& reduce_scatter_contract() {
  static const ReduceScatter contract;
  return contract;
}

}  // namespace halmark
