// Which architectures are written with random weights, and what their files say and hold.
#include "deploy/engine/random_checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "small_model.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::deploy {
namespace {

using test::small_model;
using testing::HasSubstr;

std::string unwritten_after(const std::function<void(ModelSpec&)>& change) {
  ModelSpec spec = small_model();
  change(spec);
  return unwritten(spec);
}

TEST(RandomCheckpointOf, dense_decoders_alone_is_written) {
  EXPECT_EQ(unwritten(small_model()), "");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.moe.emplace(); }), "experts");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.latent.emplace(); }), "latent attention");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.indexer.emplace(); }), "latent attention");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.compressed.emplace(); }), "latent attention");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.mixers.emplace_back(); }),
            "mixers beside attention");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.windows = {0, 64}; }), "sliding windows");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.windows = {0, 0}; }), "");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) {
              s.ffn_widths = {96, 64};
            }),
            "networks of different widths");
  const std::string gate = "a network without a SiLU gate";
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.plain_activation.emplace(); }), gate);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.gate = GateKind::gelu_tanh; }), gate);
  const std::string norms = "norms in other places or of another kind";
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.norm = NormKind::layer; }), norms);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.pre_norms = false; }), norms);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.post_norms = true; }), norms);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.is_parallel = true; }), norms);
  const std::string another = "another norm of queries and keys";
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.qk_norm_of_row = true; }), another);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.qk_norm_of_each_head = true; }), another);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.qk_norm_has_gain = false; }), another);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.qkv_bias = true; }),
            "norms and biases of queries and keys");
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.qkv_bias = true, s.qk_norm = false; }), "");
  for (bool ModelSpec::*const bias :
       {&ModelSpec::o_bias, &ModelSpec::mlp_bias, &ModelSpec::head_bias}) {
    EXPECT_EQ(unwritten_after([&](ModelSpec& s) { s.*bias = true; }), "biases");
  }
  const std::string others = "gates, sinks or positions";
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.output_gate = true; }), others);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.has_sinks = true; }), others);
  EXPECT_EQ(unwritten_after([](ModelSpec& s) { s.learned_positions = 1; }), others);
}

template <class T>
T fact(const GgufFile& file, const std::string& key) {
  for (const auto& [name, value] : file.facts) {
    if (name == key) return std::get<T>(value);
  }
  ADD_FAILURE() << key;
  return {};
}

TEST(RandomCheckpointOf, a_model_states_its_sizes) {
  const GgufFile file = random_checkpoint(small_model(), GgufType::bf16, 512);
  EXPECT_EQ(fact<std::string>(file, "general.architecture"), "qwen3");
  const std::pair<const char*, std::uint32_t> sizes[] = {{"vocab_size", 300},
                                                         {"context_length", 512},
                                                         {"embedding_length", 64},
                                                         {"block_count", 2},
                                                         {"feed_forward_length", 96},
                                                         {"attention.head_count", 4},
                                                         {"attention.head_count_kv", 2},
                                                         {"attention.key_length", 32},
                                                         {"attention.value_length", 32},
                                                         {"rope.dimension_count", 32}};
  for (const auto& [key, size] : sizes) {
    EXPECT_EQ(fact<std::uint32_t>(file, "qwen3." + std::string(key)), size) << key;
  }
  EXPECT_EQ(fact<float>(file, "qwen3.rope.freq_base"), 10000);
  EXPECT_FLOAT_EQ(fact<float>(file, "qwen3.attention.layer_norm_rms_epsilon"), 1e-6F);
  EXPECT_EQ(fact<std::uint32_t>(random_checkpoint(small_model(), GgufType::bf16, 513),
                                "qwen3.context_length"),
            513u)
      << "what will be asked of it, where the model has less";
}

