#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "export/cluster/manifests.hpp"
#include "export/cluster/placement.hpp"
#include "small_deployment.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using test::HasValues;
using test::launch;
using test::small_deployment;
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

// Manifests of each engine word for word.

std::vector<Json> manifests_of(const Deployment& d, const Launch& l,
                               const std::vector<ClusterNode>& nodes,
                               const ClusterOptions& options = {}) {
  return manifests(d, l, nodes, placement_of(l, nodes), options);
}

TEST(ManifestWords, of_a_server_are_a_deployment_and_a_service) {
  const Deployment d = small_deployment({.tp = 2});
  const auto all = manifests_of(d, launch(d, "vllm", "0.20.1"), {{"a", {8}}});
  ASSERT_EQ(all.size(), 2u);
  const Json labels = {{"app", "small"}, {"part", "small-n0"}, {"role", "serve"}};
  EXPECT_EQ(all[0]["metadata"], Json({{"name", "small-n0"}, {"labels", labels}}));
  EXPECT_THAT(all, HasValues(R"({"/0/spec/strategy/type": "Recreate",
      "/1/spec/ports": [{"name": "http", "port": 8000, "targetPort": 8000}]})"));
  EXPECT_EQ(all[0]["spec"]["selector"]["matchLabels"], labels);
  const Json& pod = all[0]["spec"]["template"]["spec"];
  const Json& c = pod["containers"][0];
  EXPECT_THAT(c, HasValues(R"({"/image": "vllm/vllm-openai:v0.20.1",
      "/ports": [{"name": "http", "containerPort": 8000}],
      "/readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10,
      "failureThreshold": 180}, "/resources/requests": {"nvidia.com/gpu": 2},
      "/volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]})"));
  EXPECT_THAT(c["command"].dump(), testing::EndsWith(R"("--host","0.0.0.0","--port","8000"])"));
  EXPECT_EQ(pod["volumes"], Json::parse(R"([{"name": "shm", "emptyDir": {"medium": "Memory"}}])"));
  EXPECT_EQ(all[1]["spec"]["selector"], Json({{"app", "small"}, {"role", "serve"}}));
  EXPECT_FALSE(all[1]["spec"].contains("clusterIP"));
}

TEST(ManifestWords, images_and_resources_are_those_of_engine_and_device) {
  const auto container = [](const Deployment& d, const std::string& engine,
                            const std::string& version, const ClusterOptions& options = {}) {
    for (const Json& one : manifests_of(d, launch(d, engine, version), {{"a", {8}}}, options)) {
      if (one["kind"] == "Deployment") return one["spec"]["template"]["spec"]["containers"][0];
    }
    return Json();
  };
  Deployment d = small_deployment({});
  EXPECT_EQ(container(d, "sglang", "0.5.9")["image"], "lmsysorg/sglang:v0.5.9");
  EXPECT_EQ(container(d, "trtllm", "1.0.0")["image"], "nvcr.io/nvidia/tensorrt-llm/release:1.0.0");
  EXPECT_EQ(container(d, "llamacpp", "b11434")["image"],
            "ghcr.io/ggml-org/llama.cpp:server-cuda-b11434");
  EXPECT_EQ(container(d, "vllm", "0.20.1", {.image = "mine:1"})["image"], "mine:1");
  for (const auto& [name, resource] : {std::pair{"NVIDIA H200", "nvidia.com/gpu"},
                                       {"AMD Instinct MI300X", "amd.com/gpu"},
                                       {"Intel Gaudi 3", "habana.ai/gaudi"}}) {
    d.device_name = name;
    EXPECT_TRUE(container(d, "vllm", "0.20.1")["resources"]["limits"].contains(resource)) << name;
  }
}

TEST(ManifestWords, a_file_of_options_is_a_config_map_that_is_mounted) {
  const Deployment d = small_deployment({.tp = 2});
  const Launch l = launch(d, "trtllm", "1.0.0");
  const auto all = manifests_of(d, l, {{"a", {8}}});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all, HasValues(R"({"/0/kind": "ConfigMap", "/0/metadata/name": "small-options"})"));
  EXPECT_EQ(all[0]["data"]["options.yaml"], l.options);
  const Json& pod = all[1]["spec"]["template"]["spec"];
  EXPECT_THAT(pod, HasValues(R"({"/volumes/1/configMap/name": "small-options",
      "/containers/0/volumeMounts/1/mountPath": "/etc/halmark"})"));
  EXPECT_THAT(pod["containers"][0]["command"].dump(),
              HasSubstr(R"("--extra_llm_api_options","/etc/halmark/options.yaml")"));
}

