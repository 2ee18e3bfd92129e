#include <algorithm>
#include <numeric>

#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "onboard/known_form.hpp"
#include "onboard/onboard.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::onboard {
namespace {

constexpr double held_share = 0.2, steps_share = 0.4;

bool is_path(const std::string& out) { return out.find('/') != std::string::npos; }

std::string name_of(const Request& request) {
  const std::filesystem::path folder = request.out;
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

bool is_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

// How many of `seconds` fit into `limit`, and at least that number.
template <class Items>
std::size_t that_fit(const Items& items, double limit, std::size_t least, double& sum) {
  std::size_t out = 0;
  for (const auto& item : items) {
    if (out >= least && sum + item.seconds > limit) break;
    sum += item.seconds;
    ++out;
  }
  return out;
}

std::string canonical(const Plan& plan, const Setting& setting) {
  return Json{{"onboard", plan.device.id},     {"backend", plan.request.backend},
              {"device", plan.request.device}, {"dtypes", plan.request.dtypes},
              {"seed", plan.request.seed},     {"fingerprint", setting.target.fingerprint}}
      .dump();
}

}  // namespace

void check_request(const Request& request) {
  if (!is_name(name_of(request))) {
    throw refused("'" + printable(request.out) + "' is no name of a device", "--out",
                  "lower-case letters, digits, '-', '.' and '_', or a path that ends so");
  }
  for (const auto& folder : config_dirs("devices")) {
    std::error_code absent;
    if (!std::filesystem::exists(folder / (name_of(request) + ".toml"), absent)) continue;
    throw refused("a device file is called " + name_of(request) + " already", folder.string(),
                  "give another name by --out");
  }
}

Setting setting_of(const tune::LocalMachine& machine, const protocol::PluginDescription& plugin,
                   const Request& request) {
  Setting out{.target = tune::target_of(machine, request.backend, request.device, {}),
              .ops = {},
              .plugin_release = plugin.plugin_version,
              .has_bf16 = machine.has_bf16,
              .models = config_dirs("models"),
              .devices = config_dirs("devices")};
  for (const auto& kernel : plugin.kernels) out.ops.insert(kernel.op);
  return out;
}

std::filesystem::path folder_of(const Request& request) {
  if (!is_path(request.out)) return user_config_dir("devices") / request.out;
  return std::filesystem::absolute(request.out).lexically_normal();
}

Plan plan(const Request& request, const Setting& setting, const std::string& utc) {
  Plan out{.request = request,
           .folder = folder_of(request),
           .device = known_form(setting.target, name_of(request), utc),
           .candidates = {},
           .text = {}};
  if (out.request.dtypes.empty()) out.request.dtypes = {setting.has_bf16 ? "bf16" : "f32"};
  out.candidates = candidates_of({.target = setting.target,
                                  .ops = setting.ops,
                                  .dtypes = out.request.dtypes,
                                  .has_bf16 = setting.has_bf16,
                                  .models = setting.models,
                                  .seed = request.seed});
  out.total_s = request.minutes * 60;
  out.steps = that_fit(out.candidates.steps, steps_share * out.total_s, 0, out.steps_s);
  // The seed's order runs through all families, so any beginning of it is a fair draw.
  out.held_out =
      that_fit(out.candidates.held_out, held_share * (out.total_s - out.steps_s), 8, out.held_s);
  out.text = canonical(out, setting);
  return out;
}

}  // namespace halmark::onboard
