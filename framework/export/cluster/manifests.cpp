#include "export/cluster/manifests.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "export/engine/launch_text.hpp"
#include "export/yaml.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::exports {
std::string label_of(const std::string& text, std::size_t length_max) {
  std::string out;
  for (const char c : text) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_word) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!is_word && !out.empty() && out.back() != '-') out += '-';
  }
  out.resize(std::min(out.size(), length_max));
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "model" : out;
}

std::string image_of(const Launch& launch, const ClusterOptions& options) {
  if (!options.image.empty()) return options.image;
  static const std::map<std::string, std::string> published = {
      {"vllm", "vllm/vllm-openai:v"},
      {"sglang", "lmsysorg/sglang:v"},
      {"trtllm", "nvcr.io/nvidia/tensorrt-llm/release:"},
      {"llamacpp", "ghcr.io/ggml-org/llama.cpp:server-cuda-"}};
  return published.at(launch.engine) + launch.version;
}

std::string resource_of(const Deployment& d, const char* where) {
  if (d.device_name.starts_with("NVIDIA")) return "nvidia.com/gpu";
  if (d.device_name.starts_with("AMD Instinct")) return "amd.com/gpu";
  if (d.device_name.find("Gaudi") != std::string::npos) return "habana.ai/gaudi";
  throw refused("what a node calls a " +
                    (d.device.empty() ? "CPU of this machine" : d.device_name) +
                    " as a resource is not known",
                where, "known: NVIDIA, AMD Instinct and Gaudi devices");
}

namespace {

constexpr int port = 8000;
constexpr const char* options_folder = "/etc/halmark";

struct Part {
  std::string name, role, node;  // role: "serve" answers requests, "follow" computes for one
  std::size_t replicas = 1;
  int devices = 1;
  std::vector<std::string> more;  // words of its own
};

std::vector<std::string> words_of(const Launch& launch, const Part& part) {
  std::vector<std::string> out = launch.command;
  for (const LaunchFlag& f : launch.flags) {
    out.push_back(f.flag);
    const bool is_file = !launch.options_name.empty() && f.value == launch.options_name;
    if (!f.value.empty())
      out.push_back(is_file ? std::string(options_folder) + '/' + f.value : f.value);
  }
  out.insert(out.end(), {"--host", "0.0.0.0", "--port", std::to_string(port)});
  append_all(out, part.more);
  return out;
}

Json container_of(const Deployment& d, const Launch& launch, const Part& part,
                  const ClusterOptions& options) {
  Json mounts = Json::array({{{"name", "shm"}, {"mountPath", "/dev/shm"}}});
  if (!launch.options_name.empty()) {
    mounts.push_back({{"name", "options"}, {"mountPath", options_folder}});
  }
  const Json amount = {{resource_of(d, "--as k8s"), part.devices}};
  Json out = {{"name", "server"},
              {"image", image_of(launch, options)},
              {"command", words_of(launch, part)},
              {"resources", {{"limits", amount}, {"requests", amount}}},
              {"volumeMounts", mounts}};
  if (part.role == "serve") {
    out["ports"] = Json::array({{{"name", "http"}, {"containerPort", port}}});
    out["readinessProbe"] = {{"httpGet", {{"path", "/health"}, {"port", "http"}}},
                             {"periodSeconds", 10},
                             {"failureThreshold", 180}};
  }
  return out;
}

Json deployment_of(const Deployment& d, const Launch& launch, const Part& part,
                   const std::string& app, const ClusterOptions& options) {
  Json volumes = Json::array({{{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}}});
  if (!launch.options_name.empty()) {
    volumes.push_back({{"name", "options"}, {"configMap", {{"name", app + "-options"}}}});
  }
  const Json labels = {{"app", app}, {"part", part.name}, {"role", part.role}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", part.name}, {"labels", labels}}},
          {"spec",
           {{"replicas", part.replicas},
            {"strategy", {{"type", "Recreate"}}},  // a new server needs the devices of the old one
            {"selector", {{"matchLabels", labels}}},
            {"template",
             {{"metadata", {{"labels", labels}}},
              {"spec",
               {{"nodeSelector", {{"kubernetes.io/hostname", part.node}}},
                {"containers", Json::array({container_of(d, launch, part, options)})},
                {"volumes", volumes}}}}}}}};
}

Json service_of(const std::string& name, const Json& selector, int at, bool is_headless) {
  Json out = {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata", {{"name", name}}},
      {"spec",
       {{"selector", selector},
        {"ports",
         Json::array(
             {{{"name", is_headless ? "meet" : "http"}, {"port", at}, {"targetPort", at}}})}}}};
  if (is_headless) {
    out["spec"]["clusterIP"] = "None";
    out["spec"]["publishNotReadyAddresses"] = true;  // parts meet before any of them is ready
  }
  return out;
}

// Of one server over several nodes.
std::vector<Part> parts_of(const Launch& launch, const PlacedServer& server,
                           std::span<const ClusterNode> nodes, const std::string& name) {
  const SpanFlags& span = *launch.span;
  const std::string host = name + "-0";
  std::vector<Part> out;
  for (const auto rank : indices(server.nodes)) {
    Part part{.name = name + '-' + std::to_string(rank),
              .role = rank == 0 ? "serve" : "follow",
              .node = nodes[server.nodes[rank]].name,
              .devices = launch.devices_per_server / as_int(server.nodes.size())};
    const std::string address =
        span.address_port > 0 ? host + ':' + std::to_string(span.address_port) : host;
    part.more = {span.nodes,   std::to_string(server.nodes.size()),
                 span.rank,    std::to_string(rank),
                 span.address, address};
    if (rank > 0 && !span.follower.empty()) part.more.push_back(span.follower);
    out.push_back(std::move(part));
  }
  return out;
}

std::string place_text(const PlacedServer& server, std::span<const ClusterNode> nodes) {
  return join(server.nodes, " + ", [&](const std::size_t node) { return nodes[node].name; });
}

}  // namespace

