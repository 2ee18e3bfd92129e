#include "pages/step/step_page.hpp"

#include <array>

#include "model/step/step_json.hpp"
#include "report/text/quantity.hpp"

namespace halmark::pages {
namespace {

struct Section {
  Json (*data)(const PricedStep& step);
  std::string (*text)(const StepPage& page);
};

std::string no_text(const StepPage&) { return {}; }

// In the order of the JSON document and of the text; measured kernels stand between these.
constexpr std::array before_kernels = {
    Section{summary_json, no_text}, Section{answer_json, answer_text},
    Section{operators_json, operators_text}, Section{layers_json, no_text},
    Section{totals_json, totals_text}};
constexpr std::array after_kernels = {Section{training_json, training_text},
                                      Section{fit_json, fit_text},
                                      Section{mfu_json, mfu_text},
                                      Section{weights_json, weights_text},
                                      Section{warnings_json, notes_text},
                                      Section{experts_json, experts_text},
                                      Section{delta_rule_json, recurrence_text},
                                      Section{speculation_json, speculation_text}};

void add(report::View& to, const report::View& part) {
  to.data.update(part.data);
  to.text += part.text;
}

}  // namespace

std::string size_text(std::int64_t bytes) { return report::bytes_text(bytes); }
std::string milliseconds(double ns) { return report::significant_text(ns / 1e6) + " ms"; }

report::View step_view(const PricedStep& step, const StepForm& form) {
  const StepPage page{.step = step, .answer = answer_of(step), .form = form};
  report::View out;
  for (const Section& s : before_kernels) add(out, {s.data(step), s.text(page)});
  add(out, kernels_view(step, form.kernels, form.width));
  for (const Section& s : after_kernels) {
    add(out, {s.data(step), report::wrapped_lines(s.text(page), form.width)});
  }
  const std::vector<std::string> lines = answer_lines(page);
  out.data["answer"]["text"] = lines.front();
  out.data["answer"]["lines"] = lines;
  return out;
}

}  // namespace halmark::pages
