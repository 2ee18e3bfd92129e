// halmark model: one step of a model on paper. Needs no device and loads no plugin.
#include <array>
#include <memory>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"

namespace halmark::cli {
namespace {

// In the order of the JSON document and of the text.
constexpr std::array sections = {summary_section,    operators_section,   totals_section,
                                 kernels_section,    training_section,    fit_section,
                                 mfu_section,        notes_section,       experts_section,
                                 recurrence_section, speculation_section, explain_section};

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

CommandResult execute(const ModelOptions& options) {
  if (options.list) return list_known();
  const ModelPage page = price_model(options);
  CommandResult out;
  for (const auto& section : sections) {
    ModelSection part = section(page);
    out.data.update(part.data);
    // Somebody who asks for one operator reads about that one.
    if (options.explain.empty() || section == explain_section) out.text += part.text;
  }
  return out;
}

}  // namespace

Action add_model(OptionSet& app) {
  auto options = std::make_shared<ModelOptions>();
  add_model_options(app, *options);
  return [options](const GlobalOptions&) { return execute(*options); };
}

}  // namespace halmark::cli
