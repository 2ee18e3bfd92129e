// quantization_config as public checkpoints write it: what their weights weigh, which linears and
// which cache they state, and what is refused instead of being priced as 16 bits.
#include "core/numeric/cast.hpp"
#include "model/spec/quantization.hpp"

#include <unistd.h>

#include <ctime>
#include <fstream>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/spec/kept_modules.hpp"
#include "model/spec/model_document.hpp"
#include "plan/precision.hpp"

namespace halmark {
namespace {

using namespace model_test;

using enum KernelKind;

// A shipped model with the quantization_config of a checkpoint of it.
ModelSpec with(const char* id, const std::string& quantization) {
  const Json shipped = read_json_file((model_dir() / (std::string(id) + ".json")).string());
  Json config = shipped.at("config");
  config["quantization_config"] = parse_json(quantization, "quantization_config");
  return read_model(dump_json(config), std::string(id) + "-quantized");
}

PrecisionFacts facts(const ModelSpec& spec) {
  PrecisionFacts out{.stored = spec.stored_dtype, .unread = spec.unread_quantization};
  if (!spec.quantization) return out;
  const Quantization& q = *spec.quantization;
  out.kv_cache = q.kv_cache;
  if (q.kinds.empty()) return out;
  out.packed = q.kinds;
  out.weights = q.weights;
  out.format = q.format;
  out.quantizes_inputs = q.quantizes_inputs;
  return out;
}

Precision stated(const ModelSpec& spec) { return precision_of("checkpoint", facts(spec)); }

std::int64_t weight_bytes(const ModelSpec& spec) {
  const Configuration c = decode(1, 2, {}, stated(spec));
  return memory_use(graph_of(spec, c)).largest.weight_bytes;
}

// What is not read is refused where the checkpoint's own precision is asked for, and not before.
std::string refusal(const char* id, const std::string& quantization) {
  const ModelSpec spec = with(id, quantization);
  const Error error = test::error_of([&] { (void)stated(spec); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_NO_THROW((void)precision_of("fp8", facts(spec)));
  return error.line();
}

const char* const awq = R"({"quant_method": "awq", "bits": 4, "group_size": 128,
  "zero_point": true, "version": "gemm", "modules_to_not_convert": null})";
const char* const fp8_modelopt = R"({"quant_method": "modelopt", "quant_algo": "FP8",
  "kv_cache_scheme": {"dynamic": false, "num_bits": 8, "type": "float"}, "ignore": ["lm_head"]})";
const char* const nvfp4_modelopt = R"({"config_groups": {"group_0": {"input_activations":
  {"dynamic": false, "num_bits": 4, "type": "float", "group_size": 16}, "weights":
  {"dynamic": false, "num_bits": 4, "type": "float", "group_size": 16}}}, "ignore": ["lm_head"],
  "quant_algo": "NVFP4", "kv_cache_scheme": {"dynamic": false, "num_bits": 8, "type": "float"},
  "producer": {"name": "modelopt", "version": "0.37.0"}, "quant_method": "modelopt"})";

// Sizes of the files as the pages of the checkpoints print them. GPTQ has an index per input beside
// them (desc_act), NF4 a second level of scales: 0.1 % each.
TEST(Quantization, checkpoints_weigh_what_their_files_do) {
  struct Checkpoint {
    const char* id;
    std::string quantization;
    double gigabytes;
  };
  const auto gptq = [](int bits, int group) {
    return R"({"quant_method": "gptq", "bits": )" + std::to_string(bits) + R"(, "group_size": )" +
           std::to_string(group) + R"(, "sym": true, "desc_act": true})";
  };
  const std::string nf4 = R"({"quant_method": "bitsandbytes", "load_in_4bit": true,
    "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true})";
  const std::string fp8 = R"({"quant_method": "compressed-tensors", "format": "float-quantized",
    "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float",
    "strategy": "tensor"}, "input_activations": {"num_bits": 8, "type": "float"}}},
    "ignore": ["lm_head"]})";
  for (const Checkpoint& c :
       {Checkpoint{"llama-2-7b", gptq(4, 128), 3.90},  // TheBloke/Llama-2-7B-GPTQ
        {"llama-2-7b", gptq(4, 64), 4.02},
        {"llama-2-7b", gptq(4, 32), 4.28},
        {"llama-2-7b", awq, 3.89},       // TheBloke/Llama-2-7B-AWQ
        {"llama-2-7b", nf4, 3.87},       // unsloth/llama-2-7b-bnb-4bit
        {"llama-3.1-8b", awq, 5.73},     // hugging-quants, AWQ-INT4
        {"llama-3.1-8b", fp8, 9.08}}) {  // RedHatAI, FP8
    const auto bytes = as_double(weight_bytes(with(c.id, c.quantization)));
    EXPECT_NEAR(bytes / 1e9, c.gigabytes, 0.003 * c.gigabytes) << c.id << ' ' << c.quantization;
  }
}

