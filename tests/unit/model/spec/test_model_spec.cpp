#include <unistd.h>

#include <fstream>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "model/families/family.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using namespace model_test;

template <class Call>
std::string refusal_line(Call call) {
  const Error error = test::error_of(call);
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

// The tiny configuration with one field replaced (or removed with an empty text).
std::string with_field(const std::string& field, const std::string& value) {
  Json json = parse_json(tiny_json, "tiny");
  if (value.empty()) {
    json.erase(field);
  } else {
    json[field] = parse_json(value, "value");
  }
  return json.dump();
}

TEST(ModelSpec, a_name_is_found_whatever_its_case_and_separators) {
  for (const char* name : {"qwen3-0.6b", "QWEN3_0.6B", "qwen3 0 6b", "a b/qwen3-0.6b"}) {
    EXPECT_EQ(shipped(name).id, "qwen3-0.6b") << name;
  }
  EXPECT_EQ(shipped("qwen/qwen3-0.6b").id, "Qwen/Qwen3-0.6B") << "a hub's name, as it is listed";
  EXPECT_EQ(shipped("other/Qwen3-0.6B").id, "other/Qwen3-0.6B") << "whoever's it is";
  EXPECT_EQ(shipped("Meta-Llama-3-8B").id, "meta-llama-3-8b") << "an alias";
}

TEST(ModelSpec, an_unknown_name_is_refused_with_the_nearest_ones) {
  const std::string line = refusal_line([] { shipped("qwen3-0.6bb"); });
  EXPECT_THAT(line, AllOf(HasSubstr("unknown model 'qwen3-0.6bb'"), HasSubstr("qwen3-0.6b'")));
}

// The owner and the words of a checkpoint do not count, and of nothing near nothing is listed.
TEST(ModelSpec, the_nearest_names_are_near_the_name_without_its_owner_and_suffixes) {
  says(refusal_line([] { shipped("owner/dbrz-Instruct-AWQ"); }), "did you mean 'dbrx'");
  says(refusal_line([] { shipped("zzzzzzzzzzz"); }), "no known name is near it");
}

TEST(ModelSpec, an_empty_name_is_refused) {
  says(refusal_line([] { shipped(""); }), "unknown model");
}

TEST(ModelSpec, a_path_to_a_hugging_face_config_is_read) {
  const std::filesystem::path dir = std::filesystem::path(testing::TempDir()) /
                                    ("halmark_model_spec_path_" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  std::ofstream(dir / "config.json") << tiny_json;
  EXPECT_EQ(load_model((dir / "config.json").string(), {}).hidden, 8);
  EXPECT_EQ(load_model(dir.string(), {}).hidden, 8);
  std::filesystem::remove_all(dir);
}

TEST(ModelSpec, a_missing_file_is_refused_by_name) {
  says(refusal_line([] { load_model("/nonexistent/config.json", {}); }),
       "/nonexistent/config.json");
}

TEST(ModelSpec, an_unknown_architecture_is_refused_with_the_nearest_or_all_known_ones) {
  const auto line = [](const std::string& type) {
    return refusal_line([&] { read_model(with_field("model_type", type), "x.json"); });
  };
  EXPECT_THAT(line("\"qwen33\""),
              AllOf(HasSubstr("x.json"), HasSubstr("unknown architecture 'qwen33'"),
                    HasSubstr("nearest known type is qwen3"), Not(HasSubstr("llama"))));
  EXPECT_THAT(line("\"zzyzx\""), AllOf(HasSubstr("llama"), HasSubstr("qwen3")));
}

struct BadField {
  const char* field;
  const char* value;  // "" removes the field
};
TEST(ModelSpec, a_bad_field_is_refused_by_file_and_name) {
  const BadField rows[] = {{"num_hidden_layers", ""},
                           {"hidden_size", ""},
                           {"num_attention_heads", ""},
                           {"intermediate_size", ""},
                           {"vocab_size", ""},
                           {"model_type", ""},
                           {"hidden_size", "0"},
                           {"hidden_size", "-8"},
                           {"hidden_size", "8.5"},
                           {"hidden_size", "\"8\""},
                           {"hidden_size", "99999999999999999999"},
                           {"vocab_size", "18446744073709551615"},
                           {"num_hidden_layers", "1000000"},
                           {"num_key_value_heads", "3"},  // does not divide 4 heads
                           {"num_key_value_heads", "8"},  // more than heads
                           {"head_dim", "3"},             // odd: no rotary pairs
                           {"head_dim", "2147483648"},
                           {"tie_word_embeddings", "\"yes\""},
                           {"num_experts", "8"},
                           {"hidden_act", "\"relu\""},
                           {"partial_rotary_factor", "2.0"},
                           {"text_config", "[]"}};
  for (const auto& [field, value] : rows) {
    SCOPED_TRACE(value);
    const std::string line =
        refusal_line([&] { read_model(with_field(field, value), "bad.json"); });
    EXPECT_THAT(line, AllOf(HasSubstr("bad.json"), HasSubstr(field)));
  }
}

TEST(ModelSpec, hostile_json_is_refused) {
  const std::string deep(1000, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        std::string(R"({"hidden_size": 8, "hidden_size": 9})"), deep,
        std::string(R"({"model_type": "llama", "hidden_size": NaN})")}) {
    EXPECT_THAT(refusal_line([&] { read_model(text, "hostile.json"); }), HasSubstr("hostile.json"))
        << text.substr(0, 40);
  }
}

TEST(ModelSpec, every_truncation_of_a_configuration_is_refused) {
  for (std::size_t length = 0; length + 1 < tiny_json.size(); ++length) {
    const std::string_view prefix = tiny_json.substr(0, length);
    EXPECT_THROW(read_model(prefix, "cut.json"), Error) << length;
  }
}

TEST(ModelSpec, defaulted_fields_are_listed_as_assumed) {
  Json json = parse_json(tiny_json, "tiny");
  for (const char* field : {"head_dim", "num_key_value_heads", "tie_word_embeddings"}) {
    json.erase(field);
  }
  const ModelSpec spec = read_model(json.dump(), "tiny");
  EXPECT_EQ(spec.head_dim, 2);
  EXPECT_EQ(spec.kv_heads, 4);
  EXPECT_THAT(spec.assumed, testing::UnorderedElementsAre(
                                HasSubstr("head_dim = 2"), HasSubstr("num_key_value_heads = 4"),
                                HasSubstr("tie_word_embeddings = false")));
  EXPECT_TRUE(tiny().assumed.empty());
  json["num_key_value_heads"] = 0;
  EXPECT_THAT(read_model(json.dump(), "tiny").assumed,
              Contains("num_key_value_heads = 4 (none in the configuration)"));
}

TEST(ModelSpec, a_nested_text_config_is_the_language_tower) {
  const ModelSpec spec = read_model(R"({"model_type": "qwen3_vl", "tie_word_embeddings": true,
      "hidden_size": 99, "text_config": {"model_type": "qwen3_vl_text", "num_hidden_layers": 2,
      "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
      "intermediate_size": 16, "vocab_size": 32}})",
                                    "vl.json");
  EXPECT_EQ(spec.hidden, 8);
  EXPECT_TRUE(spec.tied);  // found one level above
  EXPECT_EQ(spec.family, "qwen3");
}

