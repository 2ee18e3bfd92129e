#include "pages/serve/document/figure.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/text/text.hpp"
#include "report/times_from.hpp"

namespace halmark::pages {

Json figure_json(const Figure& f) {
  return {{"key", f.key},
          {"title", f.title},
          {"unit", f.unit},
          {"term", f.term},
          {"value", optional_number(f.value)},
          {"low", optional_number(f.low)},
          {"high", optional_number(f.high)},
          {"from", f.from.word},
          {"means", f.from.means},
          {"is_bound", f.from.is_bound},
          {"reason", f.reason},
          {"note", f.note}};
}

namespace {

std::string meaning_of(Provenance provenance) {
  switch (provenance) {
    case Provenance::roofline:
      return "The best to expect of the device: each operator at the peak or bandwidth that it "
             "needs. Nothing was measured; a real step takes longer.";
    case Provenance::fabric:
      return "Collectives over the links of the fabric; the rest from measurements of others.";
    case Provenance::imported:
      return "Kernels that others measured, at these very sizes.";
    case Provenance::interpolated:
      return "Between kernels that others measured.";
    case Provenance::measured:
      break;
  }
  return "Kernels that were measured on this device.";
}

}  // namespace

Origin times_from(const Estimate& estimate, const std::vector<TableUse>& tables) {
  const auto shares = halmark::times_from(estimate).provenance;
  Origin out{.word = report::shares_text(shares, tables)};
  out.is_bound = std::ranges::all_of(shares, [](const auto& share) {
    return share.first == Provenance::roofline || share.first == Provenance::fabric;
  });
  for (const auto& [provenance, share] : shares) {
    if (share > 0) append_item(out.means, " ", meaning_of(provenance));
  }
  if (!out.is_bound && shares.contains(Provenance::roofline)) {
    out.means =
        "Shares of the step's time: kernels by what others measured of an engine, and "
        "bounds where no one did.";
  }
  return out;
}

Origin simulated_from(Origin times) {
  times.word = "simulated, " + times.word;
  times.means = "Event by event, as halmark simulate does. " + times.means;
  return times;
}

}  // namespace halmark::pages
