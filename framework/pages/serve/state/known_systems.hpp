// The systems that were asked for last, for one thread.
#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>

#include "pages/serve/state/priced_system.hpp"

namespace halmark::pages {

class KnownSystems {
 public:
  explicit KnownSystems(const PageSources& sources) : sources_(sources) {}

  // Elsewhere a name may be the path of a file. What a page sends is one of the lists: throws Error
  // (exit 2) for another. References stay valid until others are asked for.
  PricedSystem& system(const PageState& state);

 private:
  struct Known {
    std::string device, model, fabric;
    bool is_training = false;
    std::unique_ptr<PricedSystem> system;
  };
  void require_listed(const PageState& state);

  const PageSources& sources_;
  std::set<std::string, std::less<>> models_, devices_, fabrics_;  // read at the first question
  std::list<Known> systems_;  // the one asked for last comes first
};

}  // namespace halmark::pages
