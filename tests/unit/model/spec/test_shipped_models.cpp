// Every shipped model: found by its names, and its parameters equal the published ones.

#include <fstream>
#include <iomanip>
#include <sstream>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "fixtures.hpp"
#include "model/spec/coverage.hpp"

namespace halmark {
namespace {

using namespace model_test;

TEST(ShippedModels, each_states_its_source_and_is_found_by_every_name) {
  std::set<std::string> names;
  const auto listings = list_models({model_dir()});
  EXPECT_GE(listings.size(), 30u);
  for (const ModelListing& listing : listings) {
    EXPECT_FALSE(listing.source.empty()) << listing.id;
    EXPECT_EQ(listing.file.stem(), listing.id);
    EXPECT_TRUE(names.insert(listing.id).second) << listing.id;
    for (const std::string& alias : listing.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
      EXPECT_EQ(shipped(alias).id, alias) << "what was asked for is what is priced";
    }
  }
}

// As they stand on a hub, in an engine's command or in a post.
TEST(ShippedModels, names_as_they_are_pasted_give_shape_and_precision) {
  struct Row {
    const char *name, *id, *precision, *checkpoint;
  };
  for (const Row& row : {
           Row{"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", "",
               "meta-llama/Llama-3.1-8B-Instruct"},
           Row{"meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b", "",
               "meta-llama/Meta-Llama-3.1-8B-Instruct"},
           Row{"llama-3.3-70b-instruct", "llama-3.1-70b", "", "meta-llama/llama-3.3-70b-instruct"},
           Row{"Qwen/Qwen3-32B-AWQ", "qwen3-32b", "awq", "Qwen/Qwen3-32B-AWQ"},
           Row{"qwen3-32b-fp8", "qwen3-32b", "fp8", "Qwen/qwen3-32b-fp8"},
           Row{"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b", "fp8",
               "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"},
           Row{"Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "qwen2.5-7b", "gptq",
               "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4"},
           Row{"RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b", "w4a16",
               "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16"},
           Row{"nvidia/DeepSeek-V3-0324-FP4", "deepseek-v3", "nvfp4",
               "nvidia/DeepSeek-V3-0324-FP4"},
           Row{"deepseek-ai/DeepSeek-V3-0324", "deepseek-v3", "", "deepseek-ai/DeepSeek-V3-0324"},
           Row{"unsloth/gpt-oss-120b-BF16", "gpt-oss-120b", "bf16", "unsloth/gpt-oss-120b-BF16"},
           Row{"unsloth/Qwen3-32B-GGUF", "qwen3-32b", "w4a16", "unsloth/Qwen3-32B-GGUF"},
           Row{"unsloth/Qwen3-8B-GGUF:Q4_K_M", "qwen3-8b", "w4a16", "unsloth/Qwen3-8B-GGUF:Q4_K_M"},
           Row{"hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0", "llama-3.2-3b", "w8a16",
               "bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0"},
           Row{"qwen3-8b-ud-iq4_xs", "qwen3-8b", "w4a16", "Qwen/qwen3-8b-ud-iq4_xs"},
           Row{"google/gemma-3-27b-it-qat-q4_0-gguf", "gemma-3-27b", "w4a16",
               "google/gemma-3-27b-it-qat-q4_0-gguf"},
           Row{"llama3.3:70b-instruct-q4_K_M", "llama-3.1-70b", "w4a16",
               "meta-llama/Llama-3.3-70B-Instruct"},
           Row{"nvidia/DeepSeek-R1-0528-FP4-v2", "deepseek-v3", "nvfp4",
               "nvidia/DeepSeek-R1-0528-FP4-v2"},
           Row{"google/gemma-3-27b-it", "gemma-3-27b", "", "google/gemma-3-27b-it"},
           Row{"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b-v0.1", "",
               "mistralai/Mixtral-8x7B-Instruct-v0.1"},
           Row{"mistralai/Mistral-Large-Instruct-2407", "mistral-large-2407", "",
               "mistralai/Mistral-Large-Instruct-2407"},
           Row{"meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout-17b-16e", "",
               "meta-llama/Llama-4-Scout-17B-16E-Instruct"},
       }) {
    const ModelSpec spec = shipped(row.name);
    EXPECT_EQ(spec.id, row.name) << "what was asked for";
    EXPECT_THAT(spec.names, Contains(row.id)) << row.name;
    EXPECT_EQ(spec.named_precision, row.precision) << row.name;
    EXPECT_EQ(spec.checkpoint, row.checkpoint);
  }
  // Another vocabulary, another length: no word that changes nothing.
  for (const char* name : {"mistralai/Mistral-7B-Instruct-v0.3", "Qwen/Qwen2.5-7B-Instruct-1M"}) {
    const std::string line = refusal_line([&] { shipped(name); });
    EXPECT_THAT(line, AllOf(HasSubstr("unknown model"), HasSubstr("of that family"))) << line;
  }
  for (const char* name : {"Qwen3-8B-Q6_K", "Qwen/Qwen3-32B-MLX-6bit", "turboderp/Qwen3-8B-exl3"}) {
    EXPECT_THAT(refusal_line([&] { shipped(name); }), HasSubstr("name their file, or qwen3-"));
  }
  EXPECT_THAT(refusal_line([] { shipped("deepseek-r1:7b"); }), HasSubstr("unknown model"))
      << "a distilled one";
  EXPECT_THAT(refusal_line([] { shipped("mistralai/Mistral-7B-Instruct-v0.3"); }),
              HasSubstr("family mistral-7b-v0.1"));
}

// A name that is not the file's own is never loaded as the file's own checkpoint unless the file
// says so; a name of a hub is that checkpoint.
TEST(ShippedModels, what_an_engine_loads_is_what_was_asked_for) {
  for (const ModelListing& listing : list_models({model_dir()})) {
    const Json document = read_json_file(listing.file.string());
    const Json stated = document.value("checkpoints", Json::object());
    const std::string own = shipped(listing.id).checkpoint;
    for (const auto& [name, checkpoint] : stated.items()) {
      EXPECT_THAT(listing.aliases, Contains(name)) << listing.id;
    }
    for (const std::string& alias : listing.aliases) {
      const ModelSpec spec = shipped(alias);
      EXPECT_EQ(spec.checkpoint, stated.value(alias, alias));
      EXPECT_THAT(spec.names, testing::IsSupersetOf({alias, listing.id}));
      if (own == listing.id) {
        EXPECT_EQ(alias.find('/'), std::string::npos) << alias;
      }
    }
  }
  EXPECT_EQ(shipped("llama-3.1-70b").checkpoint, "meta-llama/Llama-3.1-70B");
  EXPECT_EQ(shipped("Llama 3.3 70B").checkpoint, "meta-llama/Llama-3.3-70B-Instruct");
  EXPECT_EQ(shipped("unsloth/Llama-3.3-70B").checkpoint, "unsloth/Llama-3.3-70B");
}

// Tables of kernels and --explain name an operator by its layer type and its own name.
TEST(ShippedModels, operators_have_names_of_their_own_within_a_layer) {
  for (const ModelListing& listing : list_models({model_dir()})) {
    const OperatorGraph graph = graph_of(listing.id, decode(2, 4));
    std::set<std::pair<std::string, std::string>> names;
    for (const Operator& op : graph.operators) {
      EXPECT_TRUE(names.emplace(op.layer_type, op.name).second) << listing.id << ' ' << op.name;
    }
  }
}

// Half a unit of the last digit that a published figure states: 2.7 B is 2.65 to 2.75 B.
double rounding_of(std::int64_t published) {
  std::int64_t unit = 1;
  while (published % (unit * 10) == 0) unit *= 10;
  return as_double(unit) / 2;
}

// Published totals that count something else, or that were printed so; relative gap at most.
const std::map<std::string, double>& known_gaps() {
  static const std::map<std::string, double> gaps = {
      {"gpt-3-1.3b", 0.17},  // the printed 24 heads of 128 do not fit hidden 2048
      {"gpt-3-350m", 0.02},  // as printed beside sizes that give 356 M
      {"kimi-k2", 0.015},    // "1.04 T" is a rounded figure of the card
      {"kimi-k2.5", 0.015},
      {"kimi-linear-48b-a3b", 0.025},  // the card says 48 B, its checkpoint holds 49.12 B
      {"mimo-7b", 0.03},               // counts the MTP module
      {"llama-4-scout-17b-16e", 0.02}  // counts the vision tower
  };
  return gaps;
}

TEST(ShippedModels, total_parameters_equal_the_published_ones_within_their_rounding) {
  int compared = 0;
  for (const ModelListing& listing : list_models({model_dir()})) {
    const ModelSpec spec = shipped(listing.id);
    if (!spec.published_total_params) continue;
    const OperatorGraph graph = graph_of(spec, decode(1, 1));
    const auto published = as_double(*spec.published_total_params);
    const double gap = std::abs(as_double(graph.totals.parameters) - published);
    const auto known = known_gaps().find(listing.id);
    if (known != known_gaps().end()) {
      EXPECT_LT(gap, known->second * published) << listing.id;
      EXPECT_GT(gap, rounding_of(*spec.published_total_params)) << listing.id << ": no gap left";
    } else {
      EXPECT_LE(gap, std::max(rounding_of(*spec.published_total_params), 0.002 * published))
          << listing.id;
    }
    ++compared;
  }
  EXPECT_GE(compared, 70);
}

Json facts(const std::string& name) {
  return read_json_file(test::in_source("/tests/data/") + name);
}

// Counts made apart from the program: tests/data/README.md says how.
TEST(ShippedModels, parameters_equal_an_independent_count_of_the_same_configurations) {
  std::size_t totals_compared = 0;
  const Json data = facts("parameter_counts.json");
  for (const Json& row : data.at("counts")) {
    const std::string id = row.at("id").get<std::string>();
    const GraphTotals totals = graph_of(id, decode(1, 1)).totals;
    EXPECT_EQ(totals.active_parameters, row.at("active").get<std::int64_t>()) << id;
    if (!row.contains("total")) continue;
    // That count has a norm of 8192 in each of 31 blocks without attention; the model has none.
    const bool counts_absent_norms = id == "llama-3_3-nemotron-super-49b-v1";
    EXPECT_EQ(totals.parameters,
              row.at("total").get<std::int64_t>() - (counts_absent_norms ? 31 * 8192 : 0))
        << id;
    ++totals_compared;
  }
  EXPECT_EQ(data.at("counts").size(), list_models({model_dir()}).size());
  EXPECT_GE(totals_compared, 100u);
}

// Model cards count the embedding as active or not, and round to one or two digits ("3.3 B").
TEST(ShippedModels, active_parameters_of_mixtures_of_experts_are_the_published_ones) {
  int compared = 0;
  for (const ModelListing& listing : list_models({model_dir()})) {
    const ModelSpec spec = shipped(listing.id);
    if (!spec.published_active_params) continue;
    const OperatorGraph graph = graph_of(spec, decode(1, 1));
    const auto published = as_double(*spec.published_active_params);
    const auto ours = as_double(graph.totals.active_parameters);
    // "3 B" stands for 3.56 B there; the others differ by the embedding that a card counts.
    const double gap = listing.id == "qwen3-next-80b-a3b" ? 0.2 : 0.1;
    EXPECT_LT(std::abs(ours / published - 1), gap) << listing.id;
    EXPECT_LT(graph.totals.active_parameters, graph.totals.parameters / 3) << listing.id;
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

// Attention 3 x 2^20, router 2^15, 8 of 32 experts of 3 x 1024 x 512; the tied head.
TEST(ShippedModels, granite_1b_has_exactly_its_published_and_its_active_weights) {
  const GraphTotals totals = graph_of("granite-3.1-1b-a400m", decode(1, 1)).totals;
  EXPECT_EQ(totals.parameters, 1'334'628'352);
  EXPECT_EQ(totals.active_parameters, 24 * (3 * 1048576 + 32768 + 8 * 3 * 524288) + 49155 * 1024);
}

// A family that is half understood must not be counted as another one.
TEST(ShippedModels, a_public_configuration_that_is_not_modelled_is_refused_with_its_reason) {
  for (const char* type : {"xlstm", "switch_transformers", "t5gemma", "idefics"}) {
    const std::string line = test::error_of([&] {
                               read_model(Json{{"model_type", type}}.dump(), "x.json");
                             }).line();
    EXPECT_THAT(line, AllOf(HasSubstr("not modelled"), HasSubstr(type), HasSubstr("x.json")));
  }
}

// Of these nobody has published an exact count: their sizes are within 3 % of what names and cards
// say, where they say anything, and what is not confirmed is said and widens every interval.
TEST(ShippedModels, what_no_count_confirms_is_priced_and_said) {
  const std::map<std::string, double> published = {{"google/gemma-4-26B-A4B", 26e9},
                                                   {"google/gemma-4-31B", 31e9}};
  const Json data = facts("unconfirmed_configs.json");
  for (const Json& row : data.at("models")) {
    const std::string id = row.at("id").get<std::string>();
    const ModelSpec spec = read_model(row.at("config").dump(), id);
    const auto parameters = graph_of(spec, decode(1, 64)).totals.parameters;
    if (const auto it = published.find(id); it != published.end()) {
      EXPECT_NEAR(as_double(parameters), it->second, 0.03 * it->second) << id;
      continue;
    }
    EXPECT_GT(parameters, 0) << id;
    EXPECT_THAT(model_notes(spec), Contains(HasSubstr("not confirmed by a published count"))) << id;
    EXPECT_EQ(unconfirmed_spread(spec), 0.2) << id;
  }
  EXPECT_EQ(data.at("models").size(), 5u);
}

// The rows of the table in results/guide/models.md: model, parameters, published, active,
// published.
TEST(ShippedModels, the_table_of_the_readme_is_true) {
  const std::string page = "results/guide/models.md";
  std::ifstream file(test::in_source("/" + page));
  std::string line;
  const auto shown = [](double count) {
    std::ostringstream out;
    out << std::setprecision(count < 1e9 ? 3 : 4) << count / (count < 1e9 ? 1e6 : 1e9)
        << (count < 1e9 ? " M" : " B");
    return out.str();
  };
  const auto published = [&](std::optional<std::int64_t> count) {
    return count ? shown(as_double(*count)) : std::string("-");
  };
  int rows = 0;
  for (bool is_inside = false; std::getline(file, line);) {
    if (line.starts_with("## ")) is_inside = line == "## Shipped models";
    if (!is_inside || !line.starts_with("| `")) continue;
    const std::string id = line.substr(3, line.find('`', 3) - 3);
    const ModelSpec spec = shipped(id);
    const GraphTotals totals = graph_of(spec, decode(1, 1)).totals;
    const std::string expected = "| `" + id + "` | " + shown(as_double(totals.parameters)) + " | " +
                                 published(spec.published_total_params) + " | " +
                                 shown(as_double(totals.active_parameters)) + " | " +
                                 published(spec.published_active_params) + " |";
    EXPECT_TRUE(line.starts_with(expected)) << page << ": " << line << "\nexpected: " << expected;
    ++rows;
  }
  EXPECT_GE(rows, 12);
}

TEST(ShippedModels, a_folder_without_models_lists_nothing) {
  EXPECT_TRUE(list_models({"/nonexistent"}).empty());
}

}  // namespace
}  // namespace halmark
