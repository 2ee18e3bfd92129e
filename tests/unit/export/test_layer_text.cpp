// The operations of a decoder layer's IR, counted by hand, and the bytes of its weights.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>
#include <regex>

#include "export/ir/decoder_layer.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::exports {
namespace {

const DecoderLayer small{.name = "small",
                         .hidden = 64,
                         .heads = 4,
                         .kv_heads = 2,
                         .head_dim = 16,
                         .intermediate = 96,
                         .weights = Dtype::f32,
                         .batch = 2,
                         .new_tokens = 3,
                         .context = 9};

std::map<std::string, int> operations(const DecoderLayer& layer) {
  std::map<std::string, int> out;
  const std::string xml = decoder_layer_ir(layer).xml;
  const std::regex type("<layer [^>]*type=\"(\\w+)\"");
  for (std::sregex_iterator at(xml.begin(), xml.end(), type), end; at != end; ++at) {
    ++out[(*at)[1]];
  }
  return out;
}

TEST(LayerText, has_the_operations_of_a_layer) {
  auto seven = operations(small);
  EXPECT_EQ(seven["Parameter"], 5) << "hidden, cos, sin and two caches";
  EXPECT_EQ(seven["Result"], 3) << "hidden, new keys, new values";
  EXPECT_EQ(seven["MatMul"], 7 + 2) << "q, k, v, o, gate, up, down; scores and their values";
  EXPECT_THAT(seven, test::HasValues(R"({"/SoftMax": 1, "/Swish": 1, "/ReduceMean": 2, "/Sqrt": 2,
      "/Slice": 4})"));
  EXPECT_EQ(seven["Concat"], 2 + 2) << "halves of queries and keys, both caches";
  EXPECT_EQ(seven["Minimum"], 1) << "of the mask";
  DecoderLayer normed = small;
  normed.qk_norm = true;
  EXPECT_EQ(operations(normed)["ReduceMean"], 4);
  DecoderLayer single = small;
  single.new_tokens = 1;
  EXPECT_EQ(operations(single)["Minimum"], 0) << "one token sees all";
  DecoderLayer whole = small;
  whole.new_tokens = whole.context;
  EXPECT_EQ(operations(whole)["Concat"], 2);
  EXPECT_EQ(operations(whole)["Parameter"], 3);
  DecoderLayer biased = small;
  biased.qkv_bias = true;
  EXPECT_EQ(operations(biased)["Add"], operations(small)["Add"] + 3);
  DecoderLayer narrow = small;
  narrow.weights = Dtype::bf16;
  EXPECT_EQ(operations(narrow)["Convert"], operations(small)["Convert"] + 7);
}

// Constants by name: shape, offset, size.
struct Constant {
  std::string type, shape;
  std::size_t offset = 0, size = 0;
};
std::vector<std::pair<std::string, Constant>> constants(const std::string& xml) {
  std::vector<std::pair<std::string, Constant>> out;
  const std::regex pattern(
      "<layer id=\"[0-9]+\" name=\"(\\w+)\" type=\"Const\" version=\"opset1\">\\s*<data "
      "element_type=\"(\\w+)\" shape=\"([0-9,]*)\" offset=\"([0-9]+)\" size=\"([0-9]+)\"/>");
  for (std::sregex_iterator at(xml.begin(), xml.end(), pattern), end; at != end; ++at) {
    out.push_back({(*at)[1], {(*at)[2], (*at)[3], std::stoull((*at)[4]), std::stoull((*at)[5])}});
  }
  return out;
}

TEST(LayerText, places_constants_behind_each_other_at_multiples_of_64) {
  const LayerIr ir = decoder_layer_ir(small);
  std::size_t end = 0;
  std::map<std::string, std::string> shapes;
  for (const auto& [name, c] : constants(ir.xml)) {
    EXPECT_EQ(c.offset % 64, 0u) << name;
    EXPECT_GE(c.offset, end) << name;
    EXPECT_LT(c.offset, end + 64) << name;
    end = c.offset + c.size;
    shapes[name] = c.shape;
  }
  EXPECT_EQ(static_cast<std::int64_t>(end), ir.weight_bytes);
  EXPECT_THAT(shapes, test::HasValues(R"({"/input_norm": "64", "/q_proj": "64,64",
      "/k_proj": "32,64", "/v_proj": "32,64", "/o_proj": "64,64", "/gate_proj": "96,64",
      "/down_proj": "64,96"})"));
}

// Gains lie around 1, matrices within 1 / sqrt(inputs), integers are themselves.
TEST(LayerText, draws_weights_of_a_size_at_which_nothing_overflows) {
  const test::ScratchFolder folder;
  write_layer_ir(small, folder / "l");
  const std::string bytes = test::file_bytes(folder / "l.bin");
  const std::string xml = test::file_bytes(folder / "l.xml");
  EXPECT_EQ(xml, decoder_layer_ir(small).xml);
  for (const auto& [name, c] : constants(xml)) {
    if (c.type != "f32" || c.size < 256) continue;
    double least = 1e9, most = -1e9;
    for (std::size_t i = 0; i < c.size / 4; ++i) {
      float value = 0;
      std::memcpy(&value, bytes.data() + c.offset + 4 * i, sizeof value);
      least = std::min<double>(least, value);
      most = std::max<double>(most, value);
    }
    const bool is_gain = name.ends_with("norm");
    const double centre = is_gain ? 1 : 0;
    const double spread = is_gain ? 0.1 : name == "down_proj" ? 1 / std::sqrt(96.0) : 0.125;
    EXPECT_GT(least, centre - spread) << name;
    EXPECT_LT(least, centre - 0.85 * spread) << name;
    EXPECT_LT(most, centre + spread) << name;
    EXPECT_GT(most, centre + 0.85 * spread) << name;
  }
  // The first integers are the axis of the mean of squares.
  for (const auto& [name, c] : constants(xml)) {
    if (c.type != "i64") continue;
    std::int64_t axis = 0;
    std::memcpy(&axis, bytes.data() + c.offset, sizeof axis);
    EXPECT_EQ(axis, -1);
    break;
  }
}

TEST(LayerText, bf16_is_the_upper_half_of_the_same_numbers) {
  const test::ScratchFolder folder;
  DecoderLayer narrow = small;
  narrow.weights = Dtype::bf16;
  write_layer_ir(small, folder / "wide");
  write_layer_ir(narrow, folder / "narrow");
  const std::string wide = test::file_bytes(folder / "wide.bin");
  const std::string half = test::file_bytes(folder / "narrow.bin");
  const auto place = [&](const std::string& file) {
    for (const auto& [name, c] : constants(test::file_bytes(folder / (file + ".xml")))) {
      if (name == "q_proj") return c;
    }
    return Constant{};
  };
  const Constant a = place("wide"), b = place("narrow");
  EXPECT_EQ(b.type, "bf16");
  EXPECT_EQ(b.size * 2, a.size);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(half.substr(b.offset + 2 * i, 2), wide.substr(a.offset + 4 * i + 2, 2));
  }
}

