// Headers that are read, and headers that lie: one line, never a byte of data.
#include <chrono>
#include <cstdio>
#include <random>

#include "core/text/error.hpp"
#include "fixtures.hpp"
#include "model/weights/checkpoint.hpp"
#include "tests/python_with.hpp"
#include "tests/unit/error_of.hpp"
#include "written_weights.hpp"

namespace halmark::weights_test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

const Tensors small = llama(2, 8, 16, 8, 24, 32);

TEST(WeightsHeader, tensors_are_those_of_the_file_whatever_data_it_has) {
  const test::ScratchFolder folder;
  const std::string path = written(folder, "model.safetensors", safetensors_bytes(small));
  WeightsHeader header = read_weights(path);
  ASSERT_EQ(header.tensors.size(), small.size());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_EQ(header.tensors[i].name, small[i].name);
    EXPECT_EQ(header.tensors[i].type, small[i].type);
    EXPECT_EQ(header.tensors[i].shape, small[i].shape);
    bytes += header.tensors[i].bytes;
  }
  EXPECT_EQ(header.absent_bytes, bytes);
  std::filesystem::resize_file(
      path, std::filesystem::file_size(path) + static_cast<std::uint64_t>(bytes));
  EXPECT_EQ(read_weights(path).absent_bytes, 0);
}

