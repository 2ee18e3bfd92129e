// Points in an order that whoever begins the search knows, for example by what they can score at
// best; behind the list the even order. No name: it is a part of other samplers.
#pragma once

#include <memory>

#include "search/sampler.hpp"

namespace halmark {

// Of SamplerOptions::first.
std::unique_ptr<Sampler> make_listed(const Space& space, const SamplerOptions& options);

}  // namespace halmark
