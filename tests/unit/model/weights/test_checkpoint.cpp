// What names and shapes say: layers, tables, towers, packed weights, and where a configuration says
// otherwise.
#include <chrono>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "model/spec/model_document.hpp"
#include "model/weights/weights_check.hpp"
#include "model/weights/weights_document.hpp"
#include "tests/unit/error_of.hpp"
#include "written_weights.hpp"

namespace halmark::weights_test {
namespace {

using namespace model_test;

WeightsHeader header_of(const Tensors& tensors) {
  const test::ScratchFolder folder;
  return read_weights(written(folder, "model.safetensors", safetensors_bytes(tensors)));
}
Checkpoint checkpoint_of(const Tensors& tensors) {
  return halmark::checkpoint_of(header_of(tensors));
}
Tensors tiny_tensors() { return llama(4, 8, 16, 8, 16, 32); }  // of model_test::tiny()

TEST(Checkpoint, a_header_and_its_configuration_count_the_same) {
  const WeightsReport report = report_of(header_of(tiny_tensors()), tiny());
  EXPECT_EQ(report.layers, 4);
  EXPECT_EQ(report.parameters,
            2 * 32 * 8 + 8 + 4 * (2 * 8 + 8 * (16 + 8 + 8) + 16 * 8 + 3 * 8 * 16));
  EXPECT_EQ(report.counted_parameters, report.decoder_parameters);
  EXPECT_THAT(report.differences, IsEmpty());
  EXPECT_EQ(report.bytes, 2 * report.parameters);
}

struct Change {
  const char* name;
  const char* tensor;
  std::vector<std::int64_t> shape;  // empty: the tensor is left out
  const char* said;
};
// Every size of the header one step off: the tensor is named.
TEST(Checkpoint, each_difference_to_the_configuration_is_named_by_its_tensor) {
  const Change rows[] = {
      {"ffn",
       "model.layers.1.mlp.down_proj.weight",
       {8, 17},
       "layer 1: mlp.down_proj [8, 17] in the weights, 128 values"},
      {"keys",
       "model.layers.2.self_attn.k_proj.weight",
       {9, 8},
       "layer 2: self_attn.k_proj [9, 8] + self_attn.v_proj [8, 8]"},
      {"norm", "model.layers.0.input_layernorm.weight", {9}, "layer 0: 1 parameters more"},
      {"no_norm", "model.layers.0.input_layernorm.weight", {}, "layer 0: 8 parameters fewer"},
      {"no_final_norm", "model.norm.weight", {}, "outside of the layers: 8 parameters fewer"},
      {"final_norm", "model.norm.weight", {10}, "outside of the layers: 2 parameters more"},
      {"vocabulary",
       "model.embed_tokens.weight",
       {33, 8},
       "model.embed_tokens: [33, 8] in the weights, [32, 8]"},
      {"head", "lm_head.weight", {}, "no LM head in the weights"},
      {"new", "model.layers.3.self_attn.g_proj.weight", {16, 8}, "self_attn.g_proj [16, 8]"},
      {"layers", "model.layers.4.mlp.down_proj.weight", {8, 16}, "layers: 5 in the weights, 4"}};
  for (const Change& row : rows) {
    Tensors tensors = tiny_tensors();
    const auto it = std::ranges::find(tensors, row.tensor, &Written::name);
    if (it == tensors.end()) {
      tensors.push_back({row.tensor, "BF16", row.shape});
    } else if (row.shape.empty()) {
      tensors.erase(it);
    } else {
      it->shape = row.shape;
    }
    const WeightsReport report = report_of(header_of(tensors), tiny());
    ASSERT_THAT(report.differences, Contains(HasSubstr(row.said))) << row.name;
    EXPECT_EQ(report.differences.size(), 1u) << row.name;
  }
}

TEST(Checkpoint, many_differences_are_counted_and_the_first_named) {
  Tensors tensors = llama(40, 8, 16, 8, 16, 32);
  for (std::int64_t i = 0; i < 40; ++i) {
    tensors[as_size(1 + 9 * i + 8)].shape = {8, 17 + i};  // down_proj, all apart
  }
  ModelSpec spec = read_model(R"({"model_type": "llama", "num_hidden_layers": 40,
    "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
    "intermediate_size": 16, "vocab_size": 32, "tie_word_embeddings": false})",
                              "c.json");
  const WeightsReport report = report_of(header_of(tensors), spec);
  EXPECT_EQ(report.differences.size(), 16u);
  EXPECT_EQ(report.left_out, 24u);
  for (std::int64_t i = 0; i < 40; ++i) {
    tensors[as_size(1 + 9 * i + 8)].shape = {8, 17};  // all alike
  }
  EXPECT_THAT(report_of(header_of(tensors), spec).differences,
              ElementsAre(HasSubstr("40 layers from 0: mlp.down_proj [8, 17]")));
}

