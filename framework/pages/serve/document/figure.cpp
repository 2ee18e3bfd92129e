#include "pages/serve/document/figure.hpp"

#include "core/json/json.hpp"

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
          {"reason", f.reason}};
}

Origin times_from(Provenance provenance) {
  std::string word(provenance_name(provenance));
  switch (provenance) {
    case Provenance::roofline:
      return {std::move(word),
              "The best to expect of the device: each operator at the peak or bandwidth that it "
              "needs. Nothing was measured; a real step takes longer."};
    case Provenance::fabric:
      return {std::move(word),
              "Collectives over the links of the fabric; the rest from measurements of others."};
    case Provenance::imported:
      return {std::move(word), "Kernels that others measured, at these very sizes."};
    case Provenance::interpolated:
      return {std::move(word), "Between kernels that others measured."};
    case Provenance::measured:
      break;
  }
  return {std::move(word), "Kernels that were measured on this device."};
}

Origin simulated_from(Provenance provenance) {
  Origin out = times_from(provenance);
  out.word = "simulated, " + out.word;
  out.means = "Event by event, as halmark simulate does. " + out.means;
  return out;
}

}  // namespace halmark::pages
