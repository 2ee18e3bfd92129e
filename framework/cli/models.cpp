// halmark models: what `halmark model` knows by name, with the sizes that the graphs give.
#include <fmt/format.h>

#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "model/graph/graph.hpp"

namespace halmark::cli {
namespace {

struct Row {
  ModelListing listing;
  ModelSpec spec;
  GraphTotals totals;
};

// One decode step: parameter counts do not depend on the workload.
Row row_of(ModelListing listing) {
  Row row{.spec = load_model(listing.file.string(), {}), .totals = {}};
  row.listing = std::move(listing);
  auto built = build_graph(row.spec, {row.spec.id, {}, precision_of("bf16", {}), {}});
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text, row.listing.file.string());
  }
  row.totals = built->totals;
  return row;
}

std::string billions(std::int64_t parameters) {
  return fmt::format("{:.3f}", static_cast<double>(parameters) / 1e9);
}

Json published(std::optional<std::int64_t> value) { return value ? Json(*value) : Json(nullptr); }

CommandResult execute(const std::string& wanted) {
  TextTable table({"id", "family", "total B", "active B", "aliases", "source"},
                  {false, false, true, true, false, false});
  Json data = Json::array();
  for (ModelListing& listing : list_models(config_dirs("models"))) {
    if (!wanted.empty() && listing.id.find(wanted) == std::string::npos) continue;
    const Row row = row_of(std::move(listing));
    std::string aliases;
    for (const std::string& alias : row.listing.aliases) {
      aliases += (aliases.empty() ? "" : ", ") + alias;
    }
    table.add({row.listing.id, row.spec.family, billions(row.totals.parameters),
               billions(row.totals.active_parameters), aliases, row.listing.source});
    data.push_back({{"id", row.listing.id},
                    {"aliases", row.listing.aliases},
                    {"family", row.spec.family},
                    {"architecture", row.listing.architecture},
                    {"total_params", row.totals.parameters},
                    {"active_params", row.totals.active_parameters},
                    {"published_total_params", published(row.spec.published_total_params)},
                    {"published_active_params", published(row.spec.published_active_params)},
                    {"source", row.listing.source}});
  }
  if (data.empty()) {
    std::vector<std::string> ids;
    for (const ModelListing& m : list_models(config_dirs("models"))) ids.push_back(m.id);
    throw refused("no known model's id contains '" + printable(wanted) + "'", {},
                  suggestion(wanted, ids));
  }
  return {.data = {{"models", data}}, .text = table.text(stdout_columns())};
}

}  // namespace

Action add_models(OptionSet& app) {
  auto wanted = std::make_shared<std::string>();
  app.add_option("name", *wanted, "Only ids that contain this");
  return [wanted](const GlobalOptions&) { return execute(*wanted); };
}

}  // namespace halmark::cli
