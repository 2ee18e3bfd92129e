#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "export/yaml.hpp"
#include "fleet/fleet.hpp"
#include "fleet/launch/launch.hpp"

namespace halmark::fleet {
namespace {

// A word of a POSIX shell.
std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./:=@,+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

std::string command_text(const LaunchRequest& request) {
  std::string out;
  for (const std::string& word : agent_command(request)) {
    append_item(out, " ", quoted(word));
  }
  return out;
}

}  // namespace

void check_url(const std::string& url) {
  require_shared(url);
  const std::size_t begin = url.find("://"), at = url.find('@');
  const bool has_userinfo = begin != std::string::npos && at != std::string::npos;
  const bool has_password = has_userinfo && url.find(':', begin + 3) < at;
  if (!has_password && url.find("password=") == std::string::npos) return;
  throw refused("every user of the nodes could read a password there, in the list of processes",
                "URL", "leave it out: ~/.pgpass (mode 0600) or PGPASSWORD has it");
}

std::vector<std::string> agent_command(const LaunchRequest& request) {
  std::vector<std::string> out = {request.program,
                                  "agent",
                                  request.url,
                                  "--idle",
                                  fmt::format("{}", request.idle_s),
                                  "--lease",
                                  fmt::format("{}", request.lease_s)};
  append_all(out, request.more);
  return out;
}

std::string slurm_script(const LaunchRequest& request) {
  std::string out = fmt::format(
      "#!/bin/sh\n"
      "# One agent per node: units of work are in the database, none of them in Slurm.\n"
      "#SBATCH --job-name=halmark-agent\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --nodes=1\n"
      "#SBATCH --exclusive\n"
      "#SBATCH --signal=B:TERM@60\n"
      "#SBATCH --output=halmark-agent-%A_%a.log\n",
      request.nodes - 1);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) out += fmt::format("#SBATCH --{}={}\n", option, value);
  };
  add("partition", request.partition);
  add("constraint", request.constraint);
  add("gres", request.gres);
  add("time", request.time_limit);
  return out + "exec " + command_text(request) + '\n';
}

std::string ssh_line(const LaunchRequest& request) {
  return "nohup " + command_text(request) +
         " >\"halmark-agent-$(hostname).log\" 2>&1 </dev/null & echo $!";
}

std::string kubernetes_manifest(const LaunchRequest& request) {
  if (request.image.empty()) throw refused("pods need an image", "--image");
  const Json password = {
      {"name", "PGPASSWORD"},
      {"valueFrom",
       {{"secretKeyRef",
         {{"name", "halmark-database"}, {"key", "password"}, {"optional", true}}}}}};
  const Json node_name = {{"name", "HALMARK_NODE"},
                          {"valueFrom", {{"fieldRef", {{"fieldPath", "spec.nodeName"}}}}}};
  const Json container = {{"name", "agent"},
                          {"image", request.image},
                          {"command", agent_command(request)},
                          {"env", Json::array({password, node_name})}};
  const Json apart = {
      {"requiredDuringSchedulingIgnoredDuringExecution",
       Json::array({{{"labelSelector", {{"matchLabels", {{"app", "halmark-agent"}}}}},
                     {"topologyKey", "kubernetes.io/hostname"}}})}};
  const Json pod = {{"restartPolicy", "Never"},
                    {"affinity", {{"podAntiAffinity", apart}}},
                    {"containers", Json::array({container})}};
  return "# Untested on a cluster: one agent per node, whose image has halmark and its plugins.\n" +
         exports::yaml_text(
             {{"apiVersion", "batch/v1"},
              {"kind", "Job"},
              {"metadata", {{"name", "halmark-agent"}}},
              {"spec",
               {{"completionMode", "Indexed"},
                {"completions", request.nodes},
                {"parallelism", request.nodes},
                {"backoffLimit", 0},
                {"template",
                 {{"metadata", {{"labels", {{"app", "halmark-agent"}}}}}, {"spec", pod}}}}}});
}

}  // namespace halmark::fleet
