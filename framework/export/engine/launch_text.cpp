#include "export/engine/launch_text.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/shell_word.hpp"
#include "core/text/text.hpp"
#include "core/version.hpp"
#include "export/engine/launch_rules.hpp"
#include "export/engine/own_steps.hpp"
#include "export/yaml.hpp"
#include "report/text/clean_text.hpp"

namespace halmark::exports {
namespace {

constexpr int first_port = 8000;
constexpr std::size_t flag_column = 40;

// Devices of one server behind those of the servers before it on the same node.
std::string visible_devices(const Deployment& d, const Launch& launch, int index) {
  const std::int64_t on_node =
      d.domain_devices ? std::max<std::int64_t>(1, *d.domain_devices / launch.devices_per_server)
                       : launch.servers;
  const std::int64_t first = index % on_node * launch.devices_per_server;
  std::string out;
  for (const int i : below(launch.devices_per_server)) {
    append_item(out, ",", std::to_string(first + i));
  }
  return out;
}

std::string figures_text(const Deployment& d) {
  std::string out;
  for (const ObjectiveRow& row : objective_rows()) {
    const auto value = objective_value(d.point, row.objective);
    if (value) append_item(out, ", ", figure_text(row.objective, *value));
  }
  return "forecast (times: " + d.provenance + "): " + out;
}

std::string comment(const std::string& text) { return "# " + report::clean_text(text) + '\n'; }

std::string flag_text(const LaunchFlag& f) {
  return f.value.empty() ? f.flag : f.flag + ' ' + shell_word(f.value);
}

std::string command_text(const Deployment& d, const Launch& launch, int index) {
  std::string out;
  if (launch.servers > 1 && !d.device.empty()) {
    out += "CUDA_VISIBLE_DEVICES=" + visible_devices(d, launch, index) + ' ';
  }
  out += join(launch.command, " ", shell_word);
  for (const LaunchFlag& f : launch.flags) out += " \\\n  " + flag_text(f);
  if (launch.servers > 1) out += " \\\n  --port " + std::to_string(first_port + index);
  return out;
}

std::string script(const Deployment& d, const Launch& launch) {
  std::string out = "#!/bin/sh\n";
  for (const std::string& line : deployment_lines(d, launch)) out += comment(line);
  out += "#\n";
  for (const LaunchFlag& f : launch.flags) {
    std::string text = flag_text(f);
    text.resize(std::max(flag_column, text.size() + 2), ' ');
    out += comment(text + f.why);
  }
  if (launch.servers == 1) return out + "exec " + command_text(d, launch, 0) + '\n';
  for (const int i : below(launch.servers)) {
    out += "# server " + std::to_string(i + 1) + " of " + std::to_string(launch.servers) + '\n' +
           command_text(d, launch, i) + " &\n";
  }
  return out + "wait\n";
}

// vllm and sglang read their flags from a file of --config as well.
std::string flags_file(const Deployment& d, const Launch& launch) {
  std::string out;
  for (const std::string& line : deployment_lines(d, launch)) out += comment(line);
  if (launch.engine == "vllm") out += "model: " + yaml_scalar(d.checkpoint) + '\n';
  for (const LaunchFlag& f : launch.flags) {
    const bool is_off = f.value.empty() && f.flag.starts_with("--no-");
    const std::string value = !f.value.empty() ? yaml_scalar(f.value) : is_off ? "false" : "true";
    out += f.flag.substr(is_off ? 5 : 2) + ": " + value + "  # " + report::clean_text(f.why) + '\n';
  }
  return out;
}

}  // namespace

std::vector<std::string> deployment_lines(const Deployment& d, const Launch& launch) {
  const Configuration& c = d.configuration();
  std::vector<std::string> out = {c.model + " with " + launch.engine + ' ' + launch.version +
                                      " on " + std::to_string(c.devices()) + " x " +
                                      (d.device.empty() ? "this machine" : d.device) +
                                      "; written by halmark " + std::string(tool_version),
                                  d.point_name + ": " + c.key()};
  if (!d.chosen_because.empty()) out.push_back(d.chosen_because);
  out.push_back(figures_text(d));
  const auto own =
      launch.own_lines.empty() ? own_step_lines(d, launch.engine, {}) : launch.own_lines;
  append_all(out, own);
  if (d.rank.total() > 0) {
    out.push_back("peak rank memory: " + gib_text(d.rank.weights) + " of weights, " +
                  gib_text(d.rank.cache) + " of keys and values, " + gib_text(d.rank.activations) +
                  " of activations");
  }
  if (c.served) {
    out.push_back("TPOT is the mean time between later tokens, the first not counted");
  }
  for (const std::string& note : launch.notes) out.push_back("note: " + note);
  out.push_back("flags: " + std::string(launch.is_verified ? "" : "unverified, ") + launch.source);
  if (!d.command.empty()) out.push_back("searched by: " + d.command);
  return out;
}

std::vector<TextFile> launch_files(const Deployment& d, const Launch& launch) {
  std::vector<TextFile> out = {{"launch.sh", script(d, launch)}};
  if (!launch.options_name.empty()) out.push_back({launch.options_name, launch.options});
  if (launch.engine == "vllm" || launch.engine == "sglang") {
    out.push_back({"config.yaml", flags_file(d, launch)});
  }
  return out;
}

std::vector<std::string> server_words(const Launch& launch, int index) {
  std::vector<std::string> out = launch.command;
  for (const LaunchFlag& f : launch.flags) {
    out.push_back(f.flag);
    if (!f.value.empty()) out.push_back(f.value);
  }
  if (launch.servers > 1) {
    out.insert(out.end(), {"--port", std::to_string(first_port + index)});
  }
  return out;
}

Json launch_json(const Deployment& d, const Launch& launch) {
  Json servers = Json::array();
  const Json flags = json_list(launch.flags, [](const LaunchFlag& f) -> Json {
    return {{"flag", f.flag}, {"value", f.value}, {"why", f.why}};
  });
  for (int i = 0; i < launch.servers; ++i) servers.push_back(server_words(launch, i));
  const Json files = json_list(launch_files(d, launch), [](const TextFile& file) -> Json {
    return {{"name", file.name}, {"text", file.text}};
  });
  return {{"engine", launch.engine},
          {"version", launch.version},
          {"flags_source", launch.source},
          {"is_verified", launch.is_verified},
          {"point", d.point_name},
          {"key", d.configuration().key()},
          {"chosen_because", d.chosen_because},
          {"is_forecast_of_engine", d.forecast_engine == launch.engine},
          {"servers", servers},
          {"devices_per_server", launch.devices_per_server},
          {"flags", flags},
          {"notes", launch.notes},
          {"files", files}};
}

}  // namespace halmark::exports