// The same files where the configuration is that of the model itself: the recipe's defaults.
TEST(Quantization, recipes_by_name_weigh_what_their_files_do) {
  struct Checkpoint {
    const char *id, *recipe;
    double gigabytes;
  };
  for (const Checkpoint& c : {Checkpoint{"llama-2-7b", "gptq", 3.90},
                              {"llama-2-7b", "awq", 3.89},
                              {"llama-3.1-8b", "awq", 5.73}}) {
    const ModelSpec spec = shipped(c.id);
    const Configuration of = decode(1, 2, {}, precision_of(c.recipe, {}));
    ASSERT_EQ(check_configuration(spec, of), std::nullopt);
    const auto bytes = as_double(memory_use(graph_of(spec, of)).largest.weight_bytes);
    EXPECT_NEAR(bytes / 1e9, c.gigabytes, 0.003 * c.gigabytes) << c.id << ' ' << c.recipe;
  }
}

// 594 GB, as the page of Kimi-K2-Thinking prints it: experts of 4 bits in groups of 32, the rest
// in 16.
TEST(Quantization, a_shipped_model_is_priced_as_it_is_stored) {
  const ModelSpec kimi = shipped("kimi-k2.5");
  EXPECT_THAT(kimi.quantization->kinds, ElementsAre(experts));
  EXPECT_EQ(stated(kimi).name, "w4a16");
  EXPECT_NEAR(as_double(weight_bytes(kimi)) / 1e9, 594, 2);
}

TEST(Quantization, packed_linears_meet_inputs_of_16_bits_and_read_their_zero_points) {
  const ModelSpec spec = with("llama-2-7b", awq);
  EXPECT_THAT(spec.quantization->kinds, ElementsAre(qkv, output, ffn));
  const Precision p = stated(spec);
  EXPECT_EQ(p.name, "awq");
  const OperatorGraph graph = graph_of(spec, decode(4, 64, {}, p));
  const Operator& up = find_operator(graph, "gate_up_proj");
  EXPECT_EQ(up.local.op, "packed_gemm");
  EXPECT_EQ(up.dtype, Dtype::bf16) << "no device multiplies 4-bit integers by bf16";
  const double weights = 22016.0 * 4096;
  EXPECT_DOUBLE_EQ(up.whole_work.constant_bytes, weights / 2 + weights / 128 * 20 / 8);
  EXPECT_EQ(find_operator(graph, "lm_head").local.op, "gemm");
  EXPECT_FALSE(has_operator(graph, "qkv_quantize"));
  EXPECT_EQ(precision_of("w4a16", facts(spec)).packed, PackedWeights::weights_only);
  Precision floats = p;
  floats.set(KernelKind::ffn, Dtype::f4_e2m1);
  const auto other = check_configuration(spec, decode(1, 2, {}, floats));
  ASSERT_TRUE(other);
  says(other->text, "awq has no such weights");
}

TEST(Quantization, the_cache_is_the_one_that_the_checkpoint_states) {
  struct Case {
    std::string quantization;
    const char* name;
    Dtype cache;
  };
  for (const Case& c :
       {Case{fp8_modelopt, "fp8", Dtype::f8_e4m3fn},
        {nvfp4_modelopt, "nvfp4", Dtype::f8_e4m3fn},
        {R"({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "INT8",
             "exclude_modules": ["lm_head"]}, "quant_method": "modelopt"})",
         "fp8", Dtype::s8},
        {R"({"quant_method": "fp8", "activation_scheme": "static", "kv_cache_scheme": "static",
             "ignored_layers": ["lm_head"]})",
         "fp8", Dtype::f8_e4m3fn},
        {R"({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0})", "fp8", Dtype::bf16},
        {R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups":
             {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int",
             "strategy": "group", "group_size": 128, "symmetric": true},
             "input_activations": null}}, "ignore": ["lm_head"], "kv_cache_scheme": null})",
         "w4a16", Dtype::bf16},
        {R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3",
             "qscheme": "per_tensor"}, "input_tensors": {"dtype": "fp8_e4m3"}}, "exclude":
             ["lm_head"], "kv_cache_quant_config": {"*k_proj": {"output_tensors":
             {"dtype": "fp8_e4m3"}}}})",
         "fp8", Dtype::f8_e4m3fn}}) {
    const ModelSpec spec = with("llama-3.1-8b", c.quantization);
    const Precision p = stated(spec);
    EXPECT_EQ(p.name.substr(0, p.name.find('+')), c.name) << c.quantization;
    EXPECT_EQ(p.kv_cache, c.cache) << c.quantization;
    EXPECT_EQ(p.head, Dtype::bf16) << c.quantization;
    EXPECT_EQ(p.attention, Dtype::bf16) << c.quantization;
    EXPECT_EQ(check_configuration(spec, decode(1, 2, {}, p)), std::nullopt) << c.quantization;
    EXPECT_EQ(precision_of("bf16", facts(spec)).kv_cache, Dtype::bf16) << "one type, as asked";
  }
}

TEST(Quantization, a_scheme_may_stand_in_a_file_beside_the_configuration) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                       ("halmark_hf_quant_config_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const Json shipped = read_json_file((model_dir() / "llama-3.1-8b.json").string());
  std::ofstream(folder / "config.json") << shipped.at("config").dump();
  EXPECT_FALSE(load_model(folder.string(), {}).quantization);
  std::ofstream(folder / "hf_quant_config.json")
      << R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8",
             "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})";
  const ModelSpec spec = load_model((folder / "config.json").string(), {});
  // Under a name in front of both, as a folder of several models has them.
  std::filesystem::rename(folder / "config.json", folder / "org--m_config.json");
  std::filesystem::rename(folder / "hf_quant_config.json", folder / "org--m_hf_quant_config.json");
  const std::string named = (folder / "org--m_config.json").string();
  EXPECT_TRUE(load_model(named, {}).quantization);
  EXPECT_THAT(model_document(named, {}), HasSubstr("quant_algo"));
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(spec.quantization);
  EXPECT_EQ(stated(spec).name, "fp8");
  EXPECT_EQ(stated(spec).kv_cache, Dtype::f8_e4m3fn);
}

