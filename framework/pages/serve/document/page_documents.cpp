#include "pages/serve/document/page_documents.hpp"

#include "core/json/json.hpp"
#include "core/version.hpp"
#include "export/engine/launch.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/device/device_file.hpp"
#include "plan/precision.hpp"
#include "report/glossary.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/serving/fitted_terms.hpp"

namespace halmark::pages {
namespace {

Json device_json(const Device& device) {
  std::optional<double> bandwidth, peak;
  if (const auto memory = device.bandwidth("memory", 0)) bandwidth = memory->bytes_per_s;
  if (const auto general = device.peak(Dtype::bf16, 0)) peak = general->flops_per_s;
  return {{"id", device.id},
          {"aliases", device.aliases},
          {"name", device.name},
          {"kind", device.kind},
          {"vendor", device.vendor},
          {"is_measured", device.is_measured},
          {"memory_bytes", device.memory_bytes},
          {"bytes_per_s", optional_number(bandwidth)},
          {"bf16_flops_per_s", optional_number(peak)},
          {"power_w", optional_number(device.power_w)},
          {"link", device.links.empty() ? "" : device.links.front().name}};
}

Json devices_json(const PageSources& sources) {
  Json out = Json::array();
  if (sources.here) out.push_back(device_json(*sources.here));
  for (const Device& device : known_devices(sources.devices)) out.push_back(device_json(device));
  return out;
}

Json models_json(const PageSources& sources) {
  return json_list(list_models(sources.models), [](const ModelListing& model) -> Json {
    return {{"id", model.id}, {"aliases", model.aliases}, {"architecture", model.architecture}};
  });
}

Json fabrics_json(const PageSources& sources) {
  return json_list(fabric::known_fabrics(sources.fabrics),
                   [](const fabric::Topology& topology) -> Json {
                     return {{"id", topology.id},
                             {"name", topology.name},
                             {"profile", topology.profile},
                             {"device", topology.device},
                             {"devices", topology.devices().size()}};
                   });
}

Json glossary_json() {
  return json_list(report::glossary(), [](const report::Term& term) -> Json {
    return {{"word", term.word}, {"meaning", term.meaning}, {"formula", term.formula}};
  });
}

}  // namespace

Json page_documents(const PageSources& sources, bool is_writable) {
  Json recipes = Json::array({std::string(checkpoint_recipe)});
  for (const std::string& recipe : precision_recipes()) recipes.push_back(recipe);
  return {{"version", std::string(tool_version) + " (" + tool_build + ")"},
          {"licence", "Apache-2.0"},
          {"devices", devices_json(sources)},
          {"models", models_json(sources)},
          {"fabrics", fabrics_json(sources)},
          {"recipes", std::move(recipes)},
          {"glossary", glossary_json()},
          {"engines", exports::engine_names()},
          {"fitted_engines", serving::fitted_engines()},
          {"is_writable", is_writable}};
}

}  // namespace halmark::pages