Placement placement_of(const Launch& launch, std::span<const ClusterNode> nodes) {
  const ServerShape shape{.group_devices = launch.group_devices,
                          .groups = launch.devices_per_server / launch.group_devices,
                          .may_span = launch.span.has_value()};
  if (auto placed = place(nodes, shape, launch.servers)) return *std::move(placed);
  std::int64_t devices = 0;
  for (const ClusterNode& node : nodes) {
    for (const std::int64_t d : node.domains) devices += d;
  }
  throw refused(std::to_string(launch.servers) + " server(s) of " +
                    std::to_string(launch.devices_per_server) + " devices, in groups of " +
                    std::to_string(launch.group_devices) + " within a domain, do not fit on " +
                    std::to_string(nodes.size()) + " node(s) with " + std::to_string(devices) +
                    " devices in all" + (shape.may_span ? "" : ", each within one node"),
                "--nodes", "list more nodes, or choose a point with fewer devices");
}

std::vector<Json> manifests(const Deployment& d, const Launch& launch,
                            std::span<const ClusterNode> nodes, const Placement& placement,
                            const ClusterOptions& options) {
  const std::string app = label_of(d.configuration().model);
  std::vector<Json> out;
  if (!launch.options_name.empty()) {
    out.push_back({{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", {{"name", app + "-options"}}},
                   {"data", {{launch.options_name, launch.options}}}});
  }
  std::map<std::size_t, std::size_t> whole;  // servers by node
  std::vector<Part> parts;
  for (const PlacedServer& server : placement.servers) {
    if (server.nodes.size() == 1) ++whole[server.nodes.front()];
  }
  for (const auto& [node, count] : whole) {
    parts.push_back({.name = app + "-n" + std::to_string(node),
                     .role = "serve",
                     .node = nodes[node].name,
                     .replicas = count,
                     .devices = launch.devices_per_server});
  }
  for (const auto i : indices(placement.servers)) {
    if (placement.servers[i].nodes.size() == 1) continue;
    const std::string name = app + "-s" + std::to_string(i);
    const int meeting = launch.span->address_port > 0 ? launch.span->address_port : port;
    out.push_back(service_of(name + "-0", {{"app", app}, {"part", name + "-0"}}, meeting, true));
    std::ranges::move(parts_of(launch, placement.servers[i], nodes, name),
                      std::back_inserter(parts));
  }
  for (const Part& part : parts) out.push_back(deployment_of(d, launch, part, app, options));
  out.push_back(service_of(app, {{"app", app}, {"role", "serve"}}, port, false));
  return out;
}

TextFile manifest_file(const Deployment& d, const Launch& launch,
                       std::span<const ClusterNode> nodes, const ClusterOptions& options) {
  const Placement placement = placement_of(launch, nodes);
  std::string text;
  const auto comment = [&](const std::string& line) {
    text += "# " + report::clean_text(line) + '\n';
  };
  for (const std::string& line : deployment_lines(d, launch)) comment(line);
  for (const LaunchFlag& f : launch.flags) {
    comment(f.flag + (f.value.empty() ? "" : ' ' + f.value) + ": " + f.why);
  }
  for (const auto i : indices(placement.servers)) {
    comment("server " + std::to_string(i + 1) + " of " + std::to_string(placement.servers.size()) +
            ": " + place_text(placement.servers[i], nodes));
  }
  if (options.image.empty()) comment("image: the name that its project publishes; not looked up");
  for (const Json& one : manifests(d, launch, nodes, placement, options)) {
    text += "---\n" + yaml_text(one);
  }
  return {"manifests.yaml", text};
}

}  // namespace halmark::exports
