// The parameters from which problems are put together: a domain, and what its value sets in a
// configuration.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/problem/problem.hpp"
#include "tune/problem/split_rules.hpp"

namespace halmark::tune {

// A space while it is put together.
struct Parameters {
  SpaceDescription description;
  std::vector<TuneProblem::Set> setters;

  // `when`: expression over earlier parameters under which it has a value; "" = always.
  void add_integers(std::string name, std::span<const std::int64_t> values,
                    std::function<void(Configuration&, std::int64_t)> set, std::string when = {});
  void add_choices(std::string name, std::span<const std::string> values,
                   std::function<void(Configuration&, const std::string&)> set,
                   std::string when = {});
  void require(std::string name, std::string expression, std::string where = {});
  void require(std::vector<StatedConstraint> constraints);
};

// Degrees worth trying for layouts of any of these numbers of devices: their divisors, where the
// sweep wants the strategy at all.
DegreeLists degree_lists(const Sweep& sweep, const ModelSpec& spec,
                         std::span<const std::int64_t> devices);
bool wants(const Sweep& sweep, std::string_view strategy);

// Ascending, each once.
std::vector<std::int64_t> unique_sorted(std::vector<std::int64_t> values);

// "precision", one of the recipes, and one parameter for each kind that [precision] names. Returns
// a precision in which `like` is possible, for checks that are not about precision. Throws Error
// (exit 2) when there is none.
Precision add_precisions(std::span<const std::string> recipes, const Sweep& sweep,
                         const ModelSpec& spec, const Configuration& like,
                         const PrecisionFacts& facts, Parameters& out);

// dp, tp, pp, ep and cp of one layout, of exactly one of `devices` devices.
void add_layout(const ModelSpec& spec, const Configuration& like, const DegreeLists& degrees,
                std::span<const std::int64_t> devices, const std::string& when, Parameters& out);

}  // namespace halmark::tune