TEST(Quantization, a_cache_can_be_all_that_is_stated) {
  const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "compressed-tensors",
    "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
  EXPECT_EQ(stated(spec).name, "bf16+kv_cache=f8_e4m3fn");
  EXPECT_EQ(stated(spec).ffn, Dtype::bf16);
  EXPECT_THAT(spec.assumed,
              Contains(HasSubstr("weights of 16 bits (quantization_config states no others)")));
}

TEST(Quantization, widths_of_inputs_decide_between_recipes_of_8_bits) {
  const auto groups = [](const char* type, const char* inputs) {
    return std::string(R"({"quant_method": "compressed-tensors", "config_groups": {"g": {"targets":
      ["Linear"], "weights": {"num_bits": 8, "type": ")") +
           type + R"(", "strategy": "channel"}, "input_activations": )" + inputs + "}}}";
  };
  const std::string narrow = R"({"num_bits": 8, "type": "int"})";
  EXPECT_EQ(stated(with("llama-3.1-8b", groups("int", narrow.c_str()))).name, "int8");
  EXPECT_EQ(stated(with("llama-3.1-8b", groups("float", narrow.c_str()))).name, "fp8");
  const ModelSpec wide = with("llama-3.1-8b", groups("int", "null"));
  const Precision p = stated(wide);
  EXPECT_EQ(p.name, "w8a16");
  const OperatorGraph graph = graph_of(wide, decode(1, 2, {}, p));
  const Operator& o = find_operator(graph, "o_proj");
  EXPECT_EQ(o.local.op, "packed_gemm");
  EXPECT_DOUBLE_EQ(o.whole_work.constant_bytes, 4096.0 * 4096 + 2 * 4096);
  EXPECT_FALSE(has_operator(graph, "o_proj_dequantize"));
}

TEST(Quantization, lists_of_kept_modules_speak_of_kinds) {
  const ModelSpec kimi = with("kimi-k2", R"({"quant_method": "compressed-tensors", "format":
    "pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4,
    "type": "int", "strategy": "group", "group_size": 32, "symmetric": true}}}, "ignore":
    ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
     "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]})");
  EXPECT_THAT(kimi.quantization->kinds, ElementsAre(experts));
  const ModelSpec minimax = with("minimax-m2", R"({"quant_method": "fp8", "fmt": "float8_e4m3fn",
    "weight_block_size": [128, 128], "modules_to_not_convert":
    ["gate", "e_score_correction_bias", "lm_head"]})");
  EXPECT_THAT(minimax.quantization->kinds, ElementsAre(qkv, output, experts));
  // A list of every layer, and one of some of them.
  Json each = parse_json(nvfp4_modelopt, "q"), some = each;
  for (int layer = 0; layer < 32; ++layer) {
    each["ignore"].push_back("model.layers." + std::to_string(layer) + ".self_attn*");
  }
  some["ignore"].push_back("model.layers.0.mlp.down_proj");
  EXPECT_THAT(with("llama-3.1-8b", dump_json(each)).quantization->kinds, ElementsAre(ffn));
  const ModelSpec partly = with("llama-3.1-8b", dump_json(some));
  EXPECT_THAT(partly.quantization->kinds, ElementsAre(qkv, output, ffn));
  // The one matrix has 16 bits for 4 and the scales of its blocks of 16.
  const std::int64_t weights = 14336LL * 4096;
  EXPECT_EQ(weight_bytes(partly), weight_bytes(with("llama-3.1-8b", nvfp4_modelopt)) + 2 * weights -
                                      (weights / 2 + weights / 16 + 4));
}

// Bytes of the linears of llama-3.1-8b by hand, in 16 bits where nothing else is said; embedding
// and head have 16 bits, gains of norms 32.
constexpr std::int64_t q_size = 4096LL * 4096, kv_size = 4096LL * 1024, ffn_size = 4096LL * 14336;
constexpr std::int64_t other_bytes = 2 * 2 * 128'256LL * 4096 + 4 * 65 * 4096;

struct Layers {
  std::int64_t q, kv, o, gate, down;  // bytes of one layer's matrix; two of kv and of gate
};
std::int64_t sum(const Layers& l, std::int64_t layers) {
  return layers * (l.q + 2 * l.kv + l.o + 2 * l.gate + l.down);
}
constexpr Layers wide = {2 * q_size, 2 * kv_size, 2 * q_size, 2 * ffn_size, 2 * ffn_size};
// A scale of 16 bits and a zero point per 128 weights.
constexpr std::int64_t gptq_bytes(std::int64_t weights, std::int64_t bits) {
  return weights * bits / 8 + weights / 128 * (16 + bits) / 8;
}
constexpr Layers gptq_of(std::int64_t bits) {
  return {gptq_bytes(q_size, bits), gptq_bytes(kv_size, bits), gptq_bytes(q_size, bits),
          gptq_bytes(ffn_size, bits), gptq_bytes(ffn_size, bits)};
}

