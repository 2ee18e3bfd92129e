// The reader is the gguf package of llama.cpp's own project, where it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "core/json/json.hpp"
#include "deploy/engine/random_checkpoint.hpp"
#include "tests/python_with.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::deploy {
namespace {

using testing::HasSubstr;

ModelSpec small_spec() {
  return read_model(R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"],
 "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
 "head_dim": 32, "intermediate_size": 96, "vocab_size": 300, "max_position_embeddings": 512,
 "rms_norm_eps": 1e-6, "rope_theta": 10000, "hidden_act": "silu", "tie_word_embeddings": true})",
                    "small.json");
}

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char block[4096];
  while (const std::size_t n = fread(block, 1, sizeof block, pipe)) out.append(block, n);
  return pclose(pipe) == 0 ? out : "";
}

TEST(Gguf, its_own_project_reads_the_file_and_its_values) {
  const auto python = test::python_with("gguf");
  if (!python) GTEST_SKIP() << "the Python package gguf is not installed";
  const test::ScratchFolder folder;
  for (const char* type : {"F32", "F16", "BF16", "Q8_0"}) {
    const std::string path = folder / (std::string(type) + ".gguf");
    write_gguf(random_checkpoint(small_spec(), gguf_type(type), 512), path, 1);
    const Json read = parse_json(
        output_of(*python + " " HALMARK_SOURCE_DIR "/tests/unit/deploy/gguf_peer.py " + path),
        type);
    EXPECT_EQ(read["architecture"], "qwen3");
    EXPECT_EQ(read["tokens"], 300);
    EXPECT_EQ(read["block_count"], 2);
    ASSERT_EQ(read["tensors"].size(), 2u + 2 * 11);
    const Json& q = read["tensors"]["blk.1.attn_q.weight"];
    EXPECT_EQ(q["type"], type);
    EXPECT_EQ(q["shape"], Json({64, 128}));
    // Uniform in size from 2^-6 to 2^-5, or up to it, and of both signs.
    EXPECT_LE(q["most"], 0.03125);
    EXPECT_GT(q["most"], 0.03);
    EXPECT_NEAR(q["mean"].get<double>(), 0, 0.001);
    EXPECT_EQ(read["tensors"]["blk.0.attn_norm.weight"]["mean"], 1);
  }
}

TEST(Gguf, the_same_seed_gives_the_same_bytes) {
  const test::ScratchFolder folder;
  const GgufFile file = random_checkpoint(small_spec(), GgufType::q8_0, 512);
  write_gguf(file, folder / "a", 1);
  write_gguf(file, folder / "b", 1);
  write_gguf(file, folder / "c", 2);
  const std::string a = test::file_bytes(folder / "a");
  EXPECT_EQ(a, test::file_bytes(folder / "b"));
  EXPECT_NE(a, test::file_bytes(folder / "c"));
  EXPECT_EQ(a.size(), test::file_bytes(folder / "c").size());
}

TEST(Gguf, a_disk_that_takes_nothing_is_one_line_and_leaves_no_file) {
  const GgufFile file = random_checkpoint(small_spec(), GgufType::f32, 512);
  EXPECT_THAT(test::error_of([&] { write_gguf(file, "/dev/full", 1); }).line(),
              HasSubstr("cannot be written"));
}

TEST(RandomCheckpoint, refuses_what_its_tensors_would_not_say) {
  ModelSpec spec = small_spec();
  spec.windows[0] = 128;
  EXPECT_THAT(test::error_of([&] { random_checkpoint(spec, GgufType::f32, 8); }).line(),
              HasSubstr("it has sliding windows"));
  spec = small_spec();
  spec.moe = ExpertSpec{.experts = 4, .top_k = 2, .width = 64};
  EXPECT_THAT(test::error_of([&] { random_checkpoint(spec, GgufType::f32, 8); }).line(),
              HasSubstr("it has experts"));
  spec = small_spec();
  spec.intermediate = 90;
  EXPECT_THAT(test::error_of([&] { random_checkpoint(spec, GgufType::q8_0, 8); }).line(),
              HasSubstr("rows of 90 values are no whole blocks"));
  EXPECT_THAT(test::error_of([] { gguf_type("Q4_K"); }).line(), HasSubstr("known: F32"));
}

}  // namespace
}  // namespace halmark::deploy
