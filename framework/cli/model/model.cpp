// halmark model: one step of a model on paper. Needs no device and loads no plugin.
#include <array>
#include <memory>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"
#include "model/step/step_json.hpp"

namespace halmark::cli {
namespace {

struct Section {
  Json (*data)(const PricedStep& step);
  std::string (*text)(const ModelPage& page);
};

// In the order of the JSON document and of the text; kernels stand between these.
constexpr std::array before_kernels = {Section{summary_json, summary_text},
                                       Section{operators_json, operators_text},
                                       Section{totals_json, totals_text}};
constexpr std::array after_kernels = {Section{training_json, training_text},
                                      Section{fit_json, fit_text},
                                      Section{mfu_json, mfu_text},
                                      Section{warnings_json, notes_text},
                                      Section{experts_json, experts_text},
                                      Section{delta_rule_json, recurrence_text},
                                      Section{speculation_json, speculation_text}};

void add(report::View& to, const report::View& part) {
  to.data.update(part.data);
  to.text += part.text;
}

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
  const ModelPage page = priced_page(options);
  report::View out;
  for (const Section& s : before_kernels) add(out, {s.data(page.step), s.text(page)});
  add(out, kernels_view(page));
  for (const Section& s : after_kernels) add(out, {s.data(page.step), s.text(page)});
  // Somebody who asks for one operator reads about that one.
  if (!options.explain.empty()) {
    out.text = explain_text(page);
    out.data["explain"] = out.text;
  }
  return shown(std::move(out));
}

}  // namespace

Action add_model(OptionSet& app) {
  auto options = std::make_shared<ModelOptions>();
  add_model_options(app, *options);
  return [options](const GlobalOptions&) { return execute(*options); };
}

}  // namespace halmark::cli
