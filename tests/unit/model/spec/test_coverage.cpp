// What a configuration states beside the decoder: named, or refused with the nearest known type.
// The public configurations that stand beside the checkout: all are read and priced, in seconds,
// and count what their table does.

#include <chrono>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "model/families/family.hpp"
#include "model/pricing/memory.hpp"
#include "model/spec/coverage.hpp"
#include "tests/shared_data.hpp"

namespace halmark {
namespace {

using namespace model_test;

Json tiny_config() { return parse_json(tiny_json, "tiny.json"); }
ModelSpec read(const Json& config) { return read_model(config.dump(), "config.json"); }
std::string refusal_of(const Json& config) {
  return test::error_of([&] { read(config); }).line();
}

TEST(Coverage, a_plain_decoder_has_nothing_to_say) {
  const ModelSpec spec = tiny();
  EXPECT_THAT(spec.not_modelled, IsEmpty());
  EXPECT_THAT(spec.not_read, IsEmpty());
  EXPECT_THAT(model_notes(spec), IsEmpty());
}

// The published config.json of LLaVA 1.5 7B states a vocabulary and leaves the rest to the class;
// its language tower is Vicuna 7B: Llama's sizes with 64 more rows in both tables.
TEST(Coverage, the_language_tower_of_llava_has_the_sizes_that_its_class_says) {
  const ModelSpec spec = read(parse_json(R"({"architectures": ["LlavaForConditionalGeneration"],
      "ignore_index": -100, "image_token_index": 32000, "model_type": "llava",
      "pad_token_id": 32001, "projector_hidden_act": "gelu", "tie_word_embeddings": false,
      "text_config": {"_name_or_path": "lmsys/vicuna-7b-v1.5", "architectures":
      ["LlamaForCausalLM"], "max_position_embeddings": 4096, "model_type": "llama",
      "rms_norm_eps": 1e-05, "torch_dtype": "float16", "vocab_size": 32064},
      "torch_dtype": "float16", "transformers_version": "4.36.0.dev0",
      "vision_config": {"hidden_size": 1024, "image_size": 336, "intermediate_size": 4096,
      "model_type": "clip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 24,
      "patch_size": 14, "projection_dim": 768, "vocab_size": 32000},
      "vision_feature_layer": -2, "vision_feature_select_strategy": "default",
      "vocab_size": 32064})",
                                         "llava"));
  EXPECT_EQ(graph_of(spec, decode(1, 1)).totals.parameters, 6'738'415'616 + 2 * 64 * 4096);
  EXPECT_THAT(spec.not_modelled,
              ElementsAre("all of 'llava' but its language tower 'llama' (model_type)",
                          "vision tower (vision_config)"));
  EXPECT_THAT(spec.assumed, Contains(HasSubstr("num_hidden_layers = 32")));
  EXPECT_THAT(spec.not_read, IsEmpty());
}

// The thinker of Qwen3-Omni 30B is Qwen3-30B-A3B (30,532,122,624 parameters) with 128 more rows in
// both tables. Fields around the language tower are about the rest of the model.
TEST(Coverage, the_language_tower_of_an_omni_model_lies_two_levels_deep) {
  Json text = read_json_file((model_dir() / "qwen3-30b-a3b.json").string())["config"];
  text["model_type"] = "qwen3_omni_moe_text";
  text["vocab_size"] = 151'936 + 128;
  const Json config = {{"model_type", "qwen3_omni_moe"},
                       {"enable_audio_output", true},
                       {"talker_config", {{"hidden_size", 1024}}},
                       {"thinker_config",
                        {{"model_type", "qwen3_omni_moe_thinker"},
                         {"text_config", text},
                         {"audio_config", {{"d_model", 1280}}},
                         {"vision_config", {{"depth", 27}}},
                         {"position_id_per_seconds", 13}}}};
  const ModelSpec spec = read(config);
  EXPECT_EQ(graph_of(spec, decode(1, 1)).totals.parameters, 30'532'122'624 + 2 * 128 * 2048);
  EXPECT_THAT(spec.not_modelled,
              ElementsAre(HasSubstr("qwen3_omni_moe"), "vision tower (vision_config)",
                          "audio tower (audio_config)", "speech output (talker_config)"));
  EXPECT_THAT(spec.not_read, IsEmpty());
}

TEST(Coverage, fields_of_unknown_effect_are_named_and_harmless_ones_are_not) {
  Json config = tiny_config();
  config["half_of_the_heads_sleep"] = true;
  config["initializer_range"] = 0.02;
  config["bos_token_id"] = 1;
  config["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 4.0}};
  const ModelSpec spec = read(config);
  EXPECT_THAT(spec.not_read, ElementsAre("half_of_the_heads_sleep"));
  EXPECT_THAT(model_notes(spec), Contains("not read, of unknown effect: half_of_the_heads_sleep"));
  config["half_of_the_heads_sleep"] = false;  // says nothing
  EXPECT_THAT(read(config).not_read, IsEmpty());
}

// Lengths that vLLM derives for configurations as they are published.
TEST(Coverage, a_context_goes_as_far_as_rotary_embeddings_are_extended_to) {
  struct Case {
    std::int64_t stated;
    const char* rope;
    std::int64_t longest;
  };
  for (const Case& c :
       {Case{131072, R"({"rope_type": "llama3", "factor": 8.0,
                         "original_max_position_embeddings": 8192})",
             131072},  // Llama 3.1
        Case{40960, R"({"rope_type": "yarn", "factor": 4.0,
                        "original_max_position_embeddings": 32768})",
             131072},  // Qwen3's README
        Case{163840, R"({"type": "yarn", "factor": 40,
                         "original_max_position_embeddings": 4096})",
             163840},                                                // DeepSeek-V3
        Case{16384, R"({"type": "linear", "factor": 4.0})", 65536},  // DeepSeek-Coder
        Case{131072, R"({"type": "longrope", "original_max_position_embeddings": 4096})",
             131072},  // Phi-3
        Case{4096, "null", 4096}}) {
    SCOPED_TRACE(c.rope);
    Json config = tiny_config();
    config["max_position_embeddings"] = c.stated;
    config["rope_scaling"] = parse_json(c.rope, "rope");
    EXPECT_EQ(read(config).max_position, c.longest);
  }
}

