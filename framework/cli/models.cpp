// halmark models, ops, forecasts and explain: what is known by name; models with the sizes that the
// graphs give.
#include "cli/console/command.hpp"
#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "pages/models/models_page.hpp"
#include "pages/ops/op_page.hpp"
#include "report/views/glossary_view.hpp"
#include "tune/plan/plain_question.hpp"
#include "tune/sizing/forecasts_view.hpp"

namespace halmark::cli {
namespace {

CommandResult known_models(const std::string& wanted) {
  std::vector<ModelListing> models = list_models(config_dirs("models"));
  auto names = mapped(models, &ModelListing::id);
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
  return pages::models_page(models, precision_of("bf16", {}), stdout_columns());
}

CommandResult explained(const std::string& wanted) {
  try {
    return report::explained_view(wanted, stdout_columns(), config_dirs("nightly"));
  } catch (const Error&) {
    const std::string line =
        tune::command_for(wanted, config_dirs("models"), config_dirs("devices"));
    if (line.empty()) throw;
    throw refused("'" + printable(wanted) + "' is no word of the output", {}, "try: " + line);
  }
}

}  // namespace

Action add_models(OptionSet& app) {
  const auto wanted = app.add<std::string>("name", "Only ids that contain this");
  return [wanted](const GlobalOptions&) { return known_models(*wanted); };
}

Action add_ops(OptionSet& app) {
  const auto name =
      app.add<std::string>("op", "One of them: its parameters, operands and a command");
  return [name](const GlobalOptions&) {
    const int width = stdout_columns();
    return name->empty() ? pages::ops_page(width) : pages::op_page(*name, width);
  };
}

Action add_forecasts(OptionSet& app) {
  const auto device = app.add<std::string>("device", "Of this known device, kind by kind");
  return [device](const GlobalOptions&) {
    return tune::forecasts_view(*device, config_dirs("forecasts"), config_dirs("devices"),
                                stdout_columns());
  };
}

Action add_explain(OptionSet& app) {
  const auto words = app.add<std::vector<std::string>>(
      "word", "A word, a heading or a topic: mfu, of roof, gate; alone: all");
  return [words](const GlobalOptions&) -> CommandResult {
    if (words->empty()) return report::glossary_view(stdout_columns());
    return explained(join(*words, " "));  // "halmark explain of roof" needs no quotes
  };
}

}  // namespace halmark::cli
