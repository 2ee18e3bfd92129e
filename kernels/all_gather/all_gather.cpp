// all_gather: every rank receives the sources of all ranks, in rank order.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class AllGather final : public CollectiveContract {
 public:
  std::string_view name() const override { return "all_gather"; }
  std::string_view summary() const override { return "dst[ranks, ...] = src of every rank"; }

  Work work(const Params& p) const override {
    const auto bytes = static_cast<double>(p.at("bytes")), n = static_cast<double>(p.at("ranks"));
    return {.bytes_read = bytes,
            .bytes_written = n * bytes,
            .transfer_bytes = (n - 1) * bytes,
            .compute_dtype = p.dtype("dtype")};
  }

  void reference(const Params& p, const InputReader& inputs, int, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto count = elements_of(p);
    for_each_row(elements, count, [&](std::int64_t source, std::span<const std::size_t> positions) {
      const auto first = elements[positions.front()], last = elements[positions.back()];
      const auto x =
          read_row(inputs, static_cast<int>(source), 0, first - source * count, last - first + 1);
      for (const auto i : positions) out[i] = {x[static_cast<std::size_t>(elements[i] - first)], 0};
    });
  }

 protected:
  std::int64_t gathered(const Params& p) const override { return p.at("ranks"); }
};

}  // namespace

const OpContract& all_gather_contract() {
  static const AllGather contract;
  return contract;
}

}  // namespace halmark
