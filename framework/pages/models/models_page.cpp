#include "pages/models/models_page.hpp"

#include <fmt/format.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/graph/graph.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {
namespace {

std::string billions(std::int64_t parameters) {
  return fmt::format("{:.3f}", static_cast<double>(parameters) / 1e9);
}

Json published(std::optional<std::int64_t> value) { return value ? Json(*value) : Json(nullptr); }

// One decode step: parameter counts do not depend on the workload.
GraphTotals totals_of(const ModelSpec& spec, const Precision& precision, const std::string& where) {
  Configuration step;
  step.model = spec.id;
  step.precision = precision;
  auto built = build_graph(spec, step);
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text, where);
  }
  return built->totals;
}

}  // namespace

std::int64_t parameters_of(const ModelSpec& spec) {
  return totals_of(spec, {}, spec.id).parameters;
}

report::View models_page(std::span<const ModelListing> models, const Precision& precision,
                         int columns) {
  report::TextTable table({"id", "family", ">total B", ">active B", "aliases", "source"});
  Json data = Json::array();
  for (const ModelListing& listing : models) {
    const ModelSpec spec = load_model(listing.file.string(), {});
    const GraphTotals totals = totals_of(spec, precision, listing.file.string());
    table.add({listing.id, spec.family, billions(totals.parameters),
               billions(totals.active_parameters), join(listing.aliases, ", "), listing.source});
    data.push_back({{"id", listing.id},
                    {"aliases", listing.aliases},
                    {"family", spec.family},
                    {"architecture", listing.architecture},
                    {"total_params", totals.parameters},
                    {"active_params", totals.active_parameters},
                    {"published_total_params", published(spec.published_total_params)},
                    {"published_active_params", published(spec.published_active_params)},
                    {"source", listing.source}});
  }
  report::View out{.data = {}, .text = table.text(columns)};
  out.data["models"] = std::move(data);
  return out;
}

report::View models_list(std::span<const ModelListing> models, int columns) {
  report::TextTable table({"id", "architecture", "aliases", "source"});
  Json data = Json::array();
  for (const ModelListing& m : models) {
    table.add({m.id, m.architecture, join(m.aliases, ", "), m.source});
    data.push_back({{"id", m.id},
                    {"aliases", m.aliases},
                    {"architecture", m.architecture},
                    {"source", m.source}});
  }
  return {.data = {{"models", std::move(data)}}, .text = table.text(columns)};
}

}  // namespace halmark::pages
