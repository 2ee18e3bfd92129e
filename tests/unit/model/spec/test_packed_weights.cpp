// 4-bit weights: what a checkpoint of mxfp4 or nvfp4 weighs, moves and computes in.

#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/training/training.hpp"
#include "plan/precision.hpp"
#include "roofline/estimate.hpp"

namespace halmark {
namespace {

using namespace model_test;

// The kinds that the checkpoint packs in 4 bits; all linears where it states nothing.
Precision packed(const ModelSpec& spec, PackedWeights weights = PackedWeights::as_stated) {
  Precision out = bf16();
  out.packed = weights;
  const bool is_stated = spec.quantization && dtype_bits(spec.quantization->weights) == 4;
  if (!is_stated) out.set_linears(Dtype::f4_e2m1);
  for (const KernelKindRow& row : kernel_kinds) {
    if (is_stated && spec.quantization->packs(row.kind)) out.set(row.kind, Dtype::f4_e2m1);
  }
  return out;
}
OperatorGraph packed_graph(const ModelSpec& spec, const Configuration& configuration,
                           PackedWeights weights = PackedWeights::as_stated) {
  Configuration out = configuration;
  out.precision = packed(spec, weights);
  return graph_of(spec, out);
}

// 8 experts of width 48 in each of 2 layers of width 64.
ModelSpec small(const std::string& quantization) {
  return read_model(R"({"model_type": "qwen3_moe", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "num_experts": 8,
    "num_experts_per_tok": 2, "moe_intermediate_size": 48, "norm_topk_prob": true,
    "vocab_size": 128, "tie_word_embeddings": false, "quantization_config": )" +
                        quantization + "}",
                    "small.json");
}
const std::string mxfp4 = R"({"quant_method": "mxfp4"})";
// As ModelOpt and compressed-tensors write them.
const std::string nvfp4_modelopt = R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
  "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 16},
                                "input_activations": {"num_bits": 4, "group_size": 16}}},
  "ignore": ["lm_head", "model.layers.0.mlp.gate"]})";
const std::string nvfp4_experts = R"({"quant_method": "compressed-tensors",
  "format": "nvfp4-pack-quantized", "ignore": ["lm_head", "re:.*self_attn.*"]})";

// The sum of all tensors of the public checkpoints, `total_size` of their
// model.safetensors.index.json. Gains of norms are kept in f32 here and in bf16 there: 2 bytes of
// each apart, and nothing else.
TEST(PackedWeights, gpt_oss_weighs_what_its_checkpoints_do) {
  struct Checkpoint {
    const char* id;
    std::int64_t layers, bytes;
  };
  for (const auto& [id, layers, bytes] :
       {Checkpoint{"gpt-oss-20b", 24, 13'761'264'768}, {"gpt-oss-120b", 36, 65'248'815'744}}) {
    const std::int64_t gains = (2 * layers + 1) * 2880;
    const MemoryUse use = memory_use(packed_graph(shipped(id), decode(1, 2), PackedWeights::mxfp4));
    EXPECT_EQ(use.largest.weight_bytes, bytes + 2 * gains) << id;
  }
}

TEST(PackedWeights, parameters_and_flops_are_those_of_16_bits) {
  for (const char* id : {"gpt-oss-20b", "gpt-oss-120b"}) {
    const OperatorGraph narrow = packed_graph(shipped(id), decode(4, 64));
    const OperatorGraph wide = graph_of(id, decode(4, 64));
    EXPECT_EQ(narrow.totals.parameters, wide.totals.parameters);
    EXPECT_EQ(narrow.totals.active_parameters, wide.totals.active_parameters);
    EXPECT_EQ(narrow.totals.matmul_flops, wide.totals.matmul_flops);
  }
}

TEST(PackedWeights, mxfp4_has_a_byte_per_32_weights_of_a_row) {
  const OperatorGraph graph = packed_graph(small(mxfp4), decode(1, 2));
  const Operator& up = find_operator(graph, "expert_gate_up");
  const Operator& down = find_operator(graph, "expert_down");
  EXPECT_EQ(up.weight_bytes_whole, 8 * (96 * 64 / 2 + 96 * 2));
  EXPECT_EQ(down.weight_bytes_whole, 8 * (64 * 48 / 2 + 64 * 2));  // the second block is short
  EXPECT_EQ(up.parameters, 8 * 96 * 64);
  EXPECT_EQ(up.dtype, Dtype::f4_e2m1);
  // One token meets two experts: 2 rows of 64 bf16 in, 2 of 96 out, a count per expert.
  EXPECT_DOUBLE_EQ(up.whole_work.constant_bytes, 2 * (96 * 64 / 2 + 96 * 2));
  EXPECT_DOUBLE_EQ(up.whole_work.bytes_read, 2 * (96 * 64 / 2 + 96 * 2) + 2 * 64 * 2 + 8 * 4);
  EXPECT_DOUBLE_EQ(up.whole_work.bytes_written, 2 * 96 * 2);
  EXPECT_EQ(up.whole_work.matmul_flops, 2 * 2 * 96 * 64);
}