// 405 billion parameters in a file that is a hole: nothing of it is read.
TEST(WeightsHeader, a_terabyte_costs_what_its_header_does) {
  const test::ScratchFolder folder;
  const std::string path = written(
      folder, "big.safetensors", safetensors_bytes(llama(126, 16384, 16384, 1024, 53248, 128256)));
  const auto header = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, header + 2 * std::uint64_t{405'853'388'800});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(checkpoint_of(read_weights(path)).parameters, 405'853'388'800);  // as published
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(WeightsHeader, an_index_a_folder_and_parts_are_one_checkpoint) {
  const test::ScratchFolder folder;
  const Tensors first(small.begin(), small.begin() + 9), second(small.begin() + 9, small.end());
  const std::string one = "model-00001-of-00002.safetensors",
                    two = "model-00002-of-00002.safetensors";
  written(folder, one, safetensors_bytes(first));
  written(folder, two, safetensors_bytes(second));
  Json map = Json::object();
  for (const Written& t : first) map[t.name] = one;
  for (const Written& t : second) map[t.name] = two;
  const std::string index =
      written(folder, "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
  for (const std::string& place : {index, folder.path().string(), folder / one, folder / two}) {
    const WeightsHeader header = read_weights(place);
    EXPECT_EQ(header.tensors.size(), small.size()) << place;
    EXPECT_EQ(header.files, 2) << place;
  }
  map.erase("model.norm.weight");  // what an index leaves out is no part of the model
  written(folder, "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
  EXPECT_EQ(read_weights(index).tensors.size(), small.size() - 1);
  map["model.norm.bias"] = two;
  written(folder, "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
  EXPECT_THAT(test::error_of([&] { read_weights(index); }).line(), HasSubstr("'model.norm.bias'"));
  map["model.norm.weight"] = "model-00003-of-00003.safetensors";
  map["lm_head.weight"] = "model-00004-of-00004.safetensors";
  written(folder, "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
  EXPECT_THAT(test::error_of([&] { read_weights(index); }).line(),
              HasSubstr("names 2 files that cannot be read: model-00003-of-00003.safetensors"));
}

TEST(WeightsHeader, a_folder_is_one_checkpoint_with_all_its_parts) {
  const test::ScratchFolder folder;
  const std::string place = folder.path().string();
  const std::string bytes = safetensors_bytes(small);
  written(folder, "consolidated.safetensors", bytes);
  EXPECT_EQ(read_weights(place).tensors.size(), small.size());
  written(folder, "model-00001-of-00003.safetensors", bytes);
  EXPECT_THAT(test::error_of([&] { read_weights(place); }).line(),
              HasSubstr("names 2 files that cannot be read: model-00002-of-00003.safetensors"));
  written(folder, "model-00002-of-00003.safetensors", safetensors_bytes(Tensors{{"x", "F32", {}}}));
  written(folder, "model-00003-of-00003.safetensors", safetensors_bytes(Tensors{{"y", "F32", {}}}));
  EXPECT_EQ(read_weights(place).files, 3) << "Mistral's file holds the same weights again";
  EXPECT_EQ(read_weights(place).tensors.size(), small.size() + 2);
}

// The alignment of one part says nothing of the next.
TEST(WeightsHeader, parts_of_gguf_have_their_own_alignment) {
  const test::ScratchFolder folder;
  const Fact alignment = {"general.alignment", 4, little(std::uint32_t{64})};
  written(folder, "m-00001-of-00002.gguf",
          gguf_bytes({alignment}, {{"blk.0.x.weight", 0, {8}}, {"blk.0.y.weight", 0, {8}, 64}}));
  const std::string second =
      written(folder, "m-00002-of-00002.gguf",
              gguf_bytes({}, {{"blk.1.x.weight", 0, {8}}, {"blk.1.y.weight", 0, {8}, 32}}));
  EXPECT_EQ(read_weights(second).tensors.size(), 4u);
}

// Every type of ggml, by the project's own writer and reader, where they are installed.
TEST(WeightsHeader, gguf_is_read_as_its_own_project_reads_it) {
  const auto python = test::python_with("gguf");
  if (!python) GTEST_SKIP() << "the Python package gguf is not installed";
  const test::ScratchFolder folder;
  const std::string command = *python + " " +
                              test::in_source("/tests/unit/model/weights/gguf_header_peer.py") +
                              " " + (folder / "peer.gguf");
  FILE* pipe = popen(command.c_str(), "r");
  std::string text(std::size_t{1} << 16, '\0');
  text.resize(fread(text.data(), 1, text.size(), pipe));
  ASSERT_EQ(pclose(pipe), 0);
  const Json peer = parse_json(text, "peer").at("tensors");
  const WeightsHeader header = read_weights(folder / "peer.gguf");
  ASSERT_GT(peer.size(), 20u);
  ASSERT_EQ(header.tensors.size(), peer.size());
  for (const StoredTensor& t : header.tensors) {
    EXPECT_EQ(Json({t.type, t.shape, t.bytes}), peer.at(t.name)) << t.name;
  }
  EXPECT_EQ(header.numbers.at("qwen3.attention.key_length"), std::vector<std::int64_t>{64});
  EXPECT_EQ(header.absent_bytes, 0);
}

struct Lie {
  const char* name;
  std::string file, bytes;
  const char* said;
};
void PrintTo(const Lie& lie, std::ostream* out) { *out << lie.name; }

std::string with(const char* tensor, const Json& entry) {
  Json header = safetensors_json(small);
  header[tensor] = entry;
  return safetensors_bytes(header);
}
std::string with_more(const Tensors& more) {
  Tensors all = small;
  all.insert(all.end(), more.begin(), more.end());
  return safetensors_bytes(all);
}
Json entry(const char* type, Json shape, Json offsets) {
  return {{"dtype", type}, {"shape", std::move(shape)}, {"data_offsets", std::move(offsets)}};
}

std::vector<Lie> lies() {
  const std::string st = "a.safetensors", gguf = "a.gguf";
  const std::string nested = R"({"x": )" + std::string(1000, '[') + std::string(1000, ']') + "}";
  std::string half = safetensors_bytes(small);
  half.resize(half.size() / 2);
  const std::string three = "GGUF" + little(std::uint32_t{3});
  const auto counts = [&](std::uint64_t tensors, std::uint64_t facts) {
    return three + little(tensors) + little(facts);
  };
  return {
      {"empty", st, "", "too short"},
      {"length", st, little(~std::uint64_t{0}), "states a header of 18446744073709551615 bytes"},
      {"cut", st, half, "states a header"},
      {"deep", st, little(std::uint64_t{nested.size()}) + nested, "nesting exceeds 64 levels"},
      {"no_json", st, little(std::uint64_t{3}) + "abc", "not valid JSON"},
      {"list", st, little(std::uint64_t{2}) + "[]", "no JSON object"},
      {"negative_offset", st, with("x", entry("F32", {1}, {-4, 0})), "'x' has a size or offset"},
      {"turned", st, with("x", entry("F32", {1}, {8, 4})), "'x' has -4 bytes"},
      {"negative_size", st, with("x", entry("F32", {-1}, {0, 4})), "'x' has a size or offset"},
      {"overlap", st, with("x", entry("F32", {1}, {0, 4})), "overlap or leave a hole"},
      {"hole", st, with("x", entry("F32", {1}, {1 << 20, (1 << 20) + 4})),
       "overlap or leave a hole"},
      {"other_size", st, with("x", entry("F32", {2}, {0, 4})), "'x' has 4 bytes, which its shape"},
      {"beyond_memory", st, with("x", entry("F32", {1LL << 31, 1LL << 31}, {0, 4})),
       "a shape that no memory holds"},
      {"no_shape", st, with("x", Json{{"dtype", "F32"}, {"data_offsets", {0, 4}}}),
       "'x' has no shape"},
      {"no_entry", st, with("x", 3), "'x' has no dtype"},
      {"no_range", st, with("x", entry("F32", {1}, Json::array({0}))), "'x' has no range"},
      {"no_tensors", st, safetensors_bytes(Json::object()), "has no tensors"},
      {"no_layers", st, safetensors_bytes(Tensors{{"x", "F32", {2, 2}}}), "has no layers"},
      {"adapters", st,
       safetensors_bytes(
           Tensors{{"base_model.model.layers.0.q_proj.lora_A.weight", "F32", {2, 2}}}),
       "has no layers, but low-rank adapters"},
      {"more_than_stated", st, safetensors_bytes(small) + std::string(1 << 16, 'x'),
       "that its header does not state"},
      {"no_magic", gguf, "GGML" + std::string(64, '\0'), "is no GGUF file"},
      {"short_gguf", gguf, "GGUF", "ends within its header"},
      {"version", gguf, "GGUF" + little(std::uint32_t{1}) + std::string(32, '\0'), "version 1"},
      {"a_billion_tensors", gguf, counts(1'000'000'000, 0), "states 1000000000 tensors"},
      {"a_billion_facts", gguf, counts(1, 1'000'000'000), "1000000000 facts"},
      {"long_text", gguf, counts(1, 1) + little(std::uint64_t{1} << 40), "a text of 1099511627776"},
      {"nested_list", gguf,
       counts(1, 1) + gguf_text("k") + little(std::uint32_t{9}) + little(std::uint32_t{9}) +
           little(std::uint64_t{1}),
       "in a list, which is none"},
      {"long_list", gguf,
       counts(1, 1) + gguf_text("k") + little(std::uint32_t{9}) + little(std::uint32_t{4}) +
           little(std::uint64_t{1} << 60),
       "more values than it has bytes"},
      {"no_value", gguf, counts(1, 1) + gguf_text("k") + little(std::uint32_t{77}), "type 77"},
      {"ggml_type", gguf, gguf_bytes({}, {{"blk.0.x.weight", 4, {32, 2}}}), "ggml type 4"},
      {"gguf_overlap", gguf,
       gguf_bytes({}, {{"blk.0.x.weight", 0, {32, 2}}, {"blk.0.y.weight", 0, {32, 2}, 8}}),
       "overlap or leave a hole"},
      {"no_blocks", gguf, gguf_bytes({}, {{"blk.0.x.weight", 12, {100, 2}}}),
       "no whole blocks of Q4_K"},
      {"negative_gguf", gguf, gguf_bytes({}, {{"blk.0.x.weight", 0, {~std::uint64_t{0}, 2}}}),
       "a shape that no memory holds"},
      {"twice", gguf,
       gguf_bytes({}, {{"blk.0.x.weight", 0, {32, 2}}, {"blk.0.x.weight", 0, {32, 2}, 256}}),
       "twice"},
      {"experts", st, with_more({{"model.layers.0.experts.x", "I8", {1 << 26, 2, 2}}}),
       "of 67108864 experts; the limit is 65536"},
      {"experts_with_scales", st,
       with_more({{"model.layers.0.experts.x.weight", "I8", {1 << 30, 1, 2}},
                  {"model.layers.0.experts.x.weight_scale", "F8_E4M3", {1 << 17, 1 << 17}}}),
       "of 1073741824 experts"},
      {"unpacked", st,
       with_more({{"model.layers.0.x.qweight", "I32", {1LL << 40, 1}},
                  {"model.layers.0.x.qzeros", "I32", {1, 1LL << 37}},
                  {"model.layers.0.x.scales", "F16", {1, 1LL << 40}}}),
       "'model.layers.0.x', whose tensors unpack to more than their bits"},
      {"sum_of_values", st,
       with_more(
           {{"model.layers.0.x", "I8", {1LL << 45}}, {"model.layers.0.y", "I8", {1LL << 45}}}),
       "more values or bytes than any memory holds"},
      {"sum_of_gguf", gguf,
       gguf_bytes({}, {{"blk.0.x", 28, {1LL << 46}}, {"blk.0.y", 28, {1LL << 46}, 1LL << 49}}),
       "more values or bytes than any memory holds"},
      {"weights_twice", st, with_more({{"model.layers.0.self_attn.q_proj", "BF16", {16, 8}}}),
       "has both 'model.layers.0.self_attn.q_proj"},
      {"part_of_none", "x-00000-of-00000.gguf", gguf_bytes({}, {{"blk.0.x", 0, {32}}}),
       "is part 0 of 0"},
      {"part_beyond", "x-00004-of-00003.safetensors", safetensors_bytes(small), "is part 4 of 3"},
      {"pickled", "pytorch_model.bin", "PK", "no checkpoint by its name"}};
}

class LyingHeader : public testing::TestWithParam<Lie> {};

TEST_P(LyingHeader, is_refused_in_one_line) {
  const test::ScratchFolder folder;
  const std::string path = written(folder, GetParam().file, GetParam().bytes);
  const auto begin = std::chrono::steady_clock::now();
  const Error error = test::error_of([&] { checkpoint_of(read_weights(path)); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr(GetParam().said));
  EXPECT_THAT(error.line(), HasSubstr(GetParam().file));
  EXPECT_EQ(error.line().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Table, LyingHeader, testing::ValuesIn(lies()),
                         [](const auto& param) { return param.param.name; });

// Shapes of quantised tensors that their scales contradict, up to the graph of last resort.
TEST(WeightsHeader, mutations_of_packed_tensors_are_read_or_refused) {
  const std::string at = "model.layers.0.mlp.up_proj.", experts = "model.layers.0.mlp.experts.";
  const Tensors packed[] = {
      {{at + "qweight", "I32", {1, 8}},
       {at + "qzeros", "I32", {1, 1}},
       {at + "scales", "F16", {1, 8}}},
      {{at + "qweight", "I32", {8, 1}},
       {at + "qzeros", "I32", {1, 1}},
       {at + "scales", "F16", {1, 8}}},
      {{at + "weight", "U32", {8, 1}},
       {at + "scales", "BF16", {8, 2}},
       {at + "biases", "BF16", {8, 2}}},
      {{at + "weight_packed", "I32", {8, 1}},
       {at + "weight_scale", "BF16", {8, 1}},
       {at + "weight_shape", "I32", {2}}},
      {{at + "weight", "U8", {8, 4}},
       {at + "weight_scale", "F8_E4M3", {8, 2}},
       {at + "weight_scale_2", "F32", {}}},
      {{at + "weight", "U8", {2, 8}}, {at + "weight_scale", "BF16", {1}}},
      {{at + "weight", "F8_E4M3", {8, 8}}, {at + "weight_scale_inv", "F32", {2, 2}}},
      {{at + "weight", "U8", {32, 1}}, {at + "weight.absmax", "U8", {1}}},
      {{experts + "up_proj_blocks", "U8", {4, 8, 1, 4}},
       {experts + "up_proj_scales", "U8", {4, 8, 1}}},
      {{experts + "up.weight", "U32", {4, 8, 1}}, {experts + "up.scales", "BF16", {4, 8, 2}}}};
  const std::int64_t sizes[] = {0, 1, 2, 3, 5, 64, 1 << 17, 1 << 25};
  const std::string types[] = {"I32", "U8", "I8", "F8_E4M3", "BF16", "F4"};
  std::mt19937 random(1);
  int read = 0, refused = 0;
  const test::ScratchFolder folder;
  for (std::size_t round = 0; round < 1000; ++round) {
    Tensors tensors = packed[round % std::size(packed)];
    for (std::size_t change = 0; change < 1 + round % 2; ++change) {
      Written& t = tensors[random() % tensors.size()];
      if (round % 7 == 0) t.type = types[random() % std::size(types)];
      if (round % 11 == 0) t.shape.clear();
      if (!t.shape.empty()) t.shape[random() % t.shape.size()] = sizes[random() % std::size(sizes)];
    }
    const bool has_model = round % 3 > 0;
    if (has_model) tensors.insert(tensors.end(), small.begin(), small.end());
    const std::string path = written(folder, "a.safetensors", safetensors_bytes(tensors));
    try {
      const ModelSpec spec = load_model(path, {});
      const Precision packed = model_test::precisions(spec).back();
      (void)build_graph(spec, model_test::decode(1, 1, {}, packed));
      ++read;
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.exit_code(), ExitCode::refused);
      ASSERT_EQ(error.line().find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(read, 250);
  EXPECT_GT(refused, 75);
}

// Any bytes are read or refused.
TEST(WeightsHeader, mutations_of_a_header_are_read_or_refused) {
  const test::ScratchFolder folder;
  std::vector<Fact> facts = {
      {"general.architecture", 8, gguf_text("llama")},
      {"llama.block_count", 4, little(std::uint32_t{1})},
      {"tokenizer.ggml.tokens", 9,
       little(std::uint32_t{8}) + little(std::uint64_t{2}) + gguf_text("a") + gguf_text("b")}};
  const std::string seeds[] = {safetensors_bytes(small),
                               gguf_bytes(facts, {{"blk.0.attn_q.weight", 12, {256, 4}},
                                                  {"output.weight", 0, {4, 4}, 576}})};
  std::mt19937 random(1);
  int read = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = seeds[round % 2];
    for (int change = 0; change < 1 + round % 3; ++change) {
      const std::size_t at = random() % bytes.size();
      if (round % 5 == 0)
        bytes.resize(at + 1);
      else
        bytes[at % bytes.size()] = static_cast<char>(random());
    }
    const std::string path = written(folder, round % 2 == 0 ? "a.safetensors" : "a.gguf", bytes);
    try {
      checkpoint_of(read_weights(path));
      ++read;
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(error.exit_code(), ExitCode::refused);
      ASSERT_EQ(error.line().find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace halmark::weights_test
