// all_reduce: every rank receives the sum over ranks.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class AllReduce final : public CollectiveContract {
 public:
  std::string_view name() const override { return "all_reduce"; }
  std::string_view summary() const override { return "dst = sum of src over ranks"; }

  // One rank sends 2 (n - 1) / n of its bytes (reduce-scatter, then all-gather) and adds (n - 1) /
  // n of its elements: the least that any algorithm without reduction in the network can do.
  Work work(const Params& p) const override {
    const auto bytes = static_cast<double>(p.at("bytes")), n = static_cast<double>(p.at("ranks"));
    return {.vector_flops = static_cast<double>(elements_of(p)) * (n - 1) / n,
            .bytes_read = bytes,
            .bytes_written = bytes,
            .transfer_bytes = 2 * bytes * (n - 1) / n,
            .compute_dtype = p.dtype("dtype")};
  }

  // Partial sums travel in the dtype itself, so every one of the n - 1 additions may round to it.
  void reference(const Params& p, const InputReader& inputs, int, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto ranks = static_cast<int>(p.at("ranks"));
    const auto dtype = p.dtype("dtype");
    constexpr std::int64_t block = 4096;
    for_each_row(elements, block, [&](std::int64_t, std::span<const std::size_t> positions) {
      const auto first = elements[positions.front()], last = elements[positions.back()];
      const auto count = static_cast<std::size_t>(last - first + 1);
      std::vector<double> sum(count), magnitude(count);
      for (int r = 0; r < ranks; ++r) {
        const auto x = read_row(inputs, r, 0, first, last - first + 1);
        for (std::size_t i = 0; i < count; ++i) {
          sum[i] += x[i];
          magnitude[i] += std::fabs(x[i]);
        }
      }
      for (const auto i : positions) {
        const auto at = static_cast<std::size_t>(elements[i] - first);
        out[i] = {.value = sum[at],
                  .tolerance = (ranks - 1) * unit_roundoff(dtype) * magnitude[at]};
      }
    });
  }
};

}  // namespace

const OpContract& all_reduce_contract() {
  static const AllReduce contract;
  return contract;
}

}  // namespace halmark