TEST(PackedWeights, everything_but_the_experts_of_mxfp4_stays_in_16_bits) {
  const OperatorGraph graph = packed_graph(small(mxfp4), decode(1, 2));
  for (const char* name : {"q_proj", "kv_proj", "o_proj", "router", "lm_head"}) {
    EXPECT_EQ(find_operator(graph, name).dtype, Dtype::bf16) << name;
  }
  EXPECT_FALSE(has_operator(graph, "expert_gate_up_quantize"));
}

TEST(PackedWeights, a_rank_holds_the_blocks_of_its_own_columns) {
  const OperatorGraph graph =
      packed_graph(small(mxfp4), decode(2, 2, {.dp = 1, .tp = 2, .pp = 1, .ep = 1}));
  EXPECT_EQ(find_operator(graph, "expert_gate_up").weight_bytes_local, 8 * (48 * 64 / 2 + 48 * 2));
  EXPECT_EQ(find_operator(graph, "expert_down").weight_bytes_local, 8 * (64 * 24 / 2 + 64 * 1));
}

TEST(PackedWeights, nvfp4_has_a_byte_per_16_weights_and_a_scale_of_the_matrix) {
  const OperatorGraph graph =
      packed_graph(small(nvfp4_experts), decode(1, 2), PackedWeights::nvfp4);
  EXPECT_EQ(find_operator(graph, "expert_gate_up").weight_bytes_whole,
            8 * (96 * 64 / 2 + 96 * 4 + 4));
  EXPECT_EQ(find_operator(graph, "expert_down").weight_bytes_whole, 8 * (64 * 48 / 2 + 64 * 3 + 4));
  EXPECT_EQ(find_operator(graph, "q_proj").dtype, Dtype::bf16);  // the list keeps it
}

TEST(PackedWeights, nvfp4_of_all_linears_quantises_their_inputs_where_it_says_so) {
  const OperatorGraph graph = packed_graph(small(nvfp4_modelopt), decode(1, 2));
  const Operator& q = find_operator(graph, "q_proj");
  EXPECT_EQ(q.local.op, "packed_gemm");
  EXPECT_EQ(q.weight_bytes_whole, 64 * 64 / 2 + 64 * 4 + 4);
  // 64 values of 4 bits and 4 scales in; the weights' scale of the matrix is no traffic.
  EXPECT_DOUBLE_EQ(q.whole_work.bytes_read, 64 * 64 / 2 + 64 * 4 + 32 + 4);
  const Operator& quantize = find_operator(graph, "qkv_quantize");
  EXPECT_DOUBLE_EQ(quantize.whole_work.bytes_written, 32 + 4);
  EXPECT_EQ(find_operator(graph, "lm_head").dtype, Dtype::bf16);
  EXPECT_EQ(find_operator(graph, "router").dtype, Dtype::bf16);
}

TEST(PackedWeights, a_device_without_a_4_bit_peak_multiplies_in_16_bits) {
  Device device{.id = "old",
                .peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e15}},
                .bandwidths = {{.level = "memory", .bytes_per_s = 1e12}}};
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::bf16);
  EXPECT_EQ(shard_peak(device, Dtype::f4_e2m1, {}), 1e15);
  EXPECT_EQ(shard_peak(device, Dtype::f8_e4m3fn, {}), std::nullopt);  // no such rule for others
  const OperatorGraph graph = packed_graph(small(mxfp4), decode(1, 2));
  EXPECT_TRUE(
      roofline_estimate(find_operator(graph, "expert_down").rank_work, device, {}).has_value());

  device.peaks.push_back({.path = "f4_e2m1_matrix", .dtype = Dtype::f4_e2m1, .flops_per_s = 4e15});
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f4_e2m1);
  EXPECT_EQ(shard_peak(device, Dtype::f4_e2m1, {}), 4e15);
}

std::string refusal_of(const ModelSpec& spec, const Precision& precision) {
  const auto refusal = check_configuration(spec, decode(1, 2, {}, precision));
  return refusal ? refusal->reason + ": " + refusal->text : "";
}

TEST(PackedWeights, a_format_that_the_checkpoint_has_not_is_refused) {
  says(refusal_of(tiny_moe(), packed(tiny_moe())),
       "dtype_unsupported: qkv in f4_e2m1: the configuration");
  says(refusal_of(shipped("deepseek-v3"), packed(shipped("deepseek-v3"))),
       "states no 4-bit weights, and the precision names no format");
  Precision integers = packed(small(mxfp4));
  integers.experts = Dtype::s4;
  says(refusal_of(small(mxfp4), integers), "small.json states mxfp4, not s4");
  integers.packed = PackedWeights::nvfp4;
  says(refusal_of(small(mxfp4), integers), "experts in s4: nvfp4 has no such weights");
  Precision kept = packed(small(mxfp4));
  kept.qkv = Dtype::f4_e2m1;
  says(refusal_of(small(mxfp4), kept), "does not pack these linears");
}

