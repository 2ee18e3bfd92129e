// Parameters of every family against the modules of transformers: published configurations, and
// the defaults of each class, which an empty nested configuration stands for.
#include <gtest/gtest.h>

#include <set>

#include "core/json/json.hpp"
#include "fixtures.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

std::vector<Json> rows() {
  const Json data = read_json_file(test::in_source("/tests/data/transformers_parameters.json"));
  return {data.at("rows").begin(), data.at("rows").end()};
}

class TransformersCount : public testing::TestWithParam<Json> {};

TEST_P(TransformersCount, is_ours) {
  const Json& row = GetParam();
  const ModelSpec spec = read_model(row.at("config").dump(), "config.json");
  const OperatorGraph graph = model_test::graph_of(spec, model_test::decode(1, 1));
  EXPECT_EQ(graph.totals.parameters,
            row.at("parameters").get<std::int64_t>() - row.value("uncounted", std::int64_t{0}));
  EXPECT_EQ(spec.not_read, std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Rows, TransformersCount, testing::ValuesIn(rows()), [](const auto& info) {
  return test::case_name({info.param.at("id").template get<std::string>().c_str()});
});

// Splits of one rank, whatever the switches of a family are.
TEST(TransformersCounts, every_row_is_split_without_loss) {
  for (const Json& row : rows()) {
    const std::string id = row.at("id").get<std::string>();
    const ModelSpec spec = read_model(row.at("config").dump(), "config.json");
    const auto built = build_graph(spec, model_test::prefill(2, 64, 64, {.tp = 2}));
    if (!built) continue;  // an odd number of heads
    const OperatorGraph whole = model_test::graph_of(spec, model_test::prefill(2, 64, 64));
    EXPECT_EQ((*built).totals.matmul_flops, whole.totals.matmul_flops) << id;
    EXPECT_LE((*built).totals.matmul_flops_per_rank, whole.totals.matmul_flops_per_rank) << id;
  }
}

}  // namespace
}  // namespace halmark
