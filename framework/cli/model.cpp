// halmark model: one step of a model on paper. Needs no device and loads no plugin.
#include <array>
#include <memory>

#include "cli/model_page.hpp"
#include "cli/terminal.hpp"

namespace halmark::cli {
namespace {

// In the order of the JSON document and of the text.
constexpr std::array sections = {summary_section, operators_section, totals_section,
                                 mfu_section,     kernels_section,   notes_section,
                                 experts_section};

CommandResult list_known() {
  TextTable table({"id", "architecture", "aliases", "source"});
  Json data = Json::array();
  for (const ModelListing& m : list_models(config_dirs("models"))) {
    std::string aliases;
    for (const std::string& alias : m.aliases) aliases += (aliases.empty() ? "" : ", ") + alias;
    table.add({m.id, m.architecture, aliases, m.source});
    data.push_back({{"id", m.id},
                    {"aliases", m.aliases},
                    {"architecture", m.architecture},
                    {"source", m.source}});
  }
  return {.data = {{"models", data}}, .text = table.text()};
}

ModelPage price(const ModelOptions& options) {
  const ModelSpec spec = load_model(options.model, config_dirs("models"));
  auto built = build_graph(spec, deployment_from(options.deployment, spec.id));
  if (const auto* refusal = std::get_if<Refusal>(&built)) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  ModelPage page{.options = options, .graph = std::get<OperatorGraph>(std::move(built))};
  page.memory = memory_use(page.graph);
  if (!options.device.empty()) page.device = known_device(options.device);
  return page;
}

CommandResult execute(const ModelOptions& options) {
  if (options.list) return list_known();
  if (options.model.empty()) {
    throw refused("no model is named", {}, "name an id or a config.json; --list shows the ids");
  }
  const ModelPage page = price(options);
  CommandResult out;
  for (const auto& section : sections) {
    ModelSection part = section(page);
    out.data.update(part.data);
    out.text += part.text;
  }
  return out;
}

}  // namespace

Action add_model(OptionSet& app) {
  auto options = std::make_shared<ModelOptions>();
  app.add_option("model", options->model, "Shipped id, alias, or path of a config.json");
  app.add_flag("--list", options->list, "List the shipped models");
  add_deployment_options(app, options->deployment);
  app.add_option("--device", options->device, "Known device (halmark devices --known)");
  app.add_option("--peak", options->peak, "Denominator: datasheet or measured")
      ->check(one_of({"datasheet", "measured"}));
  app.add_option("--measured-ms", options->measured_ms, "Measured step time, for MFU");
  add_kernel_options(app, options->kernels);
  return [options](const GlobalOptions&) { return execute(*options); };
}

}  // namespace halmark::cli
