// The public configurations that stand beside the checkout: all are read and priced, in seconds,
// and count what their table does.
#include <chrono>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "tests/shared_data.hpp"

namespace halmark {
namespace {

using namespace model_test;

std::int64_t priced_parameters(const ModelSpec& spec) {
  const OperatorGraph graph =
      graph_of(spec, spec.is_causal ? decode(8, 1024) : prefill(8, 512, 512));
  EXPECT_GT(memory_use(graph).largest.total(), 0) << spec.id;
  return graph.totals.parameters;
}

// Where the table is not right, and by how much.
const std::map<std::string, std::int64_t> gaps_of_table = {
    // Its LayerNorms have shifts: 65 of 4096.
    {"microsoft/Phi-3.5-MoE", 65 * 4096},
    // A block without attention has no norm in front of it: 31 of 8192 less.
    {"nvidia/Llama-3_3-Nemotron-Super-49B-v1", -31 * 8192}};

TEST(PublicModels, each_is_priced_in_one_loop_of_seconds_and_counts_what_its_table_does) {
  const auto table = test::shared_data("model-configs.json"),
             cases = test::shared_data("cases/models");
  if (!std::filesystem::exists(table)) GTEST_SKIP() << table << " is not there";
  const auto begin = std::chrono::steady_clock::now();
  const Json models = read_json_file(table.string()).at("models");
  for (const Json& model : models) {
    const std::string id = model.at("id").get<std::string>();
    SCOPED_TRACE(id);
    const std::int64_t counted = priced_parameters(read_model(model.at("config").dump(), id));
    if (!model.contains("computed_total_params") || model["computed_total_params"].is_null()) {
      continue;
    }
    const auto gap = gaps_of_table.find(id);
    EXPECT_EQ(counted, model.at("computed_total_params").get<std::int64_t>() +
                           (gap == gaps_of_table.end() ? 0 : gap->second));
  }
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(cases)) {
    if (file.path().filename().string().ends_with("hf_quant_config.json")) continue;
    SCOPED_TRACE(file.path().string());
    EXPECT_GT(priced_parameters(load_model(file.path().string(), {})), 0);
    ++files;
  }
  EXPECT_GE(models.size(), 100u);
  EXPECT_GE(files, 10u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace halmark
