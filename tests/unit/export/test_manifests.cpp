#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "export/cluster/manifests.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using testing::HasSubstr;

std::vector<Json> of_kind(const std::vector<Json>& all, const std::string& kind) {
  std::vector<Json> out;
  for (const Json& one : all) {
    if (one.at("kind") == kind) out.push_back(one);
  }
  return out;
}

TEST(Manifests, whole_servers_are_replicas_on_their_node) {
  const Deployment d = test::small_deployment({.dp = 4, .tp = 2}, true);
  const Launch l = test::launch(d, "vllm", "0.20.1");
  const std::vector<ClusterNode> nodes = {{"a", {4}}, {"b", {8}}};
  const auto all = manifests(d, l, nodes, placement_of(l, nodes), {});
  const auto deployments = of_kind(all, "Deployment");
  ASSERT_EQ(deployments.size(), 1u);  // node b takes all four
  const Json& spec = deployments[0]["spec"];
  EXPECT_THAT(spec, test::HasValues(R"({"/replicas": 4,
      "/template/spec/nodeSelector/kubernetes.io~1hostname": "b",
      "/template/spec/containers/0/resources/limits/nvidia.com~1gpu": 2})"));
  EXPECT_EQ(of_kind(all, "Service").size(), 1u);
}

TEST(Manifests, a_server_over_two_nodes_meets_at_its_first_part) {
  const Deployment d = test::small_deployment({.tp = 8, .pp = 2});
  const Launch l = test::launch(d, "sglang", "0.5.9");
  const std::vector<ClusterNode> nodes = {{"a", {8}}, {"b", {8}}};
  const auto all = manifests(d, l, nodes, placement_of(l, nodes), {});
  const auto deployments = of_kind(all, "Deployment");
  ASSERT_EQ(deployments.size(), 2u);
  const std::string second =
      deployments[1]["spec"]["template"]["spec"]["containers"][0]["command"].dump();
  EXPECT_THAT(
      second,
      HasSubstr(R"("--nnodes","2","--node-rank","1","--dist-init-addr","small-s0-0:5000")"));
  const auto services = of_kind(all, "Service");
  ASSERT_EQ(services.size(), 2u);
  EXPECT_THAT(services, test::HasValues(R"({"/0/metadata/name": "small-s0-0",
      "/0/spec/clusterIP": "None"})"));
}

TEST(Manifests, what_does_not_fit_is_refused_with_both_numbers) {
  const Deployment d = test::small_deployment({.tp = 8, .pp = 2});
  const std::vector<ClusterNode> nodes = {{"a", {8}}};
  const Error error =
      test::error_of([&] { placement_of(test::launch(d, "sglang", "0.5.9"), nodes); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), test::has_all({"of 16 devices", "with 8 devices"}));
}

TEST(Manifests, a_device_without_a_resource_name_is_refused) {
  Deployment d = test::small_deployment({.tp = 2});
  d.device_name = "TPU v5e";
  const Launch l = test::launch(d, "vllm", "0.20.1");
  const std::vector<ClusterNode> nodes = {{"a", {8}}};
  test::expect_error([&] { manifest_file(d, l, nodes, {}); }, "TPU v5e");
}

}  // namespace
}  // namespace halmark::exports
