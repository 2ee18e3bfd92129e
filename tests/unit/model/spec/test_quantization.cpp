// quantization_config as public checkpoints write it: what their weights weigh, which linears and
// which cache they state, and what is refused instead of being priced as 16 bits.
#include "model/spec/quantization.hpp"

#include <unistd.h>

#include <fstream>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/spec/kept_modules.hpp"
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
  PrecisionFacts out;
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

std::string refusal(const char* id, const std::string& quantization) {
  const Error error = test::error_of([&] { (void)with(id, quantization); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
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
    const auto bytes = static_cast<double>(weight_bytes(with(c.id, c.quantization)));
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
    const auto bytes = static_cast<double>(memory_use(graph_of(spec, of)).largest.weight_bytes);
    EXPECT_NEAR(bytes / 1e9, c.gigabytes, 0.003 * c.gigabytes) << c.id << ' ' << c.recipe;
  }
}

// 594 GB, as the page of Kimi-K2-Thinking prints it: experts of 4 bits in groups of 32, the rest
// in 16.
TEST(Quantization, a_shipped_model_is_priced_as_it_is_stored) {
  const ModelSpec kimi = shipped("kimi-k2.5");
  EXPECT_THAT(kimi.quantization->kinds, ElementsAre(experts));
  EXPECT_EQ(stated(kimi).name, "w4a16");
  EXPECT_NEAR(static_cast<double>(weight_bytes(kimi)) / 1e9, 594, 2);
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
  EXPECT_THAT(spec.assumed, Contains(HasSubstr("names a method and no scheme")));
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
  EXPECT_THAT(partly.assumed,
              Contains(HasSubstr("ffn is nvfp4 in all 32 layers (1 of them are listed as kept)")));
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
                    HasSubstr("awq, bitsandbytes, compressed-tensors, fbgemm_fp8, fp8, gptq")));
  says(refusal(model, R"({"bits": 4})"), "quant_method");
  says(refusal(model, R"({"quant_method": "gptq", "bits": 3, "group_size": 128})"), "bits' is '3'");
  says(refusal(model, R"({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"})"), "W4A8_AWQ");
  EXPECT_THAT(refusal(model, R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
                                 "kv_cache_quant_algo": "NVFP4"})"),
              AllOf(HasSubstr("kv_cache_quant_algo' is 'NVFP4'"), HasSubstr("FP8")));
  says(refusal(model, R"({"quant_method": "fp8", "ignored_layers": ["re:(("]})"),
       "regular expression");
  says(refusal(model, R"({"quant_method": "compressed-tensors", "config_groups": {"a":
                {"weights": {"num_bits": 4, "type": "int"}}, "b": {"weights": {"num_bits": 8,
                "type": "int"}}}})"),
       "compressed-tensors int4 and compressed-tensors int8");
  EXPECT_THAT(with(model, "{}").quantization, testing::Eq(std::nullopt));
}

}  // namespace
}  // namespace halmark