TEST(Checkpoint, towers_adapters_and_prediction_modules_are_parts_with_their_sizes) {
  Tensors tensors = tiny_tensors();
  const Tensors more = {{"visual.blocks.0.attn.qkv.weight", "BF16", {6, 2}},
                        {"visual.merger.mlp.0.weight", "F32", {8, 2}},
                        {"multi_modal_projector.linear_1.weight", "BF16", {8, 3}},
                        {"model.layers.4.eh_proj.weight", "BF16", {8, 16}},
                        {"model.layers.4.mlp.down_proj.weight", "BF16", {8, 16}},
                        {"model.layers.0.mlp.down_proj.lora_A.weight", "BF16", {2, 16}},
                        {"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {2}}};
  tensors.insert(tensors.end(), more.begin(), more.end());
  const WeightsReport report = report_of(header_of(tensors), tiny());
  EXPECT_THAT(report.differences, IsEmpty());
  EXPECT_EQ(report.layers, 4);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> parts;
  for (const CheckpointPart& part : report.parts) parts[part.name] = {part.parameters, part.bytes};
  EXPECT_EQ(parts, (decltype(parts){{"visual", {28, 24 + 64}},
                                    {"multi_modal_projector", {24, 48}},
                                    {"prediction modules", {256, 512}},
                                    {"low-rank adapters", {32, 64}}}));
  const OperatorGraph graph = graph_of(tiny(), decode(1, 1));
  const Json json = weights_json(report, graph);
  const double active = as_double(graph.totals.active_parameters);
  for (const Json& part : json.at("not_priced")) {
    const double own = part.at("params").get<double>();
    EXPECT_DOUBLE_EQ(part.at("left_out_pct").get<double>(), 100 * own / (own + active));
  }
}

// As public checkpoints name their language towers, tables and parts.
struct Naming {
  const char* name;
  const char *layers, *embedding, *head;
  std::vector<const char*> beside;  // tensors of other parts
  std::vector<std::string> parts;
};
TEST(Checkpoint, the_decoder_is_found_under_any_name) {
  const Naming rows[] = {
      {"qwen3_vl",
       "model.language_model.layers",
       "model.language_model.embed_tokens",
       "lm_head",
       {"model.visual.blocks.0.attn.qkv.weight", "model.visual.merger.linear_fc1.weight"},
       {"model.visual"}},
      {"gemma3",
       "language_model.model.layers",
       "language_model.model.embed_tokens",
       "language_model.lm_head",
       {"vision_tower.vision_model.encoder.layers.0.mlp.fc1.weight",
        "multi_modal_projector.mm_input_projection_weight"},
       {"multi_modal_projector", "vision_tower"}},
      {"llava",
       "model.layers",
       "model.embed_tokens",
       "lm_head",
       {"model.mm_projector.0.weight", "model.vision_tower.vision_tower.encoder.layers.0.x.weight"},
       {"model.mm_projector", "model.vision_tower"}},
      {"omni",
       "thinker.model.layers",
       "thinker.model.embed_tokens",
       "thinker.lm_head",
       {"thinker.visual.blocks.0.x.weight", "talker.model.layers.0.x.weight",
        "talker.model.embed_tokens.weight", "token2wav.dit.layers.0.x.weight"},
       {"talker", "thinker.visual", "token2wav"}},
      {"gpt", "transformer.h", "transformer.wte", "lm_head", {}, {}},
      {"chatglm",
       "transformer.encoder.layers",
       "transformer.embedding.word_embeddings",
       "transformer.output_layer",
       {"transformer.vision.layers.0.x.weight"},
       {"transformer.vision"}},
      {"internlm2", "model.layers", "model.tok_embeddings", "output", {}, {}},
      {"neox", "gpt_neox.layers", "gpt_neox.embed_in", "embed_out", {}, {}},
      {"deepseek_own", "layers", "embed", "head", {"mtp.0.e_proj.weight"}, {"mtp"}},
      {"gguf", "blk", "token_embd", "output", {}, {}}};
  for (const Naming& row : rows) {
    Tensors tensors = {{std::string(row.embedding) + ".weight", "BF16", {40, 8}},
                       {std::string(row.head) + ".weight", "BF16", {40, 8}}};
    for (const std::string i : {"0", "1"}) {
      tensors.push_back({row.layers + ('.' + i) + ".norm.weight", "BF16", {8}});
      tensors.push_back({row.layers + ('.' + i) + ".mlp.weight", "BF16", {16, 8}});
    }
    for (const char* other : row.beside) tensors.push_back({other, "BF16", {3, 4}});
    const Checkpoint checkpoint = checkpoint_of(tensors);
    EXPECT_EQ(checkpoint.decoder, row.layers) << row.name;
    EXPECT_EQ(checkpoint.decoder_parameters(), 2 * 320 + 2 * (8 + 128)) << row.name;
    ASSERT_TRUE(checkpoint.embedding && checkpoint.head) << row.name;
    EXPECT_EQ(checkpoint.embedding->name, row.embedding) << row.name;
    EXPECT_EQ(checkpoint.head->name, row.head) << row.name;
    std::vector<std::string> parts;
    for (const CheckpointPart& part : checkpoint.parts) parts.push_back(part.name);
    EXPECT_THAT(parts, testing::UnorderedElementsAreArray(row.parts)) << row.name;
  }
}

// Tables without a name of theirs are those of as many rows as the vocabulary.
TEST(Checkpoint, tables_without_a_name_are_found_by_their_rows) {
  Tensors tensors = tiny_tensors();
  tensors.front().name = "model.lookup.weight";
  tensors.back().name = "model.answers.weight";
  const Checkpoint checkpoint = checkpoint_of(tensors);
  ASSERT_TRUE(checkpoint.embedding && checkpoint.head);
  EXPECT_EQ(checkpoint.embedding->rows, 32);
  EXPECT_EQ(checkpoint.decoder_parameters(), checkpoint_of(tiny_tensors()).decoder_parameters());
}

// A tower with more norms, and narrower ones, than the decoder has.
TEST(Checkpoint, the_width_is_that_of_the_decoder) {
  Tensors tensors = tiny_tensors();
  for (int i = 0; i < 20; ++i) {
    const std::string at = "visual.blocks." + std::to_string(i) + '.';
    tensors.push_back({at + "norm1.weight", "BF16", {4}});
    tensors.push_back({at + "norm2.weight", "BF16", {4}});
  }
  const Checkpoint checkpoint = checkpoint_of(tensors);
  EXPECT_EQ(checkpoint.hidden, 8);
  EXPECT_TRUE(checkpoint.embedding && checkpoint.head);
  EXPECT_THAT(report_of(header_of(tensors), tiny()).differences, IsEmpty());
  // Norms of queries and of keys come in the number of those of the width, and are narrower.
  for (const std::string i : {"0", "1", "2", "3"}) {
    tensors.push_back({"model.layers." + i + ".self_attn.query_layernorm.weight", "BF16", {4}});
    tensors.push_back({"model.layers." + i + ".self_attn.key_layernorm.weight", "BF16", {4}});
  }
  EXPECT_EQ(checkpoint_of(tensors).hidden, 8);
}

// Names that a file makes up cost no more than their number.
TEST(Checkpoint, thousands_of_names_are_sorted_in_a_moment) {
  Tensors towers = tiny_tensors(), wide = tiny_tensors(), deep = tiny_tensors();
  for (int i = 0; i < 9'000; ++i) {
    const std::string n = std::to_string(i);
    towers.push_back({"tower_" + n + ".proj.weight", "BF16", {2, 2}});
    wide.push_back({"model.layers.0.experts." + n + ".x" + n + ".weight", "BF16", {2, 2}});
    deep.push_back(
        {"model.layers." + std::to_string(i % 4000) + ".x" + n + ".weight", "BF16", {2, 2}});
  }
  const auto begin = std::chrono::steady_clock::now();
  const Checkpoint sorted = checkpoint_of(towers);
  EXPECT_LE(sorted.parts.size(), 40u);
  EXPECT_EQ(sorted.parts.back().name, "other parts");
  says(test::error_of([&] { checkpoint_of(wide); }).line(), "more than 2048 matrices in layer 0");
  says(test::error_of([&] { weights_document(header_of(deep), nullptr, ""); }).line(),
       "more than 8192 matrices");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// The same linear [64, 128] as libraries store it, in groups of 32.
struct Packing {
  const char* name;
  Tensors tensors;  // of the module "x"
  std::int64_t rows, columns;
  Dtype dtype;
};
TEST(Checkpoint, packed_weights_have_the_shape_and_bytes_that_they_unpack_to) {
  const Packing rows[] = {
      {"gptq",
       {{"qweight", "I32", {16, 64}},
        {"qzeros", "I32", {4, 8}},
        {"scales", "F16", {4, 64}},
        {"g_idx", "I32", {128}}},
       64,
       128,
       Dtype::s4},
      {"gptq8",
       {{"qweight", "I32", {32, 64}}, {"qzeros", "I32", {4, 16}}, {"scales", "F16", {4, 64}}},
       64,
       128,
       Dtype::s8},
      {"awq",
       {{"qweight", "I32", {128, 8}}, {"qzeros", "I32", {4, 8}}, {"scales", "F16", {4, 64}}},
       64,
       128,
       Dtype::s4},
      {"mlx",
       {{"weight", "U32", {64, 16}}, {"scales", "BF16", {64, 4}}, {"biases", "BF16", {64, 4}}},
       64,
       128,
       Dtype::s4},
      {"mlx6",
       {{"weight", "U32", {64, 24}}, {"scales", "BF16", {64, 4}}, {"biases", "BF16", {64, 4}}},
       64,
       128,
       Dtype::s4},
      {"compressed",
       {{"weight_packed", "I32", {64, 16}},
        {"weight_scale", "BF16", {64, 4}},
        {"weight_shape", "I32", {2}}},
       64,
       128,
       Dtype::s4},
      {"nvfp4",
       {{"weight", "U8", {64, 64}},
        {"weight_scale", "F8_E4M3", {64, 8}},
        {"weight_scale_2", "F32", {}}},
       64,
       128,
       Dtype::s4},
      {"fp8_blocks",
       {{"weight", "F8_E4M3", {64, 128}}, {"weight_scale_inv", "F32", {2, 4}}},
       64,
       128,
       Dtype::f8_e4m3fn},
      {"fp8_rows",
       {{"weight", "F8_E4M3", {64, 128}}, {"weight_scale", "BF16", {64, 1}}},
       64,
       128,
       Dtype::f8_e4m3fn},
      {"int8", {{"weight", "I8", {64, 128}}, {"weight_scale", "F32", {64, 1}}}, 64, 128, Dtype::s8},
      {"nf4",
       {{"weight", "U8", {4096, 1}},
        {"weight.absmax", "U8", {128}},
        {"weight.quant_map", "F32", {16}}},
       64,
       128,
       Dtype::s4},
      {"bitnet", {{"weight", "U8", {16, 128}}, {"weight_scale", "BF16", {1}}}, 64, 128, Dtype::s2}};
  for (const Packing& row : rows) {
    Tensors tensors = {{"model.layers.0.norm.weight", "BF16", {128}}};
    std::int64_t bytes = 0;
    for (const Written& t : row.tensors) {
      tensors.push_back({"model.layers.0.mlp.up_proj." + t.name, t.type, t.shape});
      std::int64_t own = bits_of(t.type) / 8;
      for (const std::int64_t n : t.shape) own *= n;
      bytes += own;
    }
    const Checkpoint checkpoint = checkpoint_of(tensors);
    ASSERT_EQ(checkpoint.layers.front().matrices.size(), 1u) << row.name;
    const StoredMatrix& m = checkpoint.layers.front().matrices.front();
    EXPECT_EQ(m.rows, row.rows) << row.name;
    EXPECT_EQ(m.columns, row.columns) << row.name;
    ASSERT_TRUE(m.format) << row.name;
    EXPECT_EQ(m.format->weights, row.dtype) << row.name;
    EXPECT_EQ(dtype_bytes(m.format->weights, m.values()) + m.format->scale_bytes(m.rows, m.columns),
              bytes)
        << row.name;
    EXPECT_EQ(checkpoint.parameters, 128 + 64 * 128) << row.name;
  }
}

// Scales of whole rows say nothing of the bits: those that read the model's width say them of the
// others, whose width is twice that.
TEST(Checkpoint, integers_with_a_scale_per_row_are_of_one_width) {
  Tensors tensors;
  for (const Written& t : llama(4, 64, 128, 64, 128, 32)) {
    if (t.name.find("_proj") == std::string::npos) {
      tensors.push_back(t);
      continue;
    }
    const std::string module = t.name.substr(0, t.name.rfind('.'));
    tensors.push_back({module + ".weight_packed", "I32", {t.shape[0], t.shape[1] / 8}});
    tensors.push_back({module + ".weight_scale", "BF16", {t.shape[0], 1}});
    tensors.push_back({module + ".weight_shape", "I32", {2}});
  }
  EXPECT_EQ(checkpoint_of(tensors).parameters,
            checkpoint_of(llama(4, 64, 128, 64, 128, 32)).parameters);
}

ModelSpec last_resort(const Tensors& tensors, const Json& config = nullptr) {
  return read_model(weights_document(header_of(tensors), config, "").dump(), "weights");
}

// Without an architecture: as many matrix parameters, and as many bytes, as the file has.
TEST(LastResort, every_matrix_is_met_by_every_token) {
  const ModelSpec spec = last_resort(
      tiny_tensors(), {{"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"head_dim", 4}});
  const OperatorGraph ours = graph_of(spec, decode(3, 100)),
                      usual = graph_of(tiny(), decode(3, 100));
  EXPECT_EQ(ours.totals.parameters, usual.totals.parameters);
  EXPECT_EQ(ours.totals.active_parameters, usual.totals.active_parameters);
  EXPECT_EQ(ours.totals.matmul_flops, usual.totals.matmul_flops);
  EXPECT_EQ(memory_use(ours).kv_bytes_per_token, memory_use(usual).kv_bytes_per_token);
  EXPECT_FALSE(spec.unconfirmed.empty());
  // Of four ranks each holds a quarter of the matrices.
  const OperatorGraph split = graph_of(spec, decode(4, 100, {.tp = 2}));
  EXPECT_LT(memory_use(split).largest.weight_bytes, memory_use(ours).largest.weight_bytes);
}

TEST(LastResort, heads_that_nothing_states_are_said) {
  const ModelSpec spec = last_resort(tiny_tensors());
  EXPECT_THAT(spec.assumed, Contains(HasSubstr("no attention and no cache")));
  EXPECT_EQ(memory_use(graph_of(spec, decode(1, 100))).kv_bytes_per_token, 0);
  // Keys of 256 values and as many values, of 16 bits: in 3 layers, however many heads they are.
  const ModelSpec wide = last_resort(llama(3, 512, 512, 256, 64, 32));
  EXPECT_THAT(wide.assumed, Contains(HasSubstr("heads of 128 values")));
  EXPECT_EQ(memory_use(graph_of(wide, decode(1, 100))).kv_bytes_per_token, 3 * 2 * 256 * 2);
}

// A packed scalar is a vector of one value; a layer may have a matrix that is called as the table
// is.
TEST(LastResort, odd_tensors_beside_packed_ones_are_priced) {
  Tensors tensors = tiny_tensors();
  tensors.push_back({"model.layers.0.x.weight", "U8", {}});
  tensors.push_back({"model.layers.0.x.weight_scale", "F8_E4M3", {4, 8}});
  EXPECT_EQ(last_resort(tensors).stored_layers->kinds.front().vector_values, 2 * 8 + 1);
  Tensors packed = {{"model.embed_tokens.weight", "U32", {32, 8}},
                    {"model.embed_tokens.scales", "BF16", {32, 1}},
                    {"model.layers.0.norm.weight", "BF16", {64}},
                    {"model.layers.0.mlp.weight", "U32", {64, 8}},
                    {"model.layers.0.mlp.scales", "BF16", {64, 1}}};
  const auto weight_bytes = [](const ModelSpec& spec) {
    return memory_use(graph_of(spec, decode(1, 1, {}, precisions(spec).back())))
        .largest.weight_bytes;
  };
  const std::int64_t without = weight_bytes(last_resort(packed));
  packed.push_back({"model.layers.0.embed_tokens.weight", "BF16", {3, 64}});
  EXPECT_EQ(weight_bytes(last_resort(packed)), without + 2 * 3 * 64);
}

// The configuration that is made of a header is one that a user may write too.
TEST(LastResort, sizes_that_no_memory_holds_are_refused) {
  const Json usual = weights_document(header_of(tiny_tensors()), nullptr, "");
  const std::pair<const char*, std::int64_t> rows[] = {{"/rest_values", 1LL << 50},
                                                       {"/kinds/0/vector_values", 1LL << 50},
                                                       {"/kinds/0/matrices/0/experts", 1LL << 20},
                                                       {"/kinds/0/matrices/0/rows", 1LL << 44},
                                                       {"/kinds/0/matrices/0/columns", 1LL << 44}};
  for (const auto& [where, size] : rows) {
    Json document = usual;
    document[Json::json_pointer(where)] = size;
    EXPECT_EQ(test::error_of([&] { read_model(document.dump(), "m"); }).exit_code(),
              ExitCode::refused)
        << where;
  }
  EXPECT_NO_THROW(read_model(usual.dump(), "m"));
}

// Routed experts, one tensor each or stacked: a token meets top_k of them.
TEST(LastResort, of_routed_experts_a_token_meets_some) {
  Tensors each = llama(2, 8, 16, 8, 16, 32), stacked = each;
  for (const std::string at : {"model.layers.0.mlp.", "model.layers.1.mlp."}) {
    for (int e = 0; e < 6; ++e) {
      const std::string one = at + "experts." + std::to_string(e);
      each.push_back({one + ".gate_up_proj.weight", "BF16", {12, 8}});
      each.push_back({one + ".down_proj.weight", "BF16", {8, 6}});
    }
    stacked.push_back({at + "experts.gate_up_proj", "BF16", {6, 12, 8}});
    stacked.push_back({at + "experts.down_proj", "BF16", {6, 8, 6}});
  }
  const std::int64_t expert = 12 * 8 + 8 * 6;
  const std::int64_t dense =
      graph_of(last_resort(llama(2, 8, 16, 8, 16, 32)), decode(1, 1)).totals.active_parameters;
  for (const Tensors& tensors : {each, stacked}) {
    const ModelSpec spec = last_resort(tensors, {{"num_experts_per_tok", 2}});
    const GraphTotals totals = graph_of(spec, decode(1, 1)).totals;
    EXPECT_EQ(totals.active_parameters, dense + 2 * 2 * expert);
    EXPECT_EQ(totals.parameters, checkpoint_of(tensors).parameters);
  }
  EXPECT_THAT(last_resort(each).assumed, Contains(HasSubstr("6 experts per token")));
  // As MLX, Granite and Step call stacked ones.
  for (const char* name : {"mlp.switch_mlp.", "block_sparse_moe.", "moe."}) {
    Tensors other = llama(2, 8, 16, 8, 16, 32);
    for (const std::string at : {"model.layers.0.", "model.layers.1."}) {
      other.push_back({at + name + "input_linear.weight", "BF16", {6, 12, 8}});
      other.push_back({at + name + "output_linear.weight", "BF16", {6, 8, 6}});
    }
    const ModelSpec spec = last_resort(other, {{"num_experts_per_tok", 2}});
    EXPECT_EQ(graph_of(spec, decode(1, 1)).totals.active_parameters, dense + 2 * 2 * expert)
        << name;
  }
}

// A model whose configuration is known and whose file is GGUF: with the types of the file, which
// llama.cpp gives some layers of a Q4_K_M otherwise.
TEST(LastResort, a_configuration_takes_the_types_of_its_gguf) {
  const Json config = {
      {"model_type", "llama"},    {"num_hidden_layers", 4},   {"hidden_size", 256},
      {"num_attention_heads", 4}, {"num_key_value_heads", 4}, {"head_dim", 64},
      {"intermediate_size", 512}, {"vocab_size", 320},        {"tie_word_embeddings", true}};
  constexpr std::uint32_t f32 = 0, q4 = 12, q6 = 14;
  std::vector<GgufWritten> tensors = {{"token_embd.weight", q6, {256, 320}},
                                      {"output_norm.weight", f32, {256}}};
  std::int64_t matrices = 320 * 210;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::string at = "blk." + std::to_string(i) + '.';
    const std::uint32_t down = i < 2 ? q6 : q4;
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
      tensors.push_back({at + name + ".weight", q4, {256, 256}});
    }
    tensors.push_back({at + "ffn_gate.weight", q4, {256, 512}});
    tensors.push_back({at + "ffn_up.weight", q4, {256, 512}});
    tensors.push_back({at + "ffn_down.weight", down, {512, 256}});
    tensors.push_back({at + "attn_norm.weight", f32, {256}});
    tensors.push_back({at + "ffn_norm.weight", f32, {256}});
    matrices += (4 * 256 + 2 * 512) * 144 + 256 * 2 * (down == q6 ? 210 : 144);
  }
  std::uint64_t at = 0;
  for (GgufWritten& t : tensors) {
    t.offset = at;
    const std::uint64_t values = t.shape[0] * (t.shape.size() > 1 ? t.shape[1] : 1);
    at += t.type == f32 ? 4 * values : values / 256 * (t.type == q6 ? 210 : 144);
  }
  const test::ScratchFolder folder;
  const std::string path = written(folder, "m.gguf", gguf_bytes({}, tensors));
  written(folder, "config.json", config.dump());
  const ModelSpec spec = load_model(path, {});
  EXPECT_EQ(spec.architecture, "llama");
  const OperatorGraph graph = graph_of(spec, decode(1, 1, {}, precisions(spec).back()));
  EXPECT_EQ(priced_bytes(graph), matrices + 9 * 256 * 4);
  says(test::error_of([&] { model_document(path, {}); }).line(), "config.json beside it");
}

// Blocks of GGUF, exact in bytes: the weights of a file whose matrices have a type each.
TEST(LastResort, weights_of_gguf_are_as_many_bytes_as_stored) {
  const std::pair<std::uint32_t, std::int64_t> types[] = {
      // bytes of 256 values, by ggml
      {2, 144},  {3, 160},  {6, 176},  {7, 192}, {8, 272},  {10, 84}, {11, 110},
      {12, 144}, {13, 176}, {14, 210}, {16, 66}, {17, 74},  {18, 98}, {20, 144},
      {21, 110}, {22, 82},  {23, 136}, {35, 66}, {39, 136}, {40, 144}};
  for (const auto& [type, bytes] : types) {
    const std::vector<Fact> facts = {{"general.architecture", 8, gguf_text("new")},
                                     {"new.attention.head_count", 4, little(std::uint32_t{4})},
                                     {"new.attention.head_count_kv", 4, little(std::uint32_t{2})},
                                     {"new.attention.key_length", 4, little(std::uint32_t{64})}};
    std::vector<GgufWritten> tensors = {{"token_embd.weight", 1, {256, 300}},
                                        {"blk.0.attn_q.weight", type, {256, 256}},
                                        {"blk.0.attn_k.weight", type, {256, 128}},
                                        {"blk.0.attn_norm.weight", 0, {256}},
                                        {"output_norm.weight", 0, {256}}};
    const std::int64_t sizes[] = {256 * 300 * 2, 256 * bytes, 128 * bytes, 1024, 1024};
    for (std::size_t i = 1; i < tensors.size(); ++i) {
      tensors[i].offset =
          (tensors[i - 1].offset + static_cast<std::uint64_t>(sizes[i - 1]) + 31) / 32 * 32;
    }
    const test::ScratchFolder folder;
    const std::string path = written(folder, "m.gguf", gguf_bytes(facts, tensors));
    const ModelSpec spec = load_model(path, {});
    Precision precision = bf16();
    precision.packed = PackedWeights::weights_only;
    for (const KernelKind kind : spec.quantization->kinds)
      precision.set(kind, spec.quantization->weights);
    const OperatorGraph graph = graph_of(spec, decode(1, 1, {}, precision));
    std::int64_t stored = 0;
    for (const char* name : {"attn_q", "attn_k"})
      stored += find_operator(graph, name).weight_bytes_whole;
    EXPECT_EQ(stored, 384 * bytes) << type;
    EXPECT_EQ(memory_use(graph).kv_bytes_per_token, 2 * 2 * 64 * 2) << type;
  }
}

TEST(LastResort, a_configuration_beside_the_weights_counts_where_it_is_read) {
  const test::ScratchFolder folder;
  const std::string path = written(folder, "model.safetensors", safetensors_bytes(tiny_tensors()));
  EXPECT_EQ(load_model(path, {}).family, "stored_matrices");
  written(folder, "config.json", std::string(tiny_json));
  EXPECT_EQ(load_model(path, {}).architecture, "llama");
  EXPECT_EQ(load_weights(read_weights(folder.path().string())).architecture, "llama");
  written(folder, "config.json", R"({"model_type": "of_tomorrow", "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 4})");
  const ModelSpec spec = load_model(path, {});
  EXPECT_EQ(spec.family, "stored_matrices");
  EXPECT_EQ(spec.kv_heads, 2);
  EXPECT_THAT(spec.unconfirmed, Contains(HasSubstr("unknown architecture 'of_tomorrow'")));
}

}  // namespace
}  // namespace halmark::weights_test
