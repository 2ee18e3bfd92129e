// The shipped configs, as the page of an installation knows them.
#pragma once

#include "pages/serve/simulator_page.hpp"
#include "pages/serve/state/priced_system.hpp"
#include "tests/checkout.hpp"

namespace halmark::pages {

inline PageSources shipped_sources() {
  const std::filesystem::path configs = test::in_source("/configs");
  return {.models = {configs / "models"},
          .devices = {configs / "devices"},
          .fabrics = {configs / "fabrics"},
          .engines = {configs / "engines"}};
}

inline PageSettings shipped_settings() {
  return {.sources = shipped_sources(), .sweeps = {.database = "/nowhere/r.db"}};
}

}  // namespace halmark::pages