TEST(ManifestWords, a_server_over_two_nodes_has_a_leader_and_followers) {
  Deployment d = small_deployment({.tp = 8, .pp = 2});
  d.point.configuration.model = "Org/My.Model_" + std::string(60, 'x');
  const auto all = manifests_of(d, launch(d, "vllm", "0.20.1"), {{"a", {8}}, {"b", {8}}});
  ASSERT_EQ(all.size(), 4u);
  const std::string app = "org-my-model-" + std::string(27, 'x');
  EXPECT_EQ(all[0]["metadata"]["name"], app + "-s0-0") << "40 characters of the model";
  EXPECT_THAT(all, HasValues(R"({"/0/spec/ports/0/name": "meet",
      "/0/spec/ports/0/port": 8000, "/0/spec/publishNotReadyAddresses": true,
      "/1/metadata/labels/role": "serve", "/2/metadata/labels/role": "follow"})"));
  const auto command = [&](std::size_t i) {
    return all[i]["spec"]["template"]["spec"]["containers"][0]["command"].dump();
  };
  EXPECT_THAT(command(1), HasSubstr(R"("--nnodes","2","--node-rank","0","--master-addr",")" + app +
                                    "-s0-0\"]"));
  EXPECT_THAT(command(2), testing::EndsWith(R"(","--headless"])"));
  const Json& follower = all[2]["spec"]["template"]["spec"];
  EXPECT_FALSE(follower["containers"][0].contains("ports"));
  EXPECT_THAT(follower, HasValues(R"({"/containers/0/resources/limits/nvidia.com~1gpu": 8,
      "/nodeSelector/kubernetes.io~1hostname": "b"})"));
}

TEST(ManifestWords, the_file_says_where_servers_are) {
  const Deployment d = small_deployment({.dp = 2, .tp = 2}, true);
  const TextFile file = manifest_file(d, launch(d, "vllm", "0.20.1"),
                                      std::vector<ClusterNode>{{"a", {2}}, {"b", {2}}}, {});
  EXPECT_EQ(file.name, "manifests.yaml");
  EXPECT_THAT(file.text,
              test::has_all({"\n# server 1 of 2: a\n# server 2 of 2: b\n",
                             "\n# --tensor-parallel-size 2: tp2\n",
                             "# image: the name that its project publishes; not looked up\n"
                             "---\napiVersion: apps/v1\n"}));
}

// Placements against the enumeration of all of them, on every small cluster.

struct Best {
  std::size_t extra_parts = 0, nodes = 0;
  auto operator<=>(const Best&) const = default;
};

// Every assignment of every server to every set of nodes with an equal part on each.
std::optional<Best> enumerated(const std::vector<int>& free, int groups, int servers) {
  std::optional<Best> best;
  const std::size_t sets = std::size_t{1} << free.size();
  const std::function<void(std::vector<int>, std::size_t, int, std::size_t)> place_next =
      [&](std::vector<int> left, std::size_t used, int more, std::size_t parts) {
        if (more == 0) {
          const Best found{parts - as_size(servers), as_size(std::popcount(used))};
          if (!best || found < *best) best = found;
          return;
        }
        for (std::size_t set = 1; set < sets; ++set) {
          const int count = std::popcount(set);
          if (groups % count != 0) continue;
          std::vector<int> after = left;
          bool fits = true;
          for (std::size_t i = 0; i < free.size(); ++i) {
            if ((set >> i & 1U) != 0) fits = (after[i] -= groups / count) >= 0 && fits;
          }
          if (fits) place_next(after, used | set, more - 1, parts + as_size(count));
        }
      };
  place_next(free, 0, servers, 0);
  return best;
}

void check(const std::vector<std::int64_t>& devices, int groups, int servers) {
  std::vector<ClusterNode> nodes;
  for (const std::int64_t d : devices) nodes.push_back({"n" + std::to_string(nodes.size()), {d}});
  const auto placed =
      place(nodes, {.group_devices = 1, .groups = groups, .may_span = true}, servers);
  const auto best = enumerated({devices.begin(), devices.end()}, groups, servers);
  ASSERT_EQ(placed.has_value(), best.has_value());
  if (!placed) return;
  EXPECT_EQ(placed->extra_parts, best->extra_parts);
  EXPECT_EQ(placed->nodes_used, best->nodes);
  std::vector<std::int64_t> left = devices;
  for (const PlacedServer& server : placed->servers) {
    for (const std::size_t node : server.nodes) {
      left[node] -= groups / static_cast<std::int64_t>(server.nodes.size());
    }
  }
  EXPECT_GE(std::ranges::min(left), 0);
  EXPECT_EQ(std::accumulate(devices.begin(), devices.end(), std::int64_t{0}) -
                std::accumulate(left.begin(), left.end(), std::int64_t{0}),
            std::int64_t{groups} * servers);
}

TEST(Placement, equals_the_enumeration_on_every_small_cluster) {
  for (int groups = 1; groups <= 4; ++groups) {
    for (int servers = 1; servers <= 3; ++servers) {
      for (std::int64_t a = 1; a <= 5; ++a) {
        for (std::int64_t b = 0; b <= a; ++b) {
          for (std::int64_t c = 0; c <= b; ++c) {
            SCOPED_TRACE(test::case_name({groups, servers, a, b, c}));
            check({a, b, c}, groups, servers);
          }
        }
      }
    }
  }
}

TEST(Placement, a_group_stays_within_a_domain) {
  const std::vector<ClusterNode> nodes = {{"a", {4, 4}}, {"b", {6, 2}}};
  EXPECT_EQ(capacities(nodes, 4), (std::vector<int>{2, 1}));
  const ServerShape shape{.group_devices = 4, .groups = 1};
  EXPECT_TRUE(place(nodes, shape, 3));
  EXPECT_FALSE(place(nodes, shape, 4));
}

TEST(Placement, a_thousand_alike_nodes_are_quick) {
  std::vector<ClusterNode> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back({"n" + std::to_string(i), {8}});
  const auto placed = place(nodes, {.group_devices = 4, .groups = 1}, 1500);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->nodes_used, 750u);
}

}  // namespace
}  // namespace halmark::exports