// Every key under which a library selects modules, per projection and per layer.
TEST(Quantization, what_a_library_selects_is_stored_as_it_says) {
  constexpr Layers four = gptq_of(4), eight = gptq_of(8);
  const Layers eight_down = {four.q, four.kv, four.o, four.gate, eight.down};
  const Layers wide_attention = {wide.q, wide.kv, wide.o, four.gate, four.down};
  const Layers only_attention = {four.q, four.kv, four.o, wide.gate, wide.down};
  const std::string gptq = R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true)";
  struct Case {
    std::string keys;
    std::int64_t linears;
  };
  for (const Case& c :
       {Case{"}", sum(four, 32)},
        {R"(, "dynamic": {"+:.*\\.down_proj": {"bits": 8}}})", sum(eight_down, 32)},
        {R"(, "dynamic": {"-:.*self_attn.*": {}}})", sum(wide_attention, 32)},
        {R"(, "dynamic": {"-:model\\.layers\\.(0|1)\\..*": {}}})", sum(wide, 2) + sum(four, 30)},
        {R"(, "modules_in_block_to_quantize": [["self_attn.q_proj", "self_attn.k_proj",
              "self_attn.v_proj"], ["self_attn.o_proj"]]})",
         sum(only_attention, 32)},
        {R"(, "block_name_to_quantize": "model.layers"})", sum(four, 32)},
        {R"(, "block_name_to_quantize": "model.layers", "modules_in_block_to_quantize":
              ["self_attn"]})",
         sum(only_attention, 32)},
        {R"(, "to_quant_block_names": ["model.layers.0", "model.layers.31"]})",
         sum(four, 2) + sum(wide, 30)},
        {R"(, "extra_config": {"model.layers.3.mlp.down_proj": {"bits": 8},
              "model.layers.4.mlp.down_proj": {"bits": 16}}})",
         sum(four, 30) + sum(eight_down, 1) +
             sum({four.q, four.kv, four.o, four.gate, wide.down}, 1)},
        {R"(, "modules_in_block_to_quantize": "q_proj, k_proj,v_proj, o_proj "})",
         sum(only_attention, 32)},
        {R"(, "modules_to_not_convert": ["self_attn"]})", sum(wide_attention, 32)},
        {R"(, "modules_to_not_convert": "self_attn"})", sum(wide_attention, 32)},
        {R"(, "ignored_layers": null, "ignore": false, "exclude": []})", sum(four, 32)}}) {
    EXPECT_EQ(weight_bytes(with("llama-3.1-8b", gptq + c.keys)), other_bytes + c.linears) << c.keys;
  }
}

// AutoRound names every expert of every layer: whole names are looked up, however many there are.
// Expressions are not, and are bounded.
TEST(Quantization, a_list_of_every_expert_is_read_in_a_moment) {
  Json gptq = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 128}};
  Json names = Json::object(), expressions = Json::object();
  for (int i = 0; i < 32 * 128; ++i) {
    const std::string layer = "model.layers." + std::to_string(i % 32) + ".mlp.";
    names[layer + "experts." + std::to_string(i / 32) + ".down_proj"] = {{"bits", 2 + 2 * (i % 2)}};
    names[layer + "down_proj"] = {{"bits", i % 2 == 0 ? 8 : 16}};
    if (i < 1000) expressions["-:.*a" + std::to_string(i) + "\\.b"] = Json::object();
  }
  Json listed = gptq, many = gptq;
  listed["extra_config"] = names;
  many["dynamic"] = expressions;
  constexpr Layers four = gptq_of(4), eight = gptq_of(8);
  const std::clock_t start = std::clock();
  EXPECT_EQ(weight_bytes(with("llama-3.1-8b", dump_json(listed))),
            other_bytes + sum({four.q, four.kv, four.o, four.gate, eight.down}, 16) +
                sum({four.q, four.kv, four.o, four.gate, wide.down}, 16));
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
  says(refusal("llama-3.1-8b", dump_json(many)), "more patterns than are tried for 32 layers");
}

