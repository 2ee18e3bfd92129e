// Every shipped model: found by its names, and its parameters equal the published ones.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/json.hpp"
#include "fixtures.hpp"

namespace halmark {
namespace {

using model_test::decode;
using model_test::graph_of;
using model_test::model_dir;
using model_test::shipped;

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
      EXPECT_EQ(shipped(alias).id, listing.id) << alias;
    }
  }
}

// Cards that round to two digits: "1.04 T" of 1.026 T, "1.6 T" of 1.573 T.
double rounding_of(std::string_view id) {
  return id == "kimi-k2" || id == "kimi-k2.5" || id == "deepseek-v4-pro" ? 0.018 : 0.005;
}

// Published figures carry three digits at least ("6.74 B", "494 M", "1 B" does not occur here).
TEST(ShippedModels, total_parameters_equal_the_published_ones_within_their_rounding) {
  int compared = 0;
  for (const ModelListing& listing : list_models({model_dir()})) {
    const ModelSpec spec = shipped(listing.id);
    if (!spec.published_total_params) continue;
    const OperatorGraph graph = graph_of(spec, decode(1, 1));
    const auto published = static_cast<double>(*spec.published_total_params);
    const auto ours = static_cast<double>(graph.totals.parameters);
    EXPECT_LT(std::abs(ours - published) / published, rounding_of(listing.id)) << listing.id;
    ++compared;
  }
  EXPECT_GE(compared, 25);
}

struct SharedRow {
  std::int64_t total = 0;
  std::optional<double> active;
};
std::map<std::string, SharedRow> shared_rows() {
  std::map<std::string, SharedRow> out;
  const Json data = read_json_file(std::string(HALMARK_SHARED_DATA) + "/model-configs.json");
  for (const auto& row : data.at("models")) {
    const auto total = row.find("computed_total_params");
    if (total == row.end() || !total->is_number_integer()) continue;
    SharedRow entry{total->get<std::int64_t>(), std::nullopt};
    const auto active = row.find("computed_active_params");
    if (active != row.end() && active->is_number()) entry.active = active->get<double>();
    out[row.at("id").get<std::string>()] = entry;
  }
  return out;
}

TEST(ShippedModels, parameters_equal_an_independent_count_of_the_same_configurations) {
  if (!std::filesystem::exists(std::string(HALMARK_SHARED_DATA) + "/model-configs.json")) {
    GTEST_SKIP() << "data not found: " << HALMARK_SHARED_DATA << "/model-configs.json";
  }
  const auto rows = shared_rows();
  int compared = 0;
  for (const ModelListing& listing : list_models({model_dir()})) {
    const auto row = rows.find(listing.aliases.at(0));
    if (row == rows.end()) continue;
    const OperatorGraph graph = graph_of(shipped(listing.id), decode(1, 1));
    EXPECT_EQ(graph.totals.parameters, row->second.total) << listing.id;
    if (row->second.active) {  // three digits
      const auto active = static_cast<double>(graph.totals.active_parameters);
      EXPECT_LT(std::abs(active / *row->second.active - 1), 0.006) << listing.id;
    }
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

// Model cards count the embedding as active or not, and round to one or two digits ("3.3 B").
TEST(ShippedModels, active_parameters_of_mixtures_of_experts_are_the_published_ones) {
  int compared = 0;
  for (const ModelListing& listing : list_models({model_dir()})) {
    const ModelSpec spec = shipped(listing.id);
    if (!spec.published_active_params) continue;
    const OperatorGraph graph = graph_of(spec, decode(1, 1));
    const auto published = static_cast<double>(*spec.published_active_params);
    const auto ours = static_cast<double>(graph.totals.active_parameters);
    EXPECT_LT(std::abs(ours / published - 1), 0.09) << listing.id;
    EXPECT_LT(graph.totals.active_parameters, graph.totals.parameters / 3) << listing.id;
    ++compared;
  }
  EXPECT_GE(compared, 9);
}

// Attention 3 x 2^20, router 2^15, 8 of 32 experts of 3 x 1024 x 512; the tied head.
TEST(ShippedModels, granite_1b_has_exactly_its_published_and_its_active_weights) {
  const GraphTotals totals = graph_of(shipped("granite-3.1-1b-a400m"), decode(1, 1)).totals;
  EXPECT_EQ(totals.parameters, 1'334'628'352);
  EXPECT_EQ(totals.active_parameters, 24 * (3 * 1048576 + 32768 + 8 * 3 * 524288) + 49155 * 1024);
}

TEST(ShippedModels, qwen3_06b_has_exactly_its_published_weights) {
  EXPECT_EQ(graph_of(shipped("qwen3-0.6b"), decode(1, 1)).totals.parameters, 596'049'920);
}

TEST(ShippedModels, a_folder_without_models_lists_nothing) {
  EXPECT_TRUE(list_models({"/nonexistent"}).empty());
}

}  // namespace
}  // namespace halmark