TEST(Coverage, element_wise_work_and_prediction_modules_that_no_family_has_are_named) {
  Json config = tiny_config();
  config["attn_logit_softcapping"] = 50.0;
  config["num_nextn_predict_layers"] = 1;
  EXPECT_THAT(read(config).not_modelled,
              ElementsAre(HasSubstr("attn_logit_softcapping"),
                          "multi-token-prediction modules (num_nextn_predict_layers)"));
}

struct Refused {
  const char* field;
  const char* value;
  const char* said;
};
TEST(Coverage, other_operators_are_refused) {
  const Refused rows[] = {{"architectures", "[\"LlamaForMultipleChoice\"]", "not modelled"},
                          {"is_encoder_decoder", "true", "encoder-decoder"},
                          {"add_cross_attention", "true", "another sequence"},
                          {"cross_attention_layers", "[3, 8]", "another sequence"},
                          {"num_kv_shared_layers", "10", "share keys and values"},
                          {"use_cla", "true", "share keys and values"},
                          {"layer_types",
                           "[\"linear_attention\", \"full_attention\", \"full_attention\", "
                           "\"full_attention\"]",
                           "linear_attention"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.value);
    Json config = tiny_config();
    config[row.field] = parse_json(row.value, "value");
    EXPECT_THAT(refusal_of(config), AllOf(HasSubstr(row.field), HasSubstr(row.said)));
  }
}

