// halmark model: one step of a model on paper. Needs no device and loads no plugin.
#include <memory>

#include "cli/console/terminal.hpp"
#include "cli/model/model_options.hpp"
#include "history/devices/what_if.hpp"
#include "model/step/reference_json.hpp"
#include "model/step/step_ceilings.hpp"
#include "pages/models/models_page.hpp"
#include "pages/step/step_page.hpp"
#include "tune/evaluate/step/step_expected.hpp"

namespace halmark::cli {
namespace {

Ceilings ceilings_of(const std::vector<std::string>& texts) {
  constexpr double Ceilings::*by_resource[] = {&Ceilings::peak, &Ceilings::bandwidth,
                                               &Ceilings::link};
  Ceilings out;
  for (const std::string& text : texts) {
    const history::WhatIf change = history::parse_what_if(text, 1);
    out.*by_resource[static_cast<std::size_t>(change.resource)] *= change.factor;
  }
  return out;
}

CommandResult execute(ModelOptions options) {
  if (options.list) {
    return shown(pages::models_list(list_models(config_dirs("models")), stdout_columns()));
  }
  if (options.load.has_any()) {
    return shown(tune::best_served_view(tune::best_served(options, options.load, step_folders()),
                                        stdout_columns()));
  }
  options.takes_fastest_layout = true;
  PricedStep step = tune::priced_step(options, step_folders());
  tune::expect_times(step, {options.latency, options.fabric}, config_dirs("devices"),
                     config_dirs("fabrics"));
  if (!options.what_if.empty()) {
    step = with_ceilings(step, ceilings_of(options.what_if), options.what_if);
  }
  if (options.json_schema == "reference") {
    const Json data = reference_json(step);
    return {.data = data, .text = dump_json(data, 2) + '\n'};
  }
  const int width = stdout_columns();
  report::View out = pages::step_view(
      step, {.width = width, .shows_all = options.shows_all, .kernels = options.kernels});
  // A user who asks for one operator or word reads about that one.
  if (options.is_explained) {
    out.text = options.explain.empty() ? pages::explainable(step, width).text
                                       : pages::explained(step, options.explain, width).text;
    out.data["explain"] = out.text;
  }
  return shown(std::move(out));
}

}  // namespace

Action add_model(OptionSet& app) {
  auto options = std::make_shared<ModelOptions>();
  const Option explain = add_model_options(app, *options);
  return [=](const GlobalOptions&) {
    options->is_explained = explain.is_given();
    return execute(*options);
  };
}

}  // namespace halmark::cli
