// halmark model: one step of a model on paper. Needs no device and loads no plugin.
#include <memory>

#include "cli/console/command.hpp"
#include "history/devices/what_if.hpp"
#include "model/step/reference_json.hpp"
#include "model/step/step_ceilings.hpp"
#include "pages/models/models_page.hpp"
#include "pages/step/kernel_section.hpp"
#include "pages/step/step_page.hpp"
#include "tune/evaluate/step/step_expected.hpp"
#include "tune/requests/served_request.hpp"

namespace halmark::cli {
namespace {

struct ModelOptions : tune::StepRequest {
  pages::MeasuredKernels kernels;
  tune::ServedRequest load;
  std::vector<std::string> what_if;  // ceilings of the device that change
  bool is_explained = false;
  std::string explain;      // an operator or a word; "" = all of them
  std::string json_schema;  // "reference", or "" for ours
  bool shows_all = false;
  bool list = false;
};

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
    return pages::models_list(list_models(config_dirs("models")), stdout_columns());
  }
  if (options.load.has_any()) {
    return tune::best_served_view(tune::best_served(options, options.load, step_folders()),
                                  stdout_columns());
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
    return report::View{data, dump_json(data, 2) + '\n'};
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
  return out;
}

// Returns --explain, which may stand alone.
Option add_model_options(OptionSet& app, ModelOptions& o) {
  add_step_options(app, o);
  app.add_option("--loss", o.training.loss, "Training: copies of the logits, in-place or plain");
  app.add_flag("--sequence-parallel", o.training.sequence_parallel,
               "Training: norms and residuals split over tp");
  app.add_option("--weights", o.weights,
                 "Its checkpoint, of which the headers are read: DIR, an index or a file");
  app.add_flag("--list", o.list, "List the shipped models");
  app.add_option("--peak", o.question.peak, "Denominator: datasheet or measured")
      ->check(one_of({"datasheet", "measured"}));
  app.add_option("--measured-ms", o.question.measured_ms, "Measured step time, for MFU");
  app.add_flag("--max-context", o.question.wants_longest_context,
               "Decode at the longest context that fits, and what limits it");
  app.add_option("--what-if", o.what_if,
                 "The step on a device with other ceilings: bandwidth=+20%, peak=x2, link=-50%");
  app.add_option("--tokens-per-s", o.question.tokens_per_s,
                 "Measured rate over all sequences, in place of --measured-ms");
  add_latency_option(app, o.latency);
  app.add_option("--convention", o.question.convention,
                 "How the stated MFU counts: palm, megatron, llm-foundry, nemo-24, "
                 "megatron-bridge, deepseek-v3, torchtitan, chinchilla, executed, ...");
  app.add_option("--set", o.question.switches, "One switch of the convention: attention=full")
      ->allow_extra_args(false);
  const Option explain =
      app.add_option(
             "--explain", o.explain,
             "The formula of one operator with its numbers, or a word of the glossary; alone: "
             "all of them")
          .expected(0, 1);
  app.add_flag("--all", o.shows_all, "Every operator with its shapes, splits, FLOPs and bytes");
  app.add_option("--json-schema", o.json_schema,
                 "reference: the keys of the MFU simulator that users move from")
      ->check(one_of({"reference"}));
  app.add_option("--acceptance", o.question.acceptance,
                 "With --mtp: probability that a drafted token is accepted, 0 to 1");
  app.add_option("--per-layer-ms", o.kernels.per_layer_ms,
                 "Measured time of a layer: MS, or TYPE=MS,TYPE=MS per type of layer");
  app.add_option("--kernel-ms", o.kernels.kernel_ms,
                 "Measured kernels of one layer: FILE or JSON, category to milliseconds");
  app.add_option("--kernel-flow", o.kernels.kernel_flow,
                 "Measured kernels in order: FILE, @FILE or JSON")
      ->excludes("--kernel-ms");
  Option served = app.add_option("--concurrency", o.load.concurrency,
                                 "Requests at a time: what they experience under the layout with "
                                 "the most tokens/s, with --input and --output");
  app.add_option("--input", o.load.input_tokens, "Prompt tokens of a request")
      .check(within(1, 1 << 30));
  app.add_option("--output", o.load.output_tokens, "Generated tokens of a request")
      .check(within(1, 1 << 30));
  for (const char* other : {"--what-if", "--all", "--explain", "--json-schema", "--per-layer-ms",
                            "--kernel-ms", "--kernel-flow", "--weights"}) {
    served.excludes(other);
  }
  return explain;
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
