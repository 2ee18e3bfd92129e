// index_score: the lightning indexer of DeepSeek-V3.2 and V4: light heads score every visible
// entry, a ReLU-weighted sum over heads ranks them, and the top_k best are chosen. An entry stands
// for `ratio` tokens.
#include "core/numeric/cast.hpp"
#include "kernels/compressed_pairs.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    priced_size("batch", "sequences"),
    priced_size("heads", "index heads"),
    priced_size("dim", "width of an index head"),
    priced_size("new_tokens", "queries per sequence"),
    priced_size("context", "tokens up to the last query"),
    {.name = "ratio", .high = size_max, .fallback = 1, .meaning = "tokens of an entry"},
    priced_size("top_k", "entries chosen per query"),
    priced_dtype("q_dtype", "of q"),
    priced_dtype("k_dtype", "of the entries' keys"),
};

constexpr double sum_flops = 2;     // ReLU and multiply-add with the head's weight, per score
constexpr double select_flops = 1;  // one comparison per entry

class IndexScore final : public PricedContract {
 public:
  IndexScore()
      : PricedContract(
            "index_score",
            "chosen[batch,new_tokens,top_k] of sum over heads of weight relu(q k^T), causal",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (p.at("new_tokens") <= p.at("context")) return std::nullopt;
    return "context counts the new tokens too; got " + p.text();
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto batch = p.at("batch"), heads = p.at("heads"), queries = p.at("new_tokens");
    const auto dim = p.at("dim"), entries = compressed_entries(p.at("context"), p.at("ratio"));
    return {
        {.name = "q",
         .role = Role::input,
         .dtype = p.dtype("q_dtype"),
         .dims = {batch, queries, heads, dim}},
        {.name = "weight",
         .role = Role::input,
         .dtype = Dtype::f32,
         .dims = {batch, queries, heads}},
        {.name = "k",
         .role = Role::state,
         .dtype = p.dtype("k_dtype"),
         .dims = {batch, entries, dim}},
        {.name = "chosen",
         .role = Role::output,
         .dtype = Dtype::s32,
         .dims = {batch, queries, p.at("top_k")}},
    };
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    const double pairs = as_double(p.at("batch")) *
                         compressed_pairs(p.at("new_tokens"), p.at("context"), p.at("ratio"), 0);
    const auto heads = as_double(p.at("heads"));
    work.matmul_flops = 2 * heads * as_double(p.at("dim")) * pairs;
    work.vector_flops = (sum_flops * heads + select_flops) * pairs;
    work.compute_dtype = p.dtype("q_dtype");
  }
};

}  // namespace

const OpContract& index_score_contract() {
  static const IndexScore contract;
  return contract;
}

}  // namespace halmark