// Kimi's layers of channel decay call their modules self_attn too; those of other delta rules and
// state spaces are linear_attn and mamba.
TEST(Quantization, attention_that_is_kept_keeps_no_projection_of_recurrent_layers) {
  struct Case {
    const char *id, *kept;
    std::size_t layers;  // whose out_proj is kept
  };
  for (const Case& c : {Case{"qwen3-next-80b-a3b", "re:.*self_attn.*", 0},
                        {"qwen3-next-80b-a3b", "*linear_attn*", 36},
                        {"kimi-linear-48b-a3b", "model.layers.0.self_attn", 1}}) {
    const ModelSpec spec = with(c.id, R"({"quant_method": "gptq", "bits": 4, "group_size": 128,
                                          "ignore": [")" +
                                          std::string(c.kept) + "\"]}");
    std::size_t kept = 0;
    for (const StoredOtherwise& one : spec.stored_otherwise) {
      if (one.linear == "out_proj") kept += as_size(std::ranges::count(one.layers, true));
    }
    EXPECT_EQ(kept, c.layers) << c.id << ' ' << c.kept;
  }
}

// One figure stands for the experts of a layer: where a list tells them apart, that is said.
TEST(Quantization, experts_that_differ_from_another_are_said_to) {
  struct Case {
    const char* kept;
    bool differ, packs;
  };
  for (const Case& c :
       {Case{"lm_head", false, true},
        {"model.layers.31.block_sparse_moe.experts.5", true, true},
        {"model.layers.31.block_sparse_moe.experts.0.w2", true, true},
        {"model.layers.31.block_sparse_moe.experts.8.w2", false, true},  // there are 8 of them
        {"re:.*experts\\\\.[0-3]\\\\..*", true, true},
        {"re:.*experts\\\\.[1-7]\\\\..*", true, false},
        {"re:.*experts.*", false, false}}) {
    const ModelSpec spec = with("mixtral-8x7b-v0.1", R"({"quant_method": "gptq", "bits": 4,
      "group_size": 128, "ignore": [")" + std::string(c.kept) +
                                                         "\"]}");
    EXPECT_THAT(spec.assumed, c.differ ? testing::Matcher<std::vector<std::string>>(
                                             Contains(HasSubstr("layers whose experts differ")))
                                       : Not(Contains(HasSubstr("experts differ"))))
        << c.kept;
    EXPECT_EQ(spec.quantization->packs(experts), c.packs) << c.kept;
  }
}

// A name with a fault in it keeps nothing; those of other towers, routers and predictors are not
// priced here.
TEST(Quantization, patterns_that_name_no_linear_are_said) {
  struct Case {
    const char *key, *pattern;
    bool is_said;
  };
  for (const Case& c : {Case{"ignore", "model.layers.0.mlp.donw_proj", true},
                        {"ignore", "mlp.donw_proj", true},
                        {"ignore", "re:.*mlp[.](donw|upp)_proj.*", true},
                        {"block_name_to_quantize", "model.layer", true},
                        {"block_name_to_quantize", "model.layers", false},
                        {"ignore", "model.layers.0.mlp.down_proj", false},
                        {"ignore", "model.layers.32.mlp.shared_head", false},
                        {"ignore", "model.layers.1", false},
                        {"ignore", "self_attn", false},
                        {"ignore", "lm_head", false},
                        {"ignore", "model.layers.3.mlp.gate", false},
                        {"ignore", "re:.*vision_tower.*", false}}) {
    const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "gptq", "bits": 4,
      "group_size": 128, ")" + std::string(c.key) + R"(": [")" +
                                                    c.pattern + "\"]}");
    const auto said = std::ranges::count_if(spec.assumed, [](const std::string& line) {
      return line.find("which is no linear that is priced") != std::string::npos;
    });
    EXPECT_EQ(said, c.is_said ? 1 : 0) << c.pattern;
  }
  const ModelSpec tower = with("llama-3.1-8b", R"({"quant_method": "gptq", "bits": 4,
    "group_size": 128, "dynamic": {"-:model[.]language_model[.]layers[.]\\d+[.]mlp.*": {}}})");
  EXPECT_THAT(tower.quantization->kinds, ElementsAre(qkv, output));
}

// ModelOpt states one group beside the algorithm that it is.
TEST(Quantization, several_groups_beside_one_algorithm_are_refused) {
  const std::string one = R"("group_0": {"targets": ["Linear"], "weights": {"num_bits": 4,
    "type": "float", "group_size": 16}, "input_activations": {"num_bits": 4, "type": "float"}})";
  for (const bool has_two : {false, true}) {
    const ModelSpec spec =
        with("llama-3.1-8b",
             R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "config_groups": {)" + one +
                 (has_two ? R"(, "group_1": {"targets": ["Linear"]})" : "") + "}}");
    EXPECT_THAT(spec.assumed, Not(Contains(HasSubstr("config_groups"))));
    EXPECT_EQ(spec.quantization.has_value(), !has_two);
    if (has_two) says(spec.unread_quantization, "holds several groups beside 'NVFP4'");
  }
}

// q, k and v are one product where they are stored in one format.
TEST(Quantization, projections_of_different_formats_are_not_fused) {
  for (const bool differ : {false, true}) {
    ModelSpec spec =
        with("llama-3.1-8b", R"({"quant_method": "gptq", "bits": 4, "group_size": 128,
      "dynamic": {"model[.]layers[.]0[.]self_attn[.][)" +
                                 std::string(differ ? "" : "q") + R"(kv]_proj": {"bits": 8}}})");
    const std::int64_t apart = weight_bytes(spec);
    spec.fuses_qkv = true;
    EXPECT_EQ(weight_bytes(spec), apart) << differ;
    const OperatorGraph graph = graph_of(spec, decode(1, 2, {}, stated(spec)));
    EXPECT_TRUE(has_operator(graph, "qkv_proj"));
    EXPECT_EQ(has_operator(graph, "kv_proj"), differ);
  }
}