// Tensors of checkpoints that ModelOpt wrote of models whose own configuration states something
// else, by type: values two to a byte, and scales. Experts and networks of every token are packed.
TEST(PackedWeights, nvfp4_of_other_checkpoints_is_what_the_published_ones_have) {
  struct Checkpoint {
    const char* id;
    double values, scales;  // bytes
  };
  for (const Checkpoint& c :
       {Checkpoint{"glm-5", 364'143'181'824, 45'517'897'728},  // nvidia/GLM-5-NVFP4
        {"minimax-m2", 112'340'238'336, 14'042'529'792}}) {    // nvidia/MiniMax-M2.5-NVFP4
    const ModelSpec spec = shipped(c.id);
    const Precision p = precision_of("nvfp4", {.has_experts = true});
    ASSERT_EQ(refusal_of(spec, p), "") << c.id;
    const OperatorGraph graph = graph_of(spec, decode(1, 2, {}, p));
    double values = 0, bytes = 0;
    for (const Operator& op : graph.operators) {
      if (op.dtype != Dtype::f4_e2m1) continue;
      values += as_double(op.count * op.parameters) / 2;
      bytes += as_double(op.count * op.weight_bytes_whole);
    }
    EXPECT_EQ(values, c.values) << c.id;
    EXPECT_NEAR(bytes - values, c.scales, 1e-5 * c.scales) << c.id << ": and one per matrix";
    EXPECT_EQ(find_operator(graph, "o_proj").dtype, Dtype::bf16) << c.id;
    ASSERT_FALSE(graph.spec.assumed.empty());
    says(graph.spec.assumed.back(), "in nvfp4, a scale of 8 bits per 16 weights");
  }
  // nvidia/Kimi-K2.5-NVFP4, all files: the vision tower and shared experts of 8 bits are more
  // there.
  const ModelSpec kimi = shipped("kimi-k2.5");
  const Configuration of = decode(1, 2, {}, precision_of("nvfp4", {.has_experts = true}));
  const MemoryUse use = memory_use(graph_of(kimi, of));
  EXPECT_NEAR(as_double(use.largest.weight_bytes), 590'850'735'131, 0.005 * 590.85e9);
}

// Of every model that ships, whatever its configuration states.
TEST(PackedWeights, of_a_recipe_are_of_every_model) {
  std::size_t models = 0;
  for (const ModelListing& model : list_models({model_dir()})) {
    const ModelSpec spec = shipped(model.id);
    const auto wide = as_double(memory_use(graph_of(spec, decode(1, 2))).largest.weight_bytes);
    PrecisionFacts facts{.has_experts = spec.moe.has_value()};
    if (spec.quantization && !spec.quantization->kinds.empty()) {
      facts.packed = spec.quantization->kinds;
      facts.weights = spec.quantization->weights;
      facts.format = spec.quantization->format;
    }
    for (const char* name : {"nvfp4", "mxfp4", "awq", "gptq", "w4a16"}) {
      const Precision p = precision_of(name, facts);
      ASSERT_EQ(refusal_of(spec, p), "") << model.id << ' ' << name;
      const auto narrow =
          as_double(memory_use(graph_of(spec, decode(1, 2, {}, p))).largest.weight_bytes);
      EXPECT_LT(narrow, wide) << model.id << ' ' << name;
      EXPECT_GT(narrow, 0.25 * wide) << model.id << ' ' << name;
    }
    ++models;
  }
  EXPECT_GT(models, 100u);
}

// Bits of a weight with its share of a scale, as the papers and libraries of the formats state
// them.
TEST(PackedWeights, of_a_recipe_have_the_bits_that_are_published) {
  for (const auto& [name, bits] : {std::pair{"nvfp4", 4.5},
                                   {"mxfp4", 4.25},
                                   {"w4a16", 4.125},
                                   {"awq", 4.15625},
                                   {"gptq", 4.15625}}) {
    const ModelSpec spec = shipped("llama-3.1-70b");
    const OperatorGraph graph = graph_of(spec, decode(1, 2, {}, precision_of(name, {})));
    const Operator& up = find_operator(graph, "gate_up_proj");
    EXPECT_NEAR(8.0 * as_double(up.weight_bytes_whole) / as_double(up.parameters), bits, 1e-6)
        << name;
    EXPECT_EQ(has_operator(graph, "qkv_quantize"), std::string(name) == "nvfp4") << name;
  }
}

TEST(PackedWeights, a_block_of_another_size_is_refused) {
  const ModelSpec spec = small(R"({"quant_algo": "NVFP4", "group_size": 32})");
  EXPECT_EQ(spec.quantization, std::nullopt);
  says(spec.unread_quantization, "quantization_config.group_size");
}

TEST(PackedWeights, are_not_trained) {
  const Configuration configuration = {"m", {}, packed(small(mxfp4)), {Phase::training, 1, 8, 8}};
  const auto refusal = check_training(graph_of(small(mxfp4), configuration), {});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->reason, "dtype_unsupported");
}

}  // namespace
}  // namespace halmark
