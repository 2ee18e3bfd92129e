#include "model/spec/model_head.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/text/error.hpp"
#include "model/spec/config_reader.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

namespace {

// Heads that transformers and model repositories put in the place of the LM head.
struct HeadRow {
  std::string_view ending;
  std::int64_t labels;  // where the file states no other number
  bool has_bias, of_each_token;
  bool has_square;  // a square product with bias in front of it
};
constexpr std::array heads = {HeadRow{"Qwen2ForProcessRewardModel", 2, true, true, true},
                              HeadRow{"Qwen2ForRewardModel", 1, true, false, true},
                              HeadRow{"ForSequenceClassification", 2, false, false, false},
                              HeadRow{"ForTokenClassification", 2, true, true, false},
                              HeadRow{"ForQuestionAnswering", 2, true, true, false},
                              HeadRow{"RewardModel", 1, false, false, false}};

// "Model" ends their names, and an LM head stands behind them.
constexpr std::array<std::string_view, 4> with_lm_head = {"LMHeadModel", "ChatModel",
                                                          "ChatGLMModel", "DreamModel"};

std::int64_t stated_labels(const ConfigReader& config, std::int64_t fallback) {
  const auto named = static_cast<std::int64_t>(config.keys("id2label").size());
  return config.size("num_labels").value_or(named > 0 ? named : fallback);
}

void read_named_head(const ConfigReader& config, const std::string& name, ModelSpec& spec) {
  if (name.ends_with("ForMultipleChoice") || name.ends_with("ForTextEncoding")) {
    config.refuse("architectures", "is '" + printable(name) + "', a head that is not modelled");
  }
  const auto row =
      std::ranges::find_if(heads, [&](const HeadRow& head) { return name.ends_with(head.ending); });
  if (row != heads.end()) {
    spec.has_lm_head = false;
    const bool is_question = row->ending == "ForQuestionAnswering";
    spec.labels = is_question ? 2 : stated_labels(config, row->labels);
    spec.labels_bias = row->has_bias;
    spec.label_of_each_token = row->of_each_token;
    spec.has_pooler = row->has_square;
    return;
  }
  const bool has_head = std::ranges::any_of(
      with_lm_head, [&](std::string_view ending) { return name.ends_with(ending); });
  if (name.ends_with("Model") && !has_head) spec.has_lm_head = false;
}

// `use_bidirectional_attention` may be a text: "vision" is about image tokens alone.
bool sees_both_directions(const ConfigReader& config) {
  const char* field = "use_bidirectional_attention";
  if (config.is_set(field) && !config.is_text(field, "vision")) return true;
  return std::ranges::any_of(std::array{"is_causal", "causal"}, [&](const char* causal) {
    return config.has(causal) && !config.is_set(causal);
  });
}

}  // namespace

bool names_architecture(const ConfigReader& config, std::string_view ending) {
  const auto names = config.texts("architectures").value_or(std::vector<std::string>{});
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return name.ends_with(ending); });
}

void read_head(ConfigReader& config, ModelSpec& spec) {
  for (const std::string& name :
       config.texts("architectures").value_or(std::vector<std::string>{})) {
    read_named_head(config, name, spec);
  }
  spec.is_causal = !sees_both_directions(config);
}

}  // namespace halmark