TEST(LayerText, that_cannot_be_written_names_the_file) {
  test::expect_error([] { write_layer_ir(small, "/no/such/folder/l"); }, "/no/such/folder/l.",
                     ExitCode::error);
}

// Every input of a layer has an edge, and shapes of products follow from their factors.
TEST(LayerText, connects_every_input_once) {
  const std::string xml = decoder_layer_ir(small).xml;
  const auto count = [&](const std::string& pattern) {
    const std::regex expression(pattern);
    return std::distance(std::sregex_iterator(xml.begin(), xml.end(), expression), {});
  };
  const std::regex input("<input>([\\s\\S]*?)</input>");
  std::ptrdiff_t ports = 0;
  for (std::sregex_iterator at(xml.begin(), xml.end(), input), end; at != end; ++at) {
    const std::string inside = (*at)[1];
    const std::regex port("<port ");
    ports += std::distance(std::sregex_iterator(inside.begin(), inside.end(), port), {});
  }
  EXPECT_EQ(count("<edge "), ports);
  // Scores: two rows of heads a key head, three tokens each, against nine keys.
  EXPECT_THAT(xml, test::has_all({"<dim>2</dim><dim>2</dim><dim>6</dim><dim>9</dim>",
                                  "<dim>2</dim><dim>4</dim><dim>3</dim><dim>9</dim>"}));
  EXPECT_THAT(xml,
              testing::StartsWith("<?xml version=\"1.0\"?>\n<net name=\"small\" version=\"11\">"));
}

}  // namespace
}  // namespace halmark::exports