// Two groups of compressed-tensors: attention in 8 bits by channel, networks in 4 in groups of 128.
TEST(Quantization, groups_of_different_types_stand_side_by_side) {
  const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "compressed-tensors",
    "format": "pack-quantized", "config_groups": {
    "group_0": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "int",
      "strategy": "channel", "symmetric": true}},
    "group_1": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "int",
      "strategy": "group", "group_size": 128, "symmetric": true}}}, "ignore": ["lm_head"]})");
  const auto channel = [](std::int64_t weights, std::int64_t rows) { return weights + 2 * rows; };
  const std::int64_t four = ffn_size / 2 + ffn_size / 128 * 2;
  EXPECT_EQ(weight_bytes(spec), other_bytes + sum({channel(q_size, 4096), channel(kv_size, 1024),
                                                   channel(q_size, 4096), four, four},
                                                  32));
}

// ModelOpt's MIXED_PRECISION: an algorithm per module, and 16 bits of those that it does not list.
TEST(Quantization, mixed_precision_is_read_module_by_module) {
  Json layers = Json::object();
  for (int layer = 0; layer < 32; ++layer) {
    const std::string at = "model.layers." + std::to_string(layer) + '.';
    for (const char* name : {"gate_proj", "up_proj", "down_proj"}) {
      layers[at + "mlp." + name] = {{"quant_algo", "NVFP4"}, {"group_size", 16}};
    }
    if (layer < 8) layers[at + "self_attn.o_proj"] = {{"quant_algo", "FP8"}};
  }
  const Json stated = {{"quant_method", "modelopt"},
                       {"quantization",
                        {{"quant_algo", "MIXED_PRECISION"},
                         {"kv_cache_quant_algo", "FP8"},
                         {"quantized_layers", layers}}}};
  const ModelSpec spec = with("llama-3.1-8b", dump_json(stated));
  const std::int64_t nvfp4 = ffn_size / 2 + ffn_size / 16 + 4;
  const Layers most = {wide.q, wide.kv, wide.o, nvfp4, nvfp4};
  const Layers first = {wide.q, wide.kv, q_size + 4, nvfp4, nvfp4};
  // gate and up in one product have one scale of the matrix, not two
  EXPECT_EQ(weight_bytes(spec), other_bytes + sum(first, 8) + sum(most, 24) - 32 * 4);
  EXPECT_EQ(spec.quantization->kv_cache, Dtype::f8_e4m3fn);
  says(refusal("llama-3.1-8b", R"({"quant_method": "modelopt", "quantization":
      {"quant_algo": "MIXED_PRECISION"}})"),
       "quantized_layers");
}

// Quark excludes by name and gives some modules a format of their own.
TEST(Quantization, quark_gives_patterns_their_own_format) {
  const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "quark", "exclude": ["lm_head"],
    "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32, "qscheme": "per_group"},
      "input_tensors": {"dtype": "fp4"}},
    "layer_quant_config": {"*self_attn*": {"weight": {"dtype": "fp8_e4m3"},
      "input_tensors": {"dtype": "fp8_e4m3"}}}})");
  const auto row = [](std::int64_t weights, std::int64_t rows) { return weights + 2 * rows; };
  const std::int64_t four = ffn_size / 2 + ffn_size / 32;
  EXPECT_EQ(weight_bytes(spec),
            other_bytes +
                sum({row(q_size, 4096), row(kv_size, 1024), row(q_size, 4096), four, four}, 32));
}

TEST(Quantization, quark_may_give_a_format_to_patterns_alone) {
  const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "quark",
    "global_quant_config": {"weight": null}, "layer_quant_config": {"*self_attn*": null,
    "*mlp*": {"weight": {"dtype": "fp8_e4m3"}}}})");
  EXPECT_THAT(spec.quantization->kinds, ElementsAre(ffn));
  const std::int64_t gate = ffn_size + 2 * 14336, down = ffn_size + 2 * 4096;
  EXPECT_EQ(weight_bytes(spec), other_bytes + sum({wide.q, wide.kv, wide.o, gate, down}, 32));
}

TEST(Quantization, a_format_that_quark_states_of_all_is_not_called_unread) {
  const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "quark", "exclude": ["lm_head"],
    "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}, "bias": null}})");
  EXPECT_THAT(spec.assumed, Not(Contains(HasSubstr("global_quant_config"))));
}

TEST(Quantization, bitnet_is_ternary_unless_it_is_made_so_at_each_use) {
  for (const char* mode : {"online", "offline"}) {
    const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "bitnet", "linear_class":
      "autobitlinear", "quantization_mode": ")" + std::string(mode) +
                                                    "\"}");
    EXPECT_EQ(stated(spec).ffn, mode == std::string("online") ? Dtype::bf16 : Dtype::s2) << mode;
  }
}

