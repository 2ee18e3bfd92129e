// short_convolution: a causal convolution over the last `kernel` tokens, channel by channel, in
// front of a recurrence. It keeps the kernel - 1 tokens before the step as state.
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("new_tokens", "tokens per sequence"),
    priced_size("channels", "values per token, each convolved by itself"),
    {.name = "kernel", .low = 2, .high = 1024, .meaning = "tokens that a result sees"},
    {.name = "has_bias",
     .kind = ParamKind::flag,
     .low = 0,
     .high = 1,
     .fallback = 0,
     .meaning = "adds a value per channel"},
    priced_dtype("dtype", "of all operands"),
};

class ShortConvolution final : public PricedContract {
 public:
  ShortConvolution()
      : PricedContract(
            "short_convolution",
            "dst[batch,new_tokens,channels] = silu(sum over j of src[token - j] wei[channel,j])",
            specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), tokens = p.at("new_tokens");
    const auto channels = p.at("channels"), kernel = p.at("kernel");
    const Dtype dtype = p.dtype("dtype");
    std::vector<OperandSpec> out = {
        {.name = "src", .role = Role::input, .dtype = dtype, .dims = {batch, tokens, channels}},
        {.name = "wei", .role = Role::constant, .dtype = dtype, .dims = {channels, kernel}},
        {.name = "last_tokens",
         .role = Role::in_out,
         .dtype = dtype,
         .dims = {batch, channels, kernel - 1}},
        {.name = "dst", .role = Role::output, .dtype = dtype, .dims = {batch, tokens, channels}}};
    if (p.at("has_bias") != 0) {
      out.push_back({.name = "bias", .role = Role::constant, .dtype = dtype, .dims = {channels}});
    }
    return out;
  }

 protected:
  // No matrix product: every channel has its own few weights.
  void add_flops(const Params& p, Work& work) const override {
    work.vector_flops = product(p, {"batch", "new_tokens", "channels", "kernel"}, 2);
    work.compute_dtype = p.dtype("dtype");
  }
};

}  // namespace

const OpContract& short_convolution_contract() {
  static const ShortConvolution contract;
  return contract;
}

}  // namespace halmark
