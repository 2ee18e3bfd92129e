// Parameters of every family against the modules of transformers: published configurations, and
// the defaults of each class, which an empty nested configuration stands for.

#include "core/json/json.hpp"
#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

std::vector<Json> rows() {
  const Json data = read_json_file(test::in_source("/tests/data/transformers_parameters.json"));
  return {data.at("rows").begin(), data.at("rows").end()};
}

TEST(TransformersCounts, are_ours) {
  for (const Json& row : rows()) {
    SCOPED_TRACE(row.at("id"));
    const ModelSpec spec = read_model(row.at("config").dump(), "config.json");
    const OperatorGraph graph = graph_of(spec, decode(1, 1));
    EXPECT_EQ(graph.totals.parameters,
              row.at("parameters").get<std::int64_t>() - row.value("uncounted", std::int64_t{0}));
    EXPECT_EQ(spec.not_read, std::vector<std::string>());
  }
}

// Splits of one rank, whatever the switches of a family are.
TEST(TransformersCounts, every_row_is_split_without_loss) {
  for (const Json& row : rows()) {
    const std::string id = row.at("id").get<std::string>();
    const ModelSpec spec = read_model(row.at("config").dump(), "config.json");
    const auto built = build_graph(spec, prefill(2, 64, 64, {.tp = 2}));
    if (!built) continue;  // an odd number of heads
    const OperatorGraph whole = graph_of(spec, prefill(2, 64, 64));
    EXPECT_EQ((*built).totals.matmul_flops, whole.totals.matmul_flops) << id;
    EXPECT_LE((*built).totals.matmul_flops_per_rank, whole.totals.matmul_flops_per_rank) << id;
  }
}

}  // namespace
}  // namespace halmark
