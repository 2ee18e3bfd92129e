#include "export/cluster/platforms.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "export/engine/launch_text.hpp"
#include "export/yaml.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::exports {
namespace {

// Tensor and data parallelism by the flags of the engines that are started here.
struct Ranks {
  int tensor = 1, data = 1;
};

bool is_one_of(const std::string& flag, std::initializer_list<const char*> names) {
  return contains(names, flag);
}
bool is_tensor(const std::string& flag) {
  return is_one_of(flag, {"--tensor-parallel-size", "--tp-size"});
}
bool is_data(const std::string& flag) {
  return is_one_of(flag, {"--data-parallel-size", "--dp-size"});
}

Ranks ranks_of(const Launch& launch) {
  Ranks out;
  for (const LaunchFlag& f : launch.flags) {
    int value = 1;
    std::from_chars(f.value.data(), f.value.data() + f.value.size(), value);
    if (is_tensor(f.flag)) out.tensor = value;
    if (is_data(f.flag)) out.data = value;
  }
  return out;
}

template <class LeavesOut>
Json arguments_of(const Launch& launch, const LeavesOut& leaves_out) {
  Json out = Json::array();
  for (const LaunchFlag& f : launch.flags) {
    if (leaves_out(f.flag)) continue;
    out.push_back(f.flag);
    if (!f.value.empty()) out.push_back(f.value);
  }
  return out;
}

void require_one_command(const Launch& launch, const char* as) {
  if (launch.options_name.empty()) return;
  throw refused(launch.engine + " takes a file of options, which is not written here",
                std::string("--as ") + as, "--as k8s has it as a ConfigMap");
}

// Copies of a dense model share nothing: each is a worker of its own.
int copies_in_server(const Deployment& d, const Ranks& ranks, const char* as) {
  if (ranks.data == 1) return 1;
  if (d.is_moe) {
    throw refused("data-parallel ranks that share experts within a worker are not written",
                  std::string("--as ") + as, "choose a point with dp1, or --as k8s");
  }
  return ranks.data;
}

// Of the files, which an engine may narrow while it loads them: 16 bits where the point does not
// compute with what the checkpoint states. A volume of fewer bytes could not hold them.
double checkpoint_bytes_at_most(const Deployment& d) {
  const Configuration& c = d.configuration();
  int bits = 16;
  for (const KernelKindRow& row : kernel_kinds) {
    if (row.is_linear) bits = std::min(bits, dtype_bits(c.precision.*row.field));
  }
  const double copies_apart = d.is_moe ? c.parallel.dp : 1;  // experts are spread over them
  return static_cast<double>(d.rank.weights) * c.parallel.tp * c.parallel.pp * copies_apart *
         (d.stored == c.precision ? 1 : 16.0 / bits);
}

}  // namespace

const std::vector<std::string>& platform_names() {
  static const std::vector<std::string> names = {"dynamo", "llm-d"};
  return names;
}

Json graph_deployment(const Deployment& d, const Launch& launch, const ClusterOptions& options) {
  constexpr const char* as = "dynamo";
  const bool is_vllm = launch.engine == "vllm";
  if (!is_vllm && launch.engine != "sglang") {
    throw refused("Dynamo's flags of " + launch.engine + " are others than those of its server",
                  "--engine", "vllm or sglang");
  }
  require_one_command(launch, as);
  if (resource_of(d, "--as dynamo") != "nvidia.com/gpu") {
    throw refused("Dynamo runs on NVIDIA devices, and this is " + d.device_name, "--as dynamo",
                  "--as k8s or --as llm-d");
  }
  if (options.image.empty()) {
    throw refused("no image is named: Dynamo has releases of its own", "--image",
                  "nvcr.io/nvidia/ai-dynamo/" + launch.engine + "-runtime:RELEASE");
  }
  const Ranks ranks = ranks_of(launch);
  const int copies = copies_in_server(d, ranks, as);
  Json arguments = arguments_of(launch, [](const std::string& flag) { return is_data(flag); });
  arguments.insert(arguments.begin(), d.checkpoint);
  arguments.insert(arguments.begin(), is_vllm ? "--model" : "--model-path");
  const Json container = {{"image", options.image},
                          {"command", {"python3", "-m", "dynamo." + launch.engine}},
                          {"args", arguments}};
  const Json gpus = {{"gpu", std::to_string(launch.devices_per_server / copies)}};
  return {{"apiVersion", "nvidia.com/v1alpha1"},
          {"kind", "DynamoGraphDeployment"},
          {"metadata", {{"name", label_of(d.configuration().model)}}},
          {"spec",
           {{"services",
             {{"Frontend",
               {{"componentType", "frontend"},
                {"replicas", 1},
                {"extraPodSpec", {{"mainContainer", {{"image", options.image}}}}}}},
              {is_vllm ? "VllmWorker" : "SglangWorker",
               {{"componentType", "worker"},
                {"replicas", launch.servers * copies},
                {"resources", {{"limits", gpus}}},
                {"extraPodSpec", {{"mainContainer", container}}}}}}}}}};
}