TEST(ModelSpec, an_unknown_outer_type_falls_back_to_the_tower) {
  const ModelSpec spec = read_model(R"({"model_type": "llava", "text_config": {
      "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 4,
      "intermediate_size": 16, "vocab_size": 32}})",
                                    "llava.json");
  EXPECT_EQ(spec.family, "llama");
}

TEST(ModelSpec, a_window_counts_only_where_layers_use_it) {
  const auto windows = [](const std::string& type, const std::string& extra) {
    return read_model(R"({"model_type": ")" + type + R"(", "num_hidden_layers": 4,
      "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 2,
      "intermediate_size": 16, "vocab_size": 32, "sliding_window": 64)" +
                          extra + "}",
                      "w.json")
        .windows;
  };
  EXPECT_THAT(windows("mistral", ""), ElementsAre(64, 64, 64, 64));
  EXPECT_THAT(windows("qwen2", ""), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(windows("qwen2", R"(, "use_sliding_window": false)"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(windows("qwen2", R"(, "use_sliding_window": true, "max_window_layers": 3)"),
              ElementsAre(0, 0, 0, 64));
  EXPECT_THAT(windows("qwen3", R"(, "use_sliding_window": true, "layer_types":
      ["sliding_attention", "full_attention", "sliding_attention", "full_attention"])"),
              ElementsAre(64, 0, 64, 0));
}

TEST(ModelSpec, qwen2_has_qkv_biases_although_its_file_does_not_say_so) {
  const std::string json = with_field("model_type", "\"qwen2\"");
  const ModelSpec spec = read_model(json, "q.json");
  EXPECT_TRUE(spec.qkv_bias);
  EXPECT_FALSE(spec.o_bias);
  EXPECT_FALSE(tiny().qkv_bias);
}

TEST(Family, no_model_type_belongs_to_two_families) {
  std::vector<std::string_view> seen;
  for (const Family* family : all_families()) {
    EXPECT_EQ(find_family(family->name), family);
    for (const std::string_view type : family->model_types) {
      EXPECT_THAT(seen, Not(Contains(type)));
      seen.push_back(type);
      EXPECT_EQ(family_of_model_type(type), family);
    }
  }
  EXPECT_EQ(find_family("none"), nullptr);
}

// As the hub's tools lay it out: models--organisation--name/snapshots/revision/config.json.
TEST(ModelSpec, a_name_is_found_in_the_cache_of_a_hub) {
  const test::ScratchFolder cache;
  const auto snapshot = cache.path() / "models--org--New-Model-7B" / "snapshots" / "0a1b";
  std::filesystem::create_directories(snapshot);
  std::ofstream(snapshot / "config.json") << tiny_json;
  const test::ScopedVariable hub("HF_HUB_CACHE", cache.path().string());
  const ModelSpec spec = load_model("org/New-Model-7B", {model_dir()});
  EXPECT_EQ(spec.hidden, 8);
  EXPECT_EQ(spec.checkpoint, "org/New-Model-7B");
  EXPECT_EQ(load_model("New-Model-7B", {model_dir()}).hidden, 8);
  EXPECT_EQ(load_model("qwen3-0.6b", {model_dir()}).hidden, 1024) << "shipped ones come first";
  EXPECT_THAT(refusal_line([] { load_model("other/New-Model-7B", {model_dir()}); }),
              HasSubstr("unknown model"));
}

}  // namespace
}  // namespace halmark
