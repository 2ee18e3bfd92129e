// Manifests of each engine word for word.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "export/cluster/manifests.hpp"
#include "small_deployment.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::exports {
namespace {

using test::HasValues;
using test::launch;
using test::small_deployment;
using testing::HasSubstr;

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

}  // namespace
}  // namespace halmark::exports
