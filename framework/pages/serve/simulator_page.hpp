// The values of the page of `halmark serve`: which question is answered by what.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>

#include "pages/serve/composed_step.hpp"
#include "pages/serve/priced_system.hpp"
#include "pages/serve/sweeps.hpp"
#include "serve/page_values.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::pages {

struct PageSettings {
  PageSources sources;
  SweepPlace sweeps;
};

class SimulatorPage final : public serve::PageValues {
 public:
  explicit SimulatorPage(PageSettings settings);
  ~SimulatorPage() override;

  Json answer(const serve::PageQuestion& question) override;
  Json act(const serve::PageQuestion& question) override;
  Json progress() override;

 private:
  // A system that was asked for, with the last step of it.
  struct Known {
    std::string device, model, fabric;
    std::unique_ptr<PricedSystem> system;
    std::unique_ptr<fabric::Router> router;
  };

  Known& known(const PageState& state);
  void require_listed(const PageState& state);
  Json documents() const;
  Json step(const PageState& state);
  Json timeline(const PageState& state);
  Json front(const PageState& state);
  Json drawing(const PageState& state);
  Json deployment(const PageState& state, const std::string& engine);

  PageSettings settings_;
  Sweeps sweeps_;
  std::set<std::string, std::less<>> models_, devices_,
      fabrics_;               // ids; read at the first question
  std::list<Known> systems_;  // the one asked for last comes first
};

}  // namespace halmark::pages
