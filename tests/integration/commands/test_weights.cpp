// halmark model --weights: a checkpoint by its headers, with and without a configuration.
#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/model/weights/written_weights.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;
using weights_test::Tensors;

constexpr const char* config = R"({"model_type": "llama", "num_hidden_layers": 2,
  "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
  "intermediate_size": 512, "vocab_size": 1000, "tie_word_embeddings": false})";

class Weights : public HalmarkTest {
 protected:
  // A llama with a tower beside it, in a folder of its own.
  std::string folder(const std::string& name, const std::string& stated) const {
    const std::filesystem::path at = path(name);
    std::filesystem::create_directories(at);
    Tensors tensors = weights_test::llama(2, 256, 256, 128, 512, 1000);
    tensors.push_back({"visual.blocks.0.mlp.weight", "BF16", {100, 200}});
    test::write_file((at / "model.safetensors").string(), weights_test::safetensors_bytes(tensors));
    if (!stated.empty()) test::write_file((at / "config.json").string(), stated);
    return at.string();
  }
};

TEST_F(Weights, say_what_is_stored_and_what_is_not_priced) {
  const std::string place = folder("whole", config);
  const Json data = data_of({"model", "--weights", place, "--device", "h100"});
  EXPECT_EQ(data["model"]["family"], "llama");
  const Json& w = data["weights"];
  EXPECT_EQ(w["decoder_params"], data["model"]["total_params"]);
  EXPECT_EQ(w["params"].get<std::int64_t>(), w["decoder_params"].get<std::int64_t>() + 20'000);
  EXPECT_EQ(w["bytes"].get<std::int64_t>(), 2 * w["params"].get<std::int64_t>());
  EXPECT_EQ(w["not_priced"][0]["name"], "visual");
  EXPECT_EQ(w["not_priced"][0]["bytes"], 40'000);
  EXPECT_EQ(w["differences"], Json::array());
  const Outcome o = halmark({"model", "--weights", place});
  EXPECT_THAT(o.out, HasSubstr("not priced: visual, 20,000 parameters"));
  EXPECT_THAT(o.out, HasSubstr("as the configuration counts"));
  EXPECT_FALSE(data_of({"model", place}).contains("weights")) << "no headers without the option";
}

TEST_F(Weights, are_priced_without_a_configuration_and_named_where_they_contradict_one) {
  const std::string bare = folder("bare", "");
  const Json last = data_of({"model", "--weights", bare, "--device", "h100"});
  EXPECT_EQ(last["model"]["family"], "stored_matrices");
  const Json usual = data_of({"model", "--weights", folder("whole", config), "--device", "h100"});
  EXPECT_EQ(last["model"]["total_params"], usual["model"]["total_params"]);
  EXPECT_EQ(last["model"]["active_params"], usual["model"]["active_params"]);
  // The same as MODEL, in this command and in others.
  EXPECT_EQ(data_of({"model", bare + "/model.safetensors", "--device", "h100"})["totals"],
            last["totals"]);
  EXPECT_EQ(halmark({"tune", bare + "/model.safetensors", "--device", "h100"}).exit_code, 0);
  std::string wrong = config;
  wrong.replace(wrong.find("512"), 3, "384");
  const Outcome o = halmark({"model", "--weights", folder("wrong", wrong)});
  EXPECT_THAT(o.out, HasSubstr("2 layers from 0: mlp.down_proj [256, 512] in the weights"));
  // A model that is named beside them is compared with them.
  EXPECT_THAT(halmark({"model", "qwen3-0.6b", "--weights", bare}).out,
              HasSubstr("layers: 2 in the weights, 28 by the configuration"));
  const Outcome twice = halmark({"model", bare + "/model.safetensors", "--weights", bare});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("weights are named twice"));
}

}  // namespace
}  // namespace halmark::integration
