// Deployments as NVIDIA Dynamo and llm-d describe them. Keys are held against what both publish:
// api/v1alpha1 of DynamoGraphDeployment as examples/backends/vllm/deploy/agg.yaml of
// ai-dynamo/dynamo (commit 01c94133) uses it, and values.yaml of
// llm-d-incubation/llm-d-modelservice (024c0f2d), whose template adds model, port, tensor and data
// parallelism to "vllm serve" by itself.
#include <gmock/gmock.h>

#include <set>

#include "core/json/json.hpp"
#include "export/cluster/platforms.hpp"
#include "export/request.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using testing::HasSubstr;

const ClusterOptions image{.image = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0"};

// Every path of keys; lists count as one.
void add_paths(const Json& value, const std::string& at, std::set<std::string>& out) {
  if (value.is_array()) {
    for (const Json& one : value) add_paths(one, at, out);
    return;
  }
  if (!value.is_object()) {
    out.insert(at);
    return;
  }
  for (const auto& [key, one] : value.items()) add_paths(one, at + '/' + key, out);
}

std::set<std::string> paths_of(const Json& value) {
  std::set<std::string> out;
  add_paths(value, "", out);
  return out;
}

TEST(GraphDeployment, has_the_keys_that_dynamo_publishes) {
  const Deployment d = test::small_deployment({.dp = 2, .tp = 4});
  const Json out = graph_deployment(d, test::launch(d, "vllm", "0.20.1"), image);
  const std::set<std::string> published = {
      "/apiVersion",
      "/kind",
      "/metadata/name",
      "/spec/services/Frontend/componentType",
      "/spec/services/Frontend/replicas",
      "/spec/services/Frontend/extraPodSpec/mainContainer/image",
      "/spec/services/VllmWorker/componentType",
      "/spec/services/VllmWorker/replicas",
      "/spec/services/VllmWorker/resources/limits/gpu",
      "/spec/services/VllmWorker/extraPodSpec/mainContainer/image",
      "/spec/services/VllmWorker/extraPodSpec/mainContainer/command",
      "/spec/services/VllmWorker/extraPodSpec/mainContainer/args"};
  EXPECT_EQ(paths_of(out), published);
  EXPECT_THAT(out, test::HasValues(R"({"/apiVersion": "nvidia.com/v1alpha1",
      "/kind": "DynamoGraphDeployment", "/metadata/name": "small",
      "/spec/services/Frontend/componentType": "frontend",
      "/spec/services/VllmWorker/componentType": "worker",
      "/spec/services/VllmWorker/extraPodSpec/mainContainer/command":
        ["python3", "-m", "dynamo.vllm"]})"));
}

// Copies of a dense model share nothing: two workers of four GPUs each, not one of eight.
TEST(GraphDeployment, copies_are_workers_and_the_flags_are_those_of_the_engine) {
  const Deployment d = test::small_deployment({.dp = 2, .tp = 4});
  const Launch launch = test::launch(d, "vllm", "0.20.1");
  const Json worker = graph_deployment(d, launch, image)["spec"]["services"]["VllmWorker"];
  EXPECT_EQ(worker["replicas"], 2);
  EXPECT_EQ(worker["resources"]["limits"]["gpu"], "4");
  const Json& args = worker["extraPodSpec"]["mainContainer"]["args"];
  EXPECT_EQ(args[0], "--model");
  EXPECT_EQ(args[1], "org/small");
  EXPECT_THAT(args.dump(), HasSubstr(R"("--tensor-parallel-size","4")"));
  EXPECT_THAT(args.dump(), testing::Not(HasSubstr("--data-parallel-size")));
  const Json sglang = graph_deployment(d, test::launch(d, "sglang", "0.5.9"), image);
  EXPECT_EQ(sglang["spec"]["services"]["SglangWorker"]["extraPodSpec"]["mainContainer"]["args"][0],
            "--model-path");
}

// 80 GiB of 16 bits on four ranks: the files do not shrink with what they are narrowed to while an
// engine loads them, nor grow with copies of the model.
TEST(ModelServiceValues, have_a_volume_that_holds_the_files_whatever_the_point_computes_in) {
  const auto gib_of = [](const Deployment& d) {
    const Json out = model_service_values(d, test::launch(d, "vllm", "0.20.1"), {});
    return std::stoi(out["modelArtifacts"]["size"].get<std::string>());
  };
  EXPECT_EQ(gib_of(test::small_deployment({.tp = 4})), 89) << "a tenth and one more";
  EXPECT_EQ(gib_of(test::small_deployment({.dp = 2, .tp = 4})), 89);
  Deployment narrowed = test::small_deployment({.tp = 4});
  narrowed.point.configuration.precision.set_linears(Dtype::f8_e4m3fn);
  narrowed.rank.weights /= 2;
  EXPECT_EQ(gib_of(narrowed), 89);
  narrowed.stored = narrowed.point.configuration.precision;
  EXPECT_EQ(gib_of(narrowed), 45) << "stored so";
}

TEST(ModelServiceValues, have_the_keys_that_the_chart_publishes) {
  const Deployment d = test::small_deployment({.dp = 2, .tp = 4});
  const Launch launch = test::launch(d, "vllm", "0.20.1");
  const Json out = model_service_values(d, launch, {});
  const std::set<std::string> published = {"/modelArtifacts/name",
                                           "/modelArtifacts/uri",
                                           "/modelArtifacts/size",
                                           "/accelerator/type",
                                           "/routing/servicePort",
                                           "/routing/proxy/enabled",
                                           "/decode/create",
                                           "/decode/replicas",
                                           "/decode/parallelism/tensor",
                                           "/decode/parallelism/data",
                                           "/decode/parallelism/dataLocal",
                                           "/decode/containers/name",
                                           "/decode/containers/image",
                                           "/decode/containers/modelCommand",
                                           "/decode/containers/args",
                                           "/decode/containers/mountModelVolume",
                                           "/prefill/create"};
  EXPECT_EQ(paths_of(out), published);
  EXPECT_THAT(out, test::HasValues(R"({"/modelArtifacts/uri": "hf://org/small",
      "/accelerator/type": "nvidia", "/decode/containers/0/modelCommand": "vllmServe",
      "/decode/containers/0/image": "vllm/vllm-openai:v0.20.1",
      "/decode/parallelism/tensor": 4, "/prefill/create": false})"));
  const int data = out["decode"]["parallelism"]["data"], replicas = out["decode"]["replicas"];
  EXPECT_EQ(4 * data * replicas, 8) << "all devices of the point";
  const std::string args = out["decode"]["containers"][0]["args"].dump();
  for (const char* added : {"parallel-size", "--port", "org/small"}) {
    EXPECT_THAT(args, testing::Not(HasSubstr(added))) << "the chart adds it";
  }
}

TEST(Platforms, refuse_what_they_cannot_say) {
  const Deployment dense = test::small_deployment({.tp = 4});
  const Deployment staged = test::small_deployment({.tp = 4, .pp = 2});
  const Deployment experts = test::small_deployment({.dp = 4, .tp = 1, .ep = 4}, true);
  Deployment amd = dense;
  amd.device_name = "AMD Instinct MI300X";
  const Launch vllm = test::launch(dense, "vllm", "0.20.1");
  const Launch trtllm = test::launch(dense, "trtllm", "1.0.0");
  struct Row {
    std::function<void()> call;
    const char* says;
  };
  for (const Row& row :
       {Row{[&] { graph_deployment(dense, vllm, {}); }, "no image is named"},
        Row{[&] { graph_deployment(amd, vllm, image); }, "Dynamo runs on NVIDIA devices"},
        Row{[&] { graph_deployment(dense, trtllm, image); }, "vllm or sglang"},
        Row{[&] { model_service_values(dense, trtllm, {}); }, "the chart starts vllm"},
        Row{[&] { model_service_values(staged, test::launch(staged, "vllm", "0.20.1"), {}); },
            "not by stages"},
        Row{[&] { graph_deployment(experts, test::launch(experts, "vllm", "0.20.1"), image); },
            "share experts within a worker"}}) {
    test::expect_error(row.call, row.says);
  }
  EXPECT_EQ(model_service_values(amd, vllm, {})["accelerator"]["type"], "amd");
  test::expect_error([] { table_of({.as = "vllm", .image = "x"}, test::engine_folders()); },
                     "an image is of a cluster");
}

TEST(Platforms, are_a_file_with_the_reason_of_each_flag) {
  const Deployment d = test::small_deployment({.tp = 4});
  const TextFile file = platform_file("dynamo", d, test::launch(d, "vllm", "0.20.1"), image);
  EXPECT_EQ(file.name, "dynamo.yaml");
  EXPECT_THAT(file.text, test::has_all({"# --tensor-parallel-size 4: tp4\n",
                                        "\napiVersion: nvidia.com/v1alpha1\n"}));
  EXPECT_EQ(platform_file("llm-d", d, test::launch(d, "vllm", "0.20.1"), {}).name, "values.yaml");
}

}  // namespace
}  // namespace halmark::exports
