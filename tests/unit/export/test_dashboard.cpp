// The dashboard in configs/grafana against the names that the Prometheus export writes.
#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "core/json/json.hpp"
#include "export/exchange/exchange.hpp"
#include "tests/checkout.hpp"

namespace halmark::exports {
namespace {

std::set<std::string> names_in(const std::string& text, const std::string& pattern) {
  const std::regex name(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) {
    out.insert((*it)[1]);
  }
  return out;
}

// Of every figure that a kernel and a point can have.
std::set<std::string> exported() {
  MetricTable kernels{.is_of_kernels = true}, points;
  kernels.rows.push_back({.name = "k",
                          .metrics = {{.name = "duration_ns", .value = 1},
                                      {.name = "flops_per_s", .value = 1},
                                      {.name = "bytes_per_s", .value = 1},
                                      {.name = "mfu_ratio", .value = 1}}});
  points.rows.push_back({.name = "p"});
  for (const ObjectiveRow& row : objective_rows()) {
    points.rows[0].metrics.push_back({.name = metric_name(row), .value = 1});
  }
  return names_in(prometheus_text(kernels) + prometheus_text(points), "# TYPE (\\w+) gauge");
}

TEST(Dashboard, asks_for_every_metric_that_is_exported_and_for_no_other) {
  const Json document = read_json_file(test::in_source("/configs/grafana/halmark.json"));
  std::set<std::string> asked;
  for (const Json& panel : document["panels"]) {
    if (panel["type"] == "row") continue;
    for (const Json& target : panel["targets"]) {
      for (const std::string& name :
           names_in(target["expr"].get<std::string>(), "(halmark_\\w+)\\{")) {
        EXPECT_TRUE(asked.insert(name).second) << name << " has two panels";
      }
    }
  }
  EXPECT_EQ(asked, exported());
}

TEST(Dashboard, filters_by_labels_that_the_export_has) {
  const Json document = read_json_file(test::in_source("/configs/grafana/halmark.json"));
  MetricTable table{.is_of_kernels = true};
  table.rows.push_back({.name = "k", .metrics = {{.name = "duration_ns", .value = 1}}});
  const std::set<std::string> labels = names_in(prometheus_text(table), "(\\w+)=\"");
  for (const Json& panel : document["panels"]) {
    if (panel["type"] == "row") continue;
    const auto used = names_in(panel["targets"][0]["expr"].get<std::string>(), "(\\w+)=~");
    EXPECT_FALSE(used.empty());
    for (const std::string& label : used) EXPECT_TRUE(labels.contains(label)) << label;
  }
}

}  // namespace
}  // namespace halmark::exports
