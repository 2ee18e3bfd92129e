// send_recv: a ring shift; rank r receives the source of rank (r - 1) mod ranks.
#include "kernels/collective.hpp"

namespace halmark {
namespace {

class SendRecv final : public CollectiveContract {
 public:
  std::string_view name() const override { return "send_recv"; }
  std::string_view summary() const override { return "dst = src of rank (r - 1) mod ranks"; }

  Work work(const Params& p) const override {
    const auto bytes = static_cast<double>(p.at("bytes"));
    return {.bytes_read = bytes,
            .bytes_written = bytes,
            .transfer_bytes = p.at("ranks") > 1 ? bytes : 0,
            .compute_dtype = p.dtype("dtype")};
  }

  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto ranks = static_cast<int>(p.at("ranks"));
    const int source = (rank + ranks - 1) % ranks;
    constexpr std::int64_t block = 4096;
    for_each_row(elements, block, [&](std::int64_t, std::span<const std::size_t> positions) {
      const auto first = elements[positions.front()], last = elements[positions.back()];
      const auto x = read_row(inputs, source, 0, first, last - first + 1);
      for (const auto i : positions) out[i] = {x[static_cast<std::size_t>(elements[i] - first)], 0};
    });
  }
};

}  // namespace

const OpContract& send_recv_contract() {
  static const SendRecv contract;
  return contract;
}

}  // namespace halmark
