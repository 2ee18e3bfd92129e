// One level of a view, by its name.
#pragma once

#include "fabric_texts.hpp"
#include "simulate/fabric/level_view.hpp"

namespace halmark::fabric {

inline const LevelView& level(const std::vector<LevelView>& views, const std::string& name) {
  for (const LevelView& view : views) {
    if (view.name == name) return view;
  }
  throw std::runtime_error("no level " + name);
}

}  // namespace halmark::fabric