// MLX quantises the table of embeddings and the head too, under a key of its own.
TEST(Quantization, mlx_quantises_tables_and_says_what_differs_by_name) {
  Json config = read_json_file((model_dir() / "qwen3-0.6b.json").string())["config"];
  config["quantization"] = {{"group_size", 64}, {"bits", 4}};
  const auto bytes = [](const Json& json) {
    const ModelSpec spec = read_model(dump_json(json), "mlx");
    return memory_use(graph_of(spec, decode(1, 2, {}, stated(spec)))).largest.weight_bytes;
  };
  const ModelSpec plain = shipped("qwen3-0.6b");
  const std::int64_t parameters = graph_of(plain, decode(1, 1)).totals.parameters;
  const std::int64_t norms = 28 * (2 * 1024 + 2 * 128) + 1024;
  const std::int64_t linears = parameters - norms;
  // mlx-community/Qwen3-0.6B-4bit: 335 MB of model.safetensors.
  EXPECT_EQ(bytes(config), linears / 2 + linears / 64 * 4 + 4 * norms);
  EXPECT_NEAR(as_double(bytes(config)), 335e6, 0.005 * 335e6);
  config["quantization"]["model.layers.0.mlp.down_proj"] = {{"group_size", 64}, {"bits", 8}};
  const std::int64_t some = linears / 2 + linears / 64 * 4 + 4 * norms + 3072 * 1024 / 2;
  EXPECT_EQ(bytes(config), some);
  EXPECT_THAT(read_model(dump_json(config), "mlx").assumed, Not(Contains(HasSubstr("not read"))));
  config["quantization_config"] = nullptr;
  EXPECT_EQ(bytes(config), some) << "none stands in front of MLX's own";
  // The table is the tied head.
  const std::int64_t table = 151936LL * 1024;
  Json mixed = config;
  config["quantization"]["model.embed_tokens"] = {{"group_size", 32}, {"bits", 8}};
  EXPECT_EQ(bytes(config), some + table / 2 + table / 64 * 4);
  const ModelSpec spec = read_model(dump_json(config), "mlx");
  EXPECT_DOUBLE_EQ(find_operator(graph_of(spec, decode(1, 2, {}, stated(spec))), "lm_head")
                       .whole_work.constant_bytes,
                   as_double(table + table / 32 * 4));
  // A mode of its own; what states none is affine.
  mixed["quantization"]["mode"] = "mxfp4";
  mixed["quantization"]["group_size"] = 32;
  EXPECT_EQ(bytes(mixed), linears / 2 + linears / 32 + 4 * norms + 3072 * 1024 * (16 + 1) / 32);
  mixed["quantization"]["model.layers.0.mlp.down_proj"] = {{"bits", 4}, {"mode", "mxfp8"}};
  says(read_model(dump_json(mixed), "mlx").unread_quantization, "mode' is 'mxfp8'");
  mixed["quantization"] = {{"group_size", 64}};
  says(read_model(dump_json(mixed), "mlx").unread_quantization, "quantization_config.");
}

TEST(Quantization, the_head_is_known_under_any_prefix) {
  const std::string groups = R"({"quant_method": "compressed-tensors", "config_groups": {"a":
    {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"},
    "input_activations": {"num_bits": 8, "type": "float"}}}, "ignore": [)";
  for (const char* name :
       {"lm_head", "language_model.lm_head", "model.lm_head", "re:.*lm_head", "*lm_head"}) {
    const ModelSpec named = with("llama-3.1-8b", R"({"quant_method": "compressed-tensors",
      "config_groups": {"a": {"targets": [")" + std::string(name) +
                                                     R"("], "weights": {"num_bits": 8,
      "type": "float", "strategy": "channel"}}}})");
    EXPECT_THAT(named.quantization->kinds, ElementsAre(head)) << name;
    const ModelSpec spec = with("llama-3.1-8b", groups + '"' + name + "\"]}");
    EXPECT_FALSE(spec.quantization->packs(KernelKind::head)) << name;
  }
}

// A checkpoint in float32 is priced so.
TEST(Quantization, weights_of_32_bits_are_priced_as_such) {
  for (const char* key : {"torch_dtype", "dtype"}) {
    Json config = parse_json(tiny_json, "tiny.json");
    config[key] = "float32";
    const ModelSpec spec = read_model(config.dump(), "f32.json");
    EXPECT_EQ(stated(spec).qkv, Dtype::f32);
    config[key] = "float16";
    EXPECT_EQ(stated(read_model(config.dump(), "f16.json")).qkv, Dtype::bf16);
  }
}

TEST(Quantization, a_key_that_holds_a_list_and_is_not_read_is_named) {
  const ModelSpec spec = with("llama-3.1-8b", R"({"quant_method": "awq", "bits": 4,
    "group_size": 128, "zero_point": true, "keep_these": ["self_attn"]})");
  EXPECT_THAT(spec.assumed, Contains(HasSubstr("quantization_config.keep_these")));
}

TEST(Quantization, a_pattern_names_a_module_by_its_end_its_glob_or_its_expression) {
  const std::string gate = "model.layers.3.mlp.gate_proj";
  EXPECT_TRUE(names_module("mlp", gate));
  EXPECT_TRUE(names_module("model.layers.*.mlp", gate));
  EXPECT_TRUE(names_module("*gate_proj", gate));
  EXPECT_TRUE(names_module("re:.*mlp\\.(gate|up)_proj", gate));
  EXPECT_FALSE(names_module("mlp.gate", gate)) << "that is the router";
  EXPECT_FALSE(names_module("model.layers.*.self_attn", gate));
  EXPECT_FALSE(names_module("re:mlp.*", gate)) << "an expression begins where the name does";
  EXPECT_FALSE(names_module("", gate));
}

