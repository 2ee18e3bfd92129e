// The values of the page of `halmark serve`: which question is answered by what.
#pragma once

#include <string>

#include "pages/serve/state/known_systems.hpp"
#include "pages/serve/sweep/sweeps.hpp"
#include "serve/page_values.hpp"

namespace halmark::pages {

struct PageSettings {
  PageSources sources;
  SweepPlace sweeps;
};

class SimulatorPage final : public serve::PageValues {
 public:
  explicit SimulatorPage(PageSettings settings);
  ~SimulatorPage() override;

  bool is_slow(const serve::PageQuestion& question) const override;
  Json answer(const serve::PageQuestion& question) override;
  Json act(const serve::PageQuestion& question) override;
  Json progress() override;
  // What the terminal says when the page is served, with what the page lacks.
  std::string opening_line() const;

 private:
  Json documents() const;
  Json step(const PageState& state);
  Json simulation(const PageState& state, bool shows_all);
  Json spread(const PageState& state);
  Json serving(const PageState& state);
  Json front(const PageState& state);
  Json drawing(const PageState& state);
  Json deployment(const PageState& state, const std::string& engine);

  PageSettings settings_;
  Sweeps sweeps_;
  // Of the thread that answers at once, and of the one whose answers take long.
  KnownSystems quick_, slow_;
};

}  // namespace halmark::pages
