// halmark models: what `halmark model` knows by name, with the sizes that the graphs give.
#include <memory>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "pages/models/models_page.hpp"

namespace halmark::cli {
namespace {

CommandResult execute(const std::string& wanted) {
  std::vector<ModelListing> models = list_models(config_dirs("models"));
  std::vector<std::string> ids;
  for (const ModelListing& m : models) ids.push_back(m.id);
  std::erase_if(models, [&](const ModelListing& m) {
    return !wanted.empty() && m.id.find(wanted) == std::string::npos;
  });
  if (models.empty()) {
    throw refused("no known model's id contains '" + printable(wanted) + "'", {},
                  suggestion(wanted, ids));
  }
  return shown(pages::models_page(models, precision_of("bf16", {}), stdout_columns()));
}

}  // namespace

Action add_models(OptionSet& app) {
  const auto wanted = app.add<std::string>("name", "Only ids that contain this");
  return [wanted](const GlobalOptions&) { return execute(*wanted); };
}

}  // namespace halmark::cli