Json model_service_values(const Deployment& d, const Launch& launch,
                          const ClusterOptions& options) {
  constexpr const char* as = "llm-d";
  if (launch.engine != "vllm") {
    throw refused("the chart starts vllm, not " + launch.engine, "--engine", "leave it out");
  }
  require_one_command(launch, as);
  if (d.configuration().parallel.pp > 1) {
    throw refused("the chart counts devices by tensor and data parallelism, not by stages",
                  "--as llm-d", "choose a point with pp1, or --as k8s");
  }
  const std::string resource = resource_of(d, "--as llm-d");
  const Ranks ranks = ranks_of(launch);
  const std::string type = resource == "nvidia.com/gpu" ? "nvidia"
                           : resource == "amd.com/gpu"  ? "amd"
                                                        : "intel-gaudi";
  constexpr double gib = 1024.0 * 1024 * 1024;
  // The chart itself adds model, port and these two flags.
  const auto is_charts = [](const std::string& flag) { return is_tensor(flag) || is_data(flag); };
  Json container = {{"name", "vllm"},
                    {"image", image_of(launch, options)},
                    {"modelCommand", "vllmServe"},
                    {"args", arguments_of(launch, is_charts)},
                    {"mountModelVolume", true}};
  return {{"modelArtifacts",
           {{"name", d.checkpoint},
            {"uri", "hf://" + d.checkpoint},
            {"size",
             std::to_string(std::llround(std::ceil(1.1 * checkpoint_bytes_at_most(d) / gib)) + 1) +
                 "Gi"}}},
          {"accelerator", {{"type", type}}},
          {"routing", {{"servicePort", 8000}, {"proxy", {{"enabled", false}}}}},
          {"decode",
           {{"create", true},
            {"replicas", launch.servers},
            {"parallelism",
             {{"tensor", ranks.tensor}, {"data", ranks.data}, {"dataLocal", ranks.data}}},
            {"containers", Json::array({container})}}},
          {"prefill", {{"create", false}}}};
}

TextFile platform_file(const std::string& as, const Deployment& d, const Launch& launch,
                       const ClusterOptions& options) {
  const bool is_dynamo = as == "dynamo";
  const Json value =
      is_dynamo ? graph_deployment(d, launch, options) : model_service_values(d, launch, options);
  std::string text;
  const auto comment = [&](const std::string& line) {
    text += "# " + report::clean_text(line) + '\n';
  };
  for (const std::string& line : deployment_lines(d, launch)) comment(line);
  comment(is_dynamo ? "kubectl apply -f dynamo.yaml; a checkpoint that needs a token: envFromSecret"
                    : "helm install NAME llm-d-modelservice/llm-d-modelservice -f values.yaml; a "
                      "checkpoint that needs a token: modelArtifacts.authSecretName");
  for (const LaunchFlag& f : launch.flags) {
    if (is_dynamo && is_data(f.flag)) continue;  // its copies are workers
    comment(f.flag + (f.value.empty() ? "" : ' ' + f.value) + ": " + f.why);
  }
  return {is_dynamo ? "dynamo.yaml" : "values.yaml", text + yaml_text(value)};
}

}  // namespace halmark::exports
