// A type per kernel kind: which operators follow which kind, which combinations are refused, and
// what a KV cache of 8 bits holds and moves.

#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/stack/stack.hpp"
#include "model/training/training.hpp"

namespace halmark {
namespace {

using namespace model_test;

Precision with(KernelKind kind, Dtype dtype) {
  Precision out = bf16();
  out.set(kind, dtype);
  return out;
}
Precision cached_in(Dtype dtype) { return with(KernelKind::kv_cache, dtype); }

// Operators of a small mixture of experts with a dense layer's names beside them.
std::vector<std::string> in_f8(const ModelSpec& spec, KernelKind kind) {
  const OperatorGraph graph = graph_of(spec, decode(2, 8, {}, with(kind, Dtype::f8_e4m3fn)));
  std::vector<std::string> out;
  for (const Operator& op : graph.operators) {
    if (op.dtype == Dtype::f8_e4m3fn && op.kind != OperatorKind::quantize) out.push_back(op.name);
  }
  return out;
}

TEST(Kinds, each_linear_follows_its_own) {
  EXPECT_THAT(in_f8(tiny(), KernelKind::qkv), ElementsAre("q_proj", "kv_proj"));
  EXPECT_THAT(in_f8(tiny(), KernelKind::output), ElementsAre("o_proj"));
  EXPECT_THAT(in_f8(tiny(), KernelKind::ffn), ElementsAre("gate_up_proj", "down_proj"));
  EXPECT_THAT(in_f8(tiny(), KernelKind::experts), ElementsAre());
  EXPECT_THAT(in_f8(tiny(), KernelKind::head), ElementsAre("lm_head"));
  EXPECT_THAT(in_f8(tiny_moe(), KernelKind::experts), ElementsAre("expert_gate_up", "expert_down"));
  EXPECT_THAT(in_f8(tiny_moe(), KernelKind::ffn), ElementsAre());
}

TEST(Kinds, only_inputs_of_quantised_linears_are_quantised) {
  const OperatorGraph graph =
      graph_of(tiny(), decode(2, 8, {}, with(KernelKind::output, Dtype::s8)));
  EXPECT_TRUE(has_operator(graph, "o_quantize"));
  EXPECT_TRUE(has_operator(graph, "o_proj_dequantize"));
  for (const char* name : {"qkv_quantize", "gate_up_quantize", "lm_head_quantize"}) {
    EXPECT_FALSE(has_operator(graph, name)) << name;
  }
}

// The parts of latent attention and of a recurrence that have other names.
TEST(Kinds, other_mixers_have_the_same_two) {
  const auto dtype = [](const char* model, KernelKind kind, const char* name) {
    return find_operator(graph_of(model, prefill(1, 8, 8, {}, with(kind, Dtype::f8_e4m3fn))), name)
        .dtype;
  };
  using enum KernelKind;
  for (const char* name : {"q_a_proj", "q_b_proj", "kv_a_proj", "kv_b_proj"}) {
    EXPECT_EQ(dtype("deepseek-v3", qkv, name), Dtype::f8_e4m3fn) << name;
    EXPECT_EQ(dtype("deepseek-v3", output, name), Dtype::bf16) << name;
  }
  for (const auto& [model, kind, name] : {std::tuple{"deepseek-v3", output, "o_proj"},
                                          {"qwen3-next-80b-a3b", qkv, "qkvz_proj"},
                                          {"qwen3-next-80b-a3b", output, "out_proj"},
                                          {"nemotron-h-56b", qkv, "in_proj"},
                                          {"deepseek-v4-flash", output, "o_a_proj"}}) {
    EXPECT_EQ(dtype(model, kind, name), Dtype::f8_e4m3fn) << model << ' ' << name;
  }
}

std::string refusal_in(const ModelSpec& spec, const Precision& precision) {
  return refusal_of(spec, decode(1, 2, {}, precision));
}

TEST(Kinds, a_linear_without_a_conversion_is_refused_by_name) {
  for (const KernelKindRow& row : kernel_kinds) {
    if (!row.is_linear) continue;
    says(refusal_in(tiny_moe(), with(row.kind, Dtype::f16)),
         "dtype_unsupported: " + std::string(row.name) + " in f16: the activations are bf16");
    says(refusal_in(tiny_moe(), with(row.kind, Dtype::f4_e2m1)),
         std::string(row.name) + " in f4_e2m1: the configuration of");
    EXPECT_EQ(refusal_in(tiny_moe(), with(row.kind, Dtype::s8)), "");
  }
  EXPECT_EQ(refusal_in(tiny(), with(KernelKind::experts, Dtype::f16)), "") << "no expert reads it";
}

TEST(Kinds, queries_that_nothing_rotates_stay_what_the_activations_are) {
  EXPECT_EQ(refusal_in(shipped("llama-3.1-8b"), with(KernelKind::attention, Dtype::f32)), "");
  says(refusal_in(shipped("gpt2"), with(KernelKind::attention, Dtype::f32)),
       "attention in f32: gpt2 has layers without rotary embedding");
}

std::int64_t kv_bytes(const char* model, Dtype cache, std::int64_t context) {
  const auto precision = cached_in(cache);
  const MemoryUse use = memory_use(graph_of(model, decode(1, context, {}, precision)));
  EXPECT_EQ(use.kv_bytes_per_token * context, use.largest.kv_bytes) << model;
  return use.largest.kv_bytes;
}

// Llama 3.1 8B: 32 layers of 8 KV heads of width 128, a key and a value each: 131,072 bytes a token
// in 16 bits. In f8 half of it, and nothing per token for scales; in s8 half and 4 bytes for each
// of the 32 x 8 x 2 rows of a token.
TEST(QuantisedCache, llama_3_1_8b_by_hand) {
  constexpr std::int64_t values = 32 * 8 * 128 * 2, rows = 32 * 8 * 2, context = 1000;
  EXPECT_EQ(kv_bytes("llama-3.1-8b", Dtype::bf16, context), 131'072 * context);
  EXPECT_EQ(kv_bytes("llama-3.1-8b", Dtype::f8_e4m3fn, context), values * context);
  EXPECT_EQ(kv_bytes("llama-3.1-8b", Dtype::s8, context), (values + 4 * rows) * context);
}

// DeepSeek-V3: a latent row of 512 + 64 values in each of 61 layers, 70,272 bytes a token in 16
// bits (2412.19437, section 2.1.1).
TEST(QuantisedCache, deepseek_v3_by_hand) {
  EXPECT_EQ(kv_bytes("deepseek-v3", Dtype::bf16, 1000), 70'272'000);
  EXPECT_EQ(kv_bytes("deepseek-v3", Dtype::f8_e4m3fn, 1000), 35'136'000);
  EXPECT_EQ(kv_bytes("deepseek-v3", Dtype::s8, 1000), 61 * (576 + 4) * 1000);
}

TEST(QuantisedCache, a_rank_of_two_keeps_half_of_the_heads) {
  const auto precision = cached_in(Dtype::s8);
  const MemoryUse use = memory_use(graph_of("llama-3.1-8b", decode(3, 100, {.tp = 2}, precision)));
  EXPECT_EQ(use.largest.kv_bytes, 3 * 100 * 32 * 4 * 2 * (128 + 4));
}

// 1 sequence, 32 query and 8 KV heads of width 128, 1,000 keys: queries are 32 x 128 values of 2
// bytes, keys and values 2 x 8 x 1,000 rows.
TEST(QuantisedCache, attention_reads_what_the_cache_holds) {
  const auto read = [](Dtype cache) {
    const OperatorGraph graph = graph_of("llama-3.1-8b", decode(1, 1000, {}, cached_in(cache)));
    const Operator& op = find_operator(graph, "attention");
    EXPECT_EQ(op.dtype, Dtype::bf16) << "products stay in the type of the queries";
    return op.whole_work.bytes_read;
  };
  constexpr double queries = 32 * 128 * 2, rows = 2 * 8 * 1000;
  EXPECT_EQ(read(Dtype::bf16), queries + rows * 128 * 2);
  EXPECT_EQ(read(Dtype::f8_e4m3fn), queries + rows * 128);
  EXPECT_EQ(read(Dtype::s8), queries + rows * (128 + 4));
}

// All attention ops, whatever they call a row: halving the values halves what is read of the cache.
TEST(QuantisedCache, every_kind_of_attention_reads_less) {
  for (const char* model :
       {"mimo-v2-flash", "deepseek-v3", "deepseek-v4-flash", "llama-4-scout-17b-16e"}) {
    const auto cache_read = [&](Dtype cache) {
      const OperatorGraph graph = graph_of(model, decode(1, 20'000, {}, cached_in(cache)));
      double bytes = 0;
      for (const Operator& op : graph.operators) {
        const bool has_cache = op.local.params.find("kv_dtype").has_value();
        if (has_cache) bytes += static_cast<double>(op.count) * op.whole_work.constant_bytes;
      }
      return bytes;
    };
    const double wide = cache_read(Dtype::bf16);
    EXPECT_EQ(cache_read(Dtype::f8_e4m3fn), wide / 2) << model;
    EXPECT_GT(cache_read(Dtype::s8), wide / 2) << model;
    EXPECT_LT(cache_read(Dtype::s8), wide * 0.55) << model;
  }
}

// A key and a value of 2 KV heads of width 4 for each of 2 tokens: 16 bf16 values read of a token,
// 16 bytes and 4 rows of 4 written. A copy of n bytes moves 2 n.
TEST(QuantisedCache, appending_reads_activations_and_writes_the_cache) {
  const auto append = [](Dtype cache) {
    const OperatorGraph graph = graph_of(tiny(), decode(2, 8, {}, cached_in(cache)));
    EXPECT_FALSE(has_operator(graph, "k_rope")) << "rotation does not quantise";
    return find_operator(graph, "kv_append").whole_work.bytes();
  };
  EXPECT_EQ(append(Dtype::f8_e4m3fn), 2 * (16 * 2 + 16));
  EXPECT_EQ(append(Dtype::s8), 2 * (16 * 2 + 16 + 4 * 4));
  EXPECT_EQ(append(Dtype::bf16), 2 * (8 * 2 + 8 * 2)) << "keys are written where they are rotated";
}

TEST(QuantisedCache, context_ranks_exchange_what_is_not_quantised_yet) {
  Configuration d = prefill(1, 8, 8, {.cp = 2}, cached_in(Dtype::f8_e4m3fn));
  const OperatorGraph graph = graph_of(tiny(), d);
  EXPECT_EQ(find_operator(graph, "attention_ring").local.params.dtype("dtype"), Dtype::bf16);
}

TEST(QuantisedCache, is_priced_and_not_measured) {
  for (const Dtype cache : {Dtype::f8_e4m3fn, Dtype::f8_e5m2, Dtype::s8}) {
    const Error error = test::error_of(
        [&] { require_measurable(graph_of(tiny(), decode(1, 8, {}, cached_in(cache)))); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), AllOf(HasSubstr("KV cache of " + std::string(dtype_name(cache))),
                                    HasSubstr("priced, not measured")));
  }
  EXPECT_NO_THROW(require_measurable(graph_of(tiny(), decode(1, 8, {}, cached_in(Dtype::f32)))));
}

TEST(QuantisedCache, of_another_type_has_no_contract) {
  const auto built = build_graph(tiny(), decode(1, 8, {}, cached_in(Dtype::u8)));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.failure.reason, "operator_refused");
}

TEST(QuantisedCache, has_no_place_in_training) {
  Configuration d = training(1, 8);
  d.precision = cached_in(Dtype::f8_e4m3fn);
  const auto refusal = check_training(graph_of(tiny(), d), {});
  ASSERT_TRUE(refusal);
  says(refusal->text, "KV cache");
}

// 8-bit products: queries are converted behind their rotation, and the peak is that of 8 bits.
TEST(NarrowAttention, reads_a_cache_of_its_own_type_in_its_own_products) {
  for (const Dtype narrow : {Dtype::f8_e4m3fn, Dtype::s8}) {
    Precision p = cached_in(narrow);
    const OperatorGraph wide = graph_of("llama-3.1-8b", decode(4, 512, {}, p));
    p.set(KernelKind::attention, narrow);
    const OperatorGraph graph = graph_of("llama-3.1-8b", decode(4, 512, {}, p));
    const Operator &attention = find_operator(graph, "attention"),
                   &in_16_bits = find_operator(wide, "attention");
    EXPECT_EQ(attention.dtype, narrow);
    EXPECT_EQ(in_16_bits.dtype, Dtype::bf16);
    EXPECT_EQ(attention.whole_work.constant_bytes, in_16_bits.whole_work.constant_bytes);
    EXPECT_EQ(attention.whole_work.matmul_flops, in_16_bits.whole_work.matmul_flops);
    EXPECT_EQ(find_operator(graph, "rope").local.params.dtype("dst_dtype"), Dtype::bf16);
    EXPECT_EQ(find_operator(graph, "kv_append").whole_work.bytes(),
              find_operator(wide, "kv_append").whole_work.bytes());
    const double scale = narrow == Dtype::s8 ? 4 : 0;
    EXPECT_EQ(find_operator(graph, "q_quantize").whole_work.bytes(),
              4 * 32 * (128 * 2 + 128 + scale));
    EXPECT_FALSE(has_operator(wide, "q_quantize"));
  }
  says(refusal_in(shipped("llama-3.1-8b"), with(KernelKind::attention, Dtype::s8)),
       "attention in s8: the KV cache is bf16");
}

TEST(FusedProjections, are_one_product_of_the_same_weights) {
  for (const char* id : {"llama-3.1-8b", "qwen3-next-80b-a3b", "qwen2.5-7b"}) {
    ModelSpec spec = shipped(id);
    const OperatorGraph apart = graph_of(spec, decode(4, 512, {.tp = 2}));
    spec.fuses_qkv = true;
    const OperatorGraph fused = graph_of(spec, decode(4, 512, {.tp = 2}));
    const Operator& one = find_operator(fused, "qkv_proj");
    const Operator& q = find_operator(apart, "q_proj");
    const Operator& kv = find_operator(apart, "kv_proj");
    EXPECT_EQ(one.local.params.at("n"), q.local.params.at("n") + kv.local.params.at("n")) << id;
    EXPECT_EQ(one.parameters, q.parameters + kv.parameters) << id;
    EXPECT_EQ(fused.totals.matmul_flops, apart.totals.matmul_flops) << id;
    EXPECT_EQ(fused.totals.parameters, apart.totals.parameters) << id;
    EXPECT_FALSE(has_operator(fused, "kv_proj")) << id;
  }
}

}  // namespace
}  // namespace halmark