TEST(RandomCheckpointOf, a_model_has_a_vocabulary_of_bytes_and_words) {
  const GgufFile file = random_checkpoint(small_model(), GgufType::bf16, 512);
  const auto tokens = fact<std::vector<std::string>>(file, "tokenizer.ggml.tokens");
  const auto types = fact<std::vector<std::int32_t>>(file, "tokenizer.ggml.token_type");
  ASSERT_EQ(tokens.size(), 300u);
  ASSERT_EQ(types.size(), 300u);
  EXPECT_EQ(fact<std::vector<float>>(file, "tokenizer.ggml.scores").size(), 300u);
  EXPECT_EQ(fact<std::string>(file, "tokenizer.ggml.model"), "llama");
  const std::tuple<std::size_t, const char*, int> some[] = {
      {0, "<unk>", 2},         {1, "<s>", 3},      {2, "</s>", 3},   {3, "<0x00>", 6},
      {3 + 0x1f, "<0x1F>", 6}, {258, "<0xFF>", 6}, {259, "t259", 1}, {299, "t299", 1}};
  for (const auto& [at, token, type] : some) {
    EXPECT_EQ(tokens[at], token);
    EXPECT_EQ(types[at], type) << token;
  }
  EXPECT_EQ(fact<std::uint32_t>(file, "tokenizer.ggml.bos_token_id"), 1u);
  EXPECT_EQ(fact<std::uint32_t>(file, "tokenizer.ggml.eos_token_id"), 2u);
  ModelSpec small = small_model();
  small.vocab = 260;
  EXPECT_NO_THROW(random_checkpoint(small, GgufType::bf16, 8));
  small.vocab = 259;
  EXPECT_THAT(test::error_of([&] { random_checkpoint(small, GgufType::bf16, 8); }).line(),
              HasSubstr("its vocabulary has no words"));
}

// "name type shape", gains marked.
std::vector<std::string> tensors_of(const ModelSpec& spec) {
  std::vector<std::string> out;
  for (const GgufTensor& t : random_checkpoint(spec, GgufType::f16, 8).tensors) {
    std::string line = t.name + (t.type == GgufType::f16 ? " f16" : " f32");
    for (const std::int64_t n : t.shape) line += ' ' + std::to_string(n);
    out.push_back(line + (t.is_gain ? " gain" : ""));
  }
  return out;
}

TEST(RandomCheckpointOf, a_model_has_its_tensors_by_layer) {
  ModelSpec one = small_model();
  one.layers = 1;
  EXPECT_THAT(tensors_of(one),
              testing::ElementsAre(
                  "token_embd.weight f16 64 300", "blk.0.attn_norm.weight f32 64 gain",
                  "blk.0.attn_q.weight f16 64 128", "blk.0.attn_k.weight f16 64 64",
                  "blk.0.attn_v.weight f16 64 64", "blk.0.attn_output.weight f16 128 64",
                  "blk.0.attn_q_norm.weight f32 32 gain", "blk.0.attn_k_norm.weight f32 32 gain",
                  "blk.0.ffn_norm.weight f32 64 gain", "blk.0.ffn_gate.weight f16 64 96",
                  "blk.0.ffn_up.weight f16 64 96", "blk.0.ffn_down.weight f16 96 64",
                  "output_norm.weight f32 64 gain"));
  ModelSpec biased = one;
  biased.qk_norm = false;
  biased.qkv_bias = true;
  biased.tied = false;
  const auto tensors = tensors_of(biased);
  EXPECT_THAT(tensors,
              testing::IsSupersetOf({"blk.0.attn_q.bias f32 128", "blk.0.attn_k.bias f32 64",
                                     "blk.0.attn_v.bias f32 64", "output.weight f16 64 300"}));
  EXPECT_THAT(tensors, testing::Not(testing::Contains(HasSubstr("attn_q_norm"))));
  EXPECT_EQ(fact<std::string>(random_checkpoint(biased, GgufType::f16, 8), "general.architecture"),
            "qwen2");
  biased.qkv_bias = false;
  EXPECT_EQ(fact<std::string>(random_checkpoint(biased, GgufType::f16, 8), "general.architecture"),
            "llama");
}