// What stands in the place of the LM head, by the classes of transformers: rows of `score`, with a
// bias or without. tiny.json has 32 x 8 weights in its LM head.
TEST(Coverage, a_head_in_the_place_of_the_lm_head_has_its_own_parameters) {
  const auto count = [](const Json& config) {
    const ModelSpec spec = read(config);
    const Configuration load = spec.is_causal ? decode(1, 16) : prefill(1, 16, 16);
    return graph_of(spec, load).totals.parameters;
  };
  const std::int64_t body = count(tiny_config()) - 32 * 8;
  struct Head {
    const char* name;
    std::int64_t parameters;
  };
  for (const Head& head :
       {Head{"LlamaForSequenceClassification", 2 * 8},
        Head{"LlamaForTokenClassification", 2 * 8 + 2},
        Head{"LlamaForQuestionAnswering", 2 * 8 + 2}, Head{"InternLM2ForRewardModel", 8},
        Head{"Qwen2ForRewardModel", 8 * 8 + 8 + 8 + 1}, Head{"MistralModel", 0},
        Head{"LlamaForCausalLM", 32 * 8}}) {
    Json config = tiny_config();
    config["architectures"] = {head.name};
    EXPECT_EQ(count(config), body + head.parameters) << head.name;
  }
  Json config = tiny_config();
  config["architectures"] = {"LlamaForSequenceClassification"};
  config["id2label"] = {{"0", "LABEL_0"}};
  EXPECT_EQ(count(config), body + 8);
}

// Without a cache there is nothing to decode from, and no memory that grows with the context.
TEST(Coverage, tokens_that_see_those_behind_them_are_priced_in_one_pass) {
  for (const char* field : {"is_causal", "use_bidirectional_attention"}) {
    Json config = tiny_config();
    config[field] = std::string(field) != "is_causal";
    const ModelSpec spec = read(config);
    EXPECT_THAT(model_test::refusal_of(spec, decode(1, 16)), HasSubstr("--phase prefill"));
    const OperatorGraph graph = graph_of(spec, prefill(1, 16, 16));
    // 16 x 16 pairs in place of 16 x 17 / 2; 4 heads of width 4, two products, four layers
    EXPECT_EQ(matmul_flops(graph, "attention"), 4.0 * 2 * 2 * 16 * 16 * 16);
    for (const LayerType& type : graph.layer_types) EXPECT_THAT(type.caches, IsEmpty());
    EXPECT_FALSE(has_operator(graph, "kv_append"));
  }
}

// A part that is switched off is so however it is said.
TEST(Coverage, none_is_said_by_null_zero_false_and_nothing_alike) {
  for (const char* none : {"null", "0", "false", "[]"}) {
    Json config = tiny_config();
    config["model_type"] = "mistral";
    config["sliding_window"] = parse_json(none, "value");
    config["num_kv_shared_layers"] = parse_json(none, "value");
    const ModelSpec spec = read(config);
    EXPECT_EQ(spec.windows, std::vector<std::int64_t>(spec.windows.size(), 0)) << none;
    for (const std::string& note : model_notes(spec)) {
      EXPECT_THAT(note, Not(testing::AnyOf(HasSubstr("sliding_window"), HasSubstr("kv_shared"))))
          << none;
    }
    config["num_kv_shared_layers"] = 1;
    says(refusal_of(config), "num_kv_shared_layers");
    config["num_kv_shared_layers"] = nullptr;
    config["sliding_window"] = 3;
    EXPECT_EQ(read(config).windows.front(), 3) << none;
  }
}

TEST(Coverage, what_says_that_it_is_a_causal_language_model_is_read) {
  Json config = tiny_config();
  config["architectures"] = {"LlamaForCausalLM"};
  config["is_encoder_decoder"] = false;
  config["is_causal"] = true;
  config["num_kv_shared_layers"] = 0;
  EXPECT_THAT(model_notes(read(config)), IsEmpty());
}

using Near = std::pair<const char*, const char*>;
TEST(Coverage, the_nearest_type_is_named_in_the_refusal) {
  const Near rows[] = {{"qwen3_6", "qwen3"},
                       {"deepseek_v5", "deepseek_v"},
                       {"lama", "llama"},
                       {"mixtrall", "mixtral"},
                       {"gemma5_text", "gemma3_text"},
                       {"olmo_hybrid", "olmo"},
                       {"granitemoeswa", "granitemoe"},
                       {"minimax_m9", "minimax_m"}};
  for (const auto& [type, nearest] : rows) {
    says(refusal_of({{"model_type", type}}), std::string("nearest known type is ") + nearest);
  }
}

