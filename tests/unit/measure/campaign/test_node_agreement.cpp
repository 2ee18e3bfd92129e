#include "measure/campaign/node_agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

const std::vector<NodeRanks> two_nodes{{"n1", 2}, {"n2", 1}};

std::vector<NodeReport> equal_reports() {
  std::vector<NodeReport> out;
  for (int rank = 0; rank < 3; ++rank) {
    out.push_back({rank, rank < 2 ? "one" : "two", "aaaa", "bbbb", "cpu-cccc", "Some CPU"});
  }
  return out;
}

std::string refusal(const std::vector<NodeReport>& reports) {
  return node_disagreement(two_nodes, reports).value_or("agree");
}

TEST(NodeAgreement, equal_nodes_agree_whatever_they_call_themselves) {
  EXPECT_EQ(refusal(equal_reports()), "agree");
}

TEST(NodeAgreement, each_difference_names_the_node_and_both_sides) {
  auto worker = equal_reports();
  worker[2].worker_hash = "dddd";
  EXPECT_THAT(refusal(worker), HasSubstr("node n2 has another build of halmark-worker than n1 "
                                         "(dddd, there aaaa)"));
  auto plugin = equal_reports();
  plugin[2].plugin_hash = "eeee";
  EXPECT_THAT(refusal(plugin), HasSubstr("node n2 has another build of the plugin than n1"));
  auto hardware = equal_reports();
  hardware[2].hardware_class = "cpu-ffff";
  EXPECT_THAT(refusal(hardware), HasSubstr("node n2 has another class of hardware than n1"));
  auto absent = equal_reports();
  absent[2].plugin_hash.clear();
  EXPECT_THAT(refusal(absent), HasSubstr("node n2 has no such plugin"));
  absent[0].plugin_hash.clear();
  EXPECT_THAT(refusal(absent), HasSubstr("node n1 has no such plugin"));
}

TEST(NodeAgreement, no_hosts_are_no_checks_and_nobody_is_asked_without_collectives) {
  EXPECT_TRUE(node_checks("", {}).empty());
  const auto checks = node_checks("n1:1,n2:1", {});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].verdict, "missing");
  EXPECT_THROW(node_checks("n1", {}), Error);
}

}  // namespace
}  // namespace halmark
