// halmark models and halmark ops: what is known by name; models with the sizes that the graphs
// give.
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "pages/models/models_page.hpp"
#include "pages/ops/op_page.hpp"

namespace halmark::cli {
namespace {

CommandResult execute(const std::string& wanted) {
  std::vector<ModelListing> models = list_models(config_dirs("models"));
  std::vector<std::string> names;
  for (const ModelListing& m : models) names.push_back(m.id);
  const auto has = [&](const std::string& name) { return name.find(wanted) != std::string::npos; };
  // A name that is part of no id may be one of the other names.
  const bool is_id = std::ranges::any_of(names, has);
  std::erase_if(models, [&](const ModelListing& m) {
    return is_id ? !has(m.id) : std::ranges::none_of(m.aliases, has);
  });
  if (models.empty()) {
    throw refused("no known model is called '" + printable(wanted) + "'", {},
                  suggestion(wanted, names));
  }
  return shown(pages::models_page(models, precision_of("bf16", {}), stdout_columns()));
}

}  // namespace

Action add_models(OptionSet& app) {
  const auto wanted = app.add<std::string>("name", "Only ids that contain this");
  return [wanted](const GlobalOptions&) { return execute(*wanted); };
}

Action add_ops(OptionSet& app) {
  const auto name =
      app.add<std::string>("op", "One of them: its parameters, operands and a command");
  return [name](const GlobalOptions&) {
    const int width = stdout_columns();
    return shown(name->empty() ? pages::ops_page(width) : pages::op_page(*name, width));
  };
}

}  // namespace halmark::cli