TEST(Coverage, encoders_and_encoder_decoders_are_refused_as_what_they_are) {
  for (const char* type : {"switch_transformers", "t5gemma"}) {
    says(refusal_of({{"model_type", type}}), "encoder-decoder");
  }
  // A known outer type does not hide a language tower that is not modelled.
  says(refusal_of({{"model_type", "blip-2"}, {"text_config", {{"model_type", "t5gemma"}}}}),
       "encoder-decoder");
}

// A list of shipped files that say nothing of unknown effect: the fields of all are understood.
TEST(Coverage, every_field_of_the_shipped_models_is_read_or_known) {
  for (const std::string& id : shipped_ids()) {
    EXPECT_THAT(shipped(id).not_read, IsEmpty()) << id;
  }
  const ModelSpec vision = shipped("qwen3-vl-8b");
  EXPECT_THAT(model_notes(vision), Contains("note: text tower only"));
}

// A field that is null is stated; one that is not there has the default of its class.
TEST(Coverage, null_is_not_absent) {
  Json config = tiny_config();
  config["model_type"] = "mistral";
  EXPECT_EQ(read(config).windows.front(), 4096);
  EXPECT_THAT(read(config).assumed, Contains(HasSubstr("sliding_window = 4096")));
  config["sliding_window"] = nullptr;
  EXPECT_EQ(read(config).windows.front(), 0);
}

// At the top level a file without its sizes is not finished.
TEST(Coverage, sizes_are_assumed_for_nested_towers_alone) {
  says(refusal_of({{"model_type", "llama"}}), "num_hidden_layers");
  const ModelSpec nested = read({{"text_config", {{"model_type", "llama"}}}});
  EXPECT_EQ(nested.hidden, 4096);
}

std::int64_t priced_parameters(const ModelSpec& spec) {
  const OperatorGraph graph =
      graph_of(spec, spec.is_causal ? decode(8, 1024) : prefill(8, 512, 512));
  EXPECT_GT(memory_use(graph).largest.total(), 0) << spec.id;
  return graph.totals.parameters;
}

// Where the table is not right, and by how much.
const std::map<std::string, std::int64_t> gaps_of_table = {
    // Its LayerNorms have shifts: 65 of 4096.
    {"microsoft/Phi-3.5-MoE", 65 * 4096},
    // A block without attention has no norm in front of it: 31 of 8192 less.
    {"nvidia/Llama-3_3-Nemotron-Super-49B-v1", -31 * 8192}};

TEST(PublicModels, each_is_priced_in_one_loop_of_seconds_and_counts_what_its_table_does) {
  const auto table = test::shared_data("model-configs.json"),
             cases = test::shared_data("cases/models");
  if (!std::filesystem::exists(table)) GTEST_SKIP() << table << " is not there";
  const auto begin = std::chrono::steady_clock::now();
  const Json models = read_json_file(table.string()).at("models");
  for (const Json& model : models) {
    const std::string id = model.at("id").get<std::string>();
    SCOPED_TRACE(id);
    const std::int64_t counted = priced_parameters(read_model(model.at("config").dump(), id));
    if (!model.contains("computed_total_params") || model["computed_total_params"].is_null()) {
      continue;
    }
    const auto gap = gaps_of_table.find(id);
    EXPECT_EQ(counted, model.at("computed_total_params").get<std::int64_t>() +
                           (gap == gaps_of_table.end() ? 0 : gap->second));
  }
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(cases)) {
    if (file.path().filename().string().ends_with("hf_quant_config.json")) continue;
    SCOPED_TRACE(file.path().string());
    EXPECT_GT(priced_parameters(load_model(file.path().string(), {})), 0);
    ++files;
  }
  EXPECT_GE(models.size(), 100u);
  EXPECT_GE(files, 10u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace halmark
