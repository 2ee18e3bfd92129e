// The reader is the gguf package of llama.cpp's own project, where it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "core/json/json.hpp"
#include "core/numeric/random.hpp"
#include "deploy/engine/random_checkpoint.hpp"
#include "tests/checkout.hpp"
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
        output_of(*python + " " + test::in_source("/tests/unit/deploy/gguf_peer.py") + " " + path),
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

template <class T>
T number_at(const std::string& bytes, std::size_t at) {
  T out{};
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// Types of gguf.h: 8 a text, 6 a float, 5 an int32, 9 a list with the type of its items.
TEST(Gguf, facts_of_every_type_have_its_number_and_their_lengths) {
  const test::ScratchFolder folder;
  GgufFile file;
  file.facts.emplace_back("t", std::string("word"));
  file.facts.emplace_back("f", 1.5F);
  file.facts.emplace_back("l", std::vector<std::string>{"a", "bc"});
  file.facts.emplace_back("g", std::vector<float>{2.5F});
  file.facts.emplace_back("i", std::vector<std::int32_t>{-3, 4});
  write_gguf(file, folder / "f", 1);
  const std::string bytes = test::file_bytes(folder / "f");
  EXPECT_EQ(number_at<std::uint64_t>(bytes, 16), 5u);
  std::size_t at = 24;
  const auto key = [&](char name) {
    EXPECT_EQ(number_at<std::uint64_t>(bytes, at), 1u);
    EXPECT_EQ(bytes[at + 8], name);
    at += 9;
  };
  const auto u32 = [&] { return at += 4, number_at<std::uint32_t>(bytes, at - 4); };
  const auto u64 = [&] { return at += 8, number_at<std::uint64_t>(bytes, at - 8); };
  const auto text = [&] {
    const std::size_t size = u64();
    at += size;
    return bytes.substr(at - size, size);
  };
  key('t');
  EXPECT_EQ(u32(), 8u);
  EXPECT_EQ(text(), "word");
  key('f');
  EXPECT_EQ(u32(), 6u);
  EXPECT_EQ(number_at<float>(bytes, at), 1.5F);
  at += 4;
  key('l');
  EXPECT_EQ(u32(), 9u);
  EXPECT_EQ(u32(), 8u);
  EXPECT_EQ(u64(), 2u);
  EXPECT_EQ(text(), "a");
  EXPECT_EQ(text(), "bc");
  key('g');
  EXPECT_EQ(u32(), 9u);
  EXPECT_EQ(u32(), 6u);
  EXPECT_EQ(u64(), 1u);
  EXPECT_EQ(number_at<float>(bytes, at), 2.5F);
  at += 4;
  key('i');
  EXPECT_EQ(u32(), 9u);
  EXPECT_EQ(u32(), 5u);
  EXPECT_EQ(u64(), 2u);
  EXPECT_EQ(number_at<std::int32_t>(bytes, at), -3);
  EXPECT_EQ(number_at<std::int32_t>(bytes, at + 4), 4);
  EXPECT_EQ(bytes.size(), (at + 8 + 31) / 32 * 32);
}

// Four values of 16 bits from each draw, one of 32, and a block of 8-bit ones from four; no draw
// twice, and another order for each tensor.
TEST(Gguf, values_use_each_draw_once) {
  const test::ScratchFolder folder;
  const auto values = [&](GgufType type, std::int64_t count) {
    GgufFile file;
    file.tensors.push_back({"a", {count}, type});
    file.tensors.push_back({"b", {count}, type});
    write_gguf(file, folder / "f", 7);
    const std::string bytes = test::file_bytes(folder / "f");
    const auto size = static_cast<std::size_t>(tensor_bytes(file.tensors[0]));
    const std::string second = bytes.substr(bytes.size() - (size + 31) / 32 * 32, size);
    EXPECT_NE(bytes.substr(bytes.size() - 2 * ((size + 31) / 32 * 32), size), second);
    return second;
  };
  const std::uint64_t seed = hash_combine(7, 1);
  const std::string bf16 = values(GgufType::bf16, 16), f16 = values(GgufType::f16, 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint64_t draw = hash_u64(seed, i / 4) >> (16 * (i % 4));
    // A sign and a mantissa of 7 and 10 bits, around a fixed exponent.
    EXPECT_EQ(number_at<std::uint16_t>(bf16, 2 * i) & 0x807f, draw & 0x807f) << i;
    EXPECT_EQ(number_at<std::uint16_t>(f16, 2 * i) & 0x83ff, draw & 0x83ff) << i;
  }
  const std::string f32 = values(GgufType::f32, 16);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(number_at<std::uint32_t>(f32, 4 * i) >> 16 & 0x807f, hash_u64(seed, i) & 0x807f);
    EXPECT_EQ(number_at<std::uint32_t>(f32, 4 * i) & 0xffff, 0u);
  }
  const std::string q8 = values(GgufType::q8_0, 64);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(number_at<std::uint64_t>(q8, i / 4 * 34 + 2 + i % 4 * 8), hash_u64(seed, i)) << i;
  }
}

}  // namespace
}  // namespace halmark::deploy
