// The shipped configs, as the page of an installation knows them.
#pragma once

#include "pages/serve/state/priced_system.hpp"

namespace halmark::pages {

inline PageSources shipped_sources() {
  const std::filesystem::path configs = HALMARK_SOURCE_DIR "/configs";
  return {.models = {configs / "models"},
          .devices = {configs / "devices"},
          .fabrics = {configs / "fabrics"},
          .engines = {configs / "engines"}};
}

}  // namespace halmark::pages