TEST(Quantization, what_is_not_read_is_refused_by_name) {
  const char* model = "llama-3.1-8b";
  EXPECT_THAT(refusal(model, R"({"quant_method": "aqlm", "in_group_size": 8})"),
              AllOf(HasSubstr("quantization_config.quant_method' is 'aqlm'"),
                    HasSubstr("awq, bitnet, bitsandbytes, compressed-tensors, eetq, fbgemm_fp8")));
  says(refusal(model, R"({"bits": 4})"), "quant_method");
  says(refusal(model, R"({"quant_method": "gptq", "bits": 3, "group_size": 128})"), "bits' is '3'");
  says(refusal(model, R"({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"})"), "W4A8_AWQ");
  says(refusal(model, R"({"quant_method": "auto-round", "bits": 4, "group_size": 16, "data_type":
                          "nv_fp", "act_bits": 4})"),
       "data_type' is 'nv_fp'");
  says(refusal(model, R"({"quant_method": "auto-round", "bits": 8, "data_type": "int", "act_bits":
                          8})"),
       "act_bits' is '8'");
  EXPECT_THAT(refusal(model, R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
                                 "kv_cache_quant_algo": "NVFP4"})"),
              AllOf(HasSubstr("kv_cache_quant_algo' is 'NVFP4'"), HasSubstr("FP8")));
  says(refusal(model, R"({"quant_method": "fp8", "ignored_layers": ["re:(("]})"),
       "regular expression that is none");
  says(refusal(model, R"({"quant_method": "gptq", "bits": 4, "dynamic": {"-:((": {}}})"),
       "regular expression that is none");
  says(refusal(model, R"({"quant_method": "fp8", "ignored_layers": ["re:)" +
                          std::string(1025, 'a') + "\"]}"),
       "more than 1024 characters");
  for (const char* repeated :
       {"(a{300}){300}", "(.?){9000}z", "(a{9}){9}", "a{1,99999999999999999999}"}) {
    says(refusal(model, R"({"quant_method": "fp8", "ignored_layers": ["re:)" +
                            std::string(repeated) + "\"]}"),
         "64 repeats");
  }
  EXPECT_THAT(with(model, R"({"quant_method": "fp8", "ignored_layers":
                             ["re:.*layers\\.\\d{1,2}\\.mlp.*"]})")
                  .quantization->kinds,
              ElementsAre(qkv, output));
  says(refusal(model, R"({"quant_method": "compressed-tensors", "config_groups": {"a":
                {"weights": {"num_bits": 4, "type": "int"}}, "b": {"weights": {"num_bits": 8,
                "type": "int"}}}})"),
       "compressed-tensors int4 and compressed-tensors int8 of all linears");
  for (const char* numbers : {R"("bits": "8")", R"("bits": -8)", R"("group_size": "64")",
                              R"("group_size": -64)", R"("group_size": 9223372036854775807)"}) {
    const std::string own = R"({".*mlp.*": {"quant_algo": "W4A16_AWQ", )" + std::string(numbers);
    says(refusal(model, R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": )" +
                            own + "}}}"),
         "mlp.*': field '" + std::string(numbers).substr(1, 4));
    if (own.find("bits") != std::string::npos) continue;
    says(refusal(model, R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
                            "quantized_layers": )" +
                            own + "}}}"),
         "mlp.*': field 'group_size' must");
  }
  const std::pair<const char*, const char*> modules[] = {
      {R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}},
           "layer_quant_config": {"*down_proj": "int4"}})",
       "layer_quant_config' must hold objects, holds \"int4\""},
      {R"({"quant_method": "quark", "global_quant_config": "int4"})", "must be an object"},
      {R"({"quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config":
           {"model.layers.0.mlp.down_proj": {"bits": 8, "data_type": "fp"}}})",
       "down_proj': field 'data_type' is 'fp'"},
      {R"({"quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config":
           {"model.layers.0.mlp.down_proj": {"bits": 8, "act_bits": 8}}})",
       "down_proj': field 'act_bits' is '8'"},
      {R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers":
           {"model.layers.0.mlp.down_proj": {"quant_algo": "MXFP4", "group_size": 16}}})",
       "down_proj': field 'group_size' is 16, but a block of mxfp4 has 32"},
      {R"({"quant_method": "mlx", "mode": "nvfp4", "bits": 4, "group_size": 64})",
       "group_size' is 64, but a block of nvfp4 has 16"},
      {R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "config_groups": {"group_0":
           {"weights": {"num_bits": 6, "group_size": 16}}}})",
       "num_bits' is 6, but weights of nvfp4 have 4"},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"a": {"targets": [],
           "weights": {"num_bits": 8, "type": "float"}}}})",
       "a.targets' names no modules"}};
  for (const auto& [quantization, said] : modules) says(refusal(model, quantization), said);
  for (const char* none : {"{}", "null", "false", "[]"}) {
    EXPECT_THAT(with(model, none).quantization, testing::Eq(std::nullopt)) << none;
  }
  says(refusal(model, R"("gptq")"), "'quantization_config' must be an object, found \"gptq\"");
  says(refusal(model, "[1]"), "'quantization_config' must be an object");
  for (const char* key :
       {"extra_config", "dynamic", "modules_to_not_convert", "block_name_to_quantize"}) {
    const std::string gptq = R"({"quant_method": "gptq", "bits": 4, "group_size": 128, ")";
    says(refusal(model, gptq + key + "\": 7}"), "quantization_config." + std::string(key));
  }
}

}  // namespace
}  // namespace halmark