TEST(RandomCheckpointOf, rows_are_whole_blocks_of_32_where_weights_are) {
  const auto refusal = [](const std::function<void(ModelSpec&)>& change, GgufType type) {
    ModelSpec spec = small_model();
    change(spec);
    try {
      random_checkpoint(spec, type, 8);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("written");
  };
  EXPECT_EQ(refusal([](ModelSpec&) {}, GgufType::q8_0), "written");
  EXPECT_EQ(refusal([](ModelSpec& s) { s.hidden = 65; }, GgufType::q8_0),
            "rows of 65 values are no whole blocks of Q8_0");
  EXPECT_EQ(refusal([](ModelSpec& s) { s.head_dim = 31; }, GgufType::q8_0),
            "rows of 124 values are no whole blocks of Q8_0");
  EXPECT_EQ(refusal([](ModelSpec& s) { s.intermediate = 95; }, GgufType::q8_0),
            "rows of 95 values are no whole blocks of Q8_0");
  EXPECT_EQ(refusal([](ModelSpec& s) { s.intermediate = 95; }, GgufType::bf16), "written");
}

// A number of the file at an offset.
template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T out{};
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// By the layout of ggml/include/gguf.h: magic, version 3, counts, facts, tensors, then the values
// at multiples of 32.
TEST(GgufBytes, are_laid_out_as_version_3_says) {
  const test::ScratchFolder folder;
  GgufFile file;
  file.facts.emplace_back("k", std::uint32_t{7});
  file.tensors.push_back({"a", {3}, GgufType::f32, true});
  file.tensors.push_back({"b", {32, 2}, GgufType::q8_0});
  file.tensors.push_back({"c", {5}, GgufType::f16});
  write_gguf(file, folder / "f", 1);
  const std::string bytes = test::file_bytes(folder / "f");
  EXPECT_EQ(bytes.substr(0, 4), "GGUF");
  EXPECT_EQ(number_at<std::uint32_t>(bytes, 4), 3u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 8), 3u) << "tensors";
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 16), 1u) << "facts";
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 24), 1u) << "bytes of the key";
  EXPECT_EQ(bytes[32], 'k');
  EXPECT_EQ(number_at<std::uint32_t>(bytes, 33), 4u) << "a number of 32 bits";
  EXPECT_EQ(number_at<std::uint32_t>(bytes, 37), 7u);
  // A tensor: its name, dimensions, type and offset. One of a dimension takes 9 + 4 + 8 + 4 + 8.
  std::size_t at = 41;
  EXPECT_EQ(bytes[at + 8], 'a');
  EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 9), 1u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, at + 13), 3u);
  EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 21), 0u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, at + 25), 0u);
  at += 33;
  EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 9), 2u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, at + 13), 32u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, at + 21), 2u);
  EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 29), 8u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, at + 33), 32u) << "12 bytes and padding";
  at += 41;
  EXPECT_EQ(number_at<std::uint32_t>(bytes, at + 21), 1u);
  EXPECT_EQ(number_at<std::uint64_t>(bytes, at + 25), 32u + 96u)
      << "68 bytes of two blocks, padded";
  at += 33;
  const std::size_t data = (at + 31) / 32 * 32;
  ASSERT_EQ(bytes.size(), data + 32 + 96 + 32);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(number_at<float>(bytes, data + 4 * i), 1.0F);
  // A block: the scale 2^-12 as f16, then 32 bytes.
  EXPECT_EQ(number_at<std::uint16_t>(bytes, data + 32), 0x0c00);
  EXPECT_EQ(number_at<std::uint16_t>(bytes, data + 32 + 34), 0x0c00);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto value = number_at<std::uint16_t>(bytes, data + 128 + 2 * i);
    EXPECT_EQ(value & 0x7c00, 0x2400) << "f16 of 2^-6 to 2^-5";
  }
  EXPECT_EQ(bytes.substr(data + 128 + 10), std::string(22, '\0'));
}

TEST(GgufBytes, of_tensors_are_those_of_their_type) {
  EXPECT_EQ(tensor_bytes({"t", {6, 5}, GgufType::f32}), 120u);
  EXPECT_EQ(tensor_bytes({"t", {6, 5}, GgufType::f16}), 60u);
  EXPECT_EQ(tensor_bytes({"t", {6, 5}, GgufType::bf16}), 60u);
  EXPECT_EQ(tensor_bytes({"t", {64, 5}, GgufType::q8_0}), 340u) << "34 a block of 32";
}

// More than the megabyte that is written at a time.
TEST(GgufBytes, of_large_tensors_go_on_where_the_buffer_ends) {
  const test::ScratchFolder folder;
  GgufFile file;
  file.tensors.push_back({"a", {400'000}, GgufType::f32});
  write_gguf(file, folder / "f", 1);
  const std::string bytes = test::file_bytes(folder / "f");
  ASSERT_EQ(bytes.size(), 64u + 1'600'000);
  double most = 0, least = 1;
  for (std::size_t i = 0; i < 400'000; ++i) {
    const double value = std::abs(number_at<float>(bytes, 64 + 4 * i));
    most = std::max(most, value);
    least = std::min(least, value);
  }
  EXPECT_GE(least, 0x1p-6);
  EXPECT_LT(most, 0x1p-5);
}

}  // namespace
}  // namespace halmark::deploy
