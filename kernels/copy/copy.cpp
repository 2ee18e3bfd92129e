// copy: dst = src, byte for byte. Its rate is the memory bandwidth that decode is judged by.
#include "core/numeric/cast.hpp"
#include "kernels/rows.hpp"

namespace halmark {
namespace {

constexpr std::array<ParamSpec, 1> specs{
    {{.name = "bytes", .high = std::int64_t{1} << 40, .meaning = "size of src and of dst"}}};

class Copy final : public NamedContract {
 public:
  Copy() : NamedContract("copy", "dst[bytes] = src[bytes]", specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto bytes = p.at("bytes");
    return {{.name = "src",
             .role = Role::input,
             .dtype = Dtype::u8,
             .dims = {bytes},
             .distribution = Distribution::indices,
             .index_bound = 256},
            {.name = "dst", .role = Role::output, .dtype = Dtype::u8, .dims = {bytes}}};
  }

  Work work(const Params& p) const override {
    const auto bytes = as_double(p.at("bytes"));
    return {.bytes_read = bytes, .bytes_written = bytes, .compute_dtype = Dtype::u8};
  }

  void reference(const Params&, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    constexpr std::int64_t block = 4096;  // an arbitrary "row", so that runs are read at once
    for_each_row(elements, block, [&](std::int64_t, std::span<const std::size_t> positions) {
      const auto first = elements[positions.front()], last = elements[positions.back()];
      const auto run = read_row(inputs, rank, 0, first, last - first + 1);
      for (const auto i : positions) {
        out[i] = {.value = run[as_size(elements[i] - first)], .tolerance = 0};
      }
    });
  }

  Params twin(const Params& p) const override {
    return {{"bytes", std::min<std::int64_t>(p.at("bytes"), 65537)}};
  }

  std::vector<Params> conformance_params(std::span<const Dtype>) const override {
    std::vector<Params> cases;
    for (const std::int64_t bytes : {1, 63, 64, 65, 4099, 65536, 1000003}) {
      cases.push_back({{"bytes", bytes}});
    }
    return cases;
  }
};

}  // namespace

const OpContract& copy_contract() {
  static const Copy contract;
  return contract;
}

}  // namespace halmark
