// Spaces drawn at random: conditional ordered parameters, categories, continua, constraints, single
// values, short and very long ranges, together.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "core/numeric/random.hpp"
#include "search/proposer.hpp"

namespace halmark::test {

inline SearchDomain random_domain(const std::string& name, Stream& random) {
  SearchDomain out{.name = name};
  const auto small = [&] { return static_cast<double>(random.below(4)); };
  switch (random.below(8)) {
    case 0:  // one value
      out.values = {ParamValue(std::int64_t{3})};
      break;
    case 1:
      for (std::size_t i = 0; i < 2 + random.below(4); ++i) {
        out.values.push_back("v" + std::to_string(i));
      }
      break;
    case 2:
      out.kind = DomainKind::ordinal;
      for (std::int64_t v = 1; v <= (std::int64_t{2} << random.below(6)); v *= 2) {
        out.values.emplace_back(v);
      }
      break;
    case 3:
      out.kind = DomainKind::integer;
      out.low = -small();
      out.high = out.low + 1 + static_cast<double>(random.below(12));
      break;
    case 4:  // a range that is not numbered
      out.kind = DomainKind::integer;
      out.low = 1;
      out.high = 1e6 + 1e9 * random.uniform() * small();
      out.high = std::floor(out.high);
      out.is_log = random.below(2) == 0;
      break;
    case 5:
      out.kind = DomainKind::real;
      out.low = std::pow(10, -3 - 100 * small());
      out.high = std::pow(10, 3 + 90 * small());
      out.is_log = random.below(2) == 0;
      break;
    case 6:
      out.kind = DomainKind::real;
      out.low = -small();
      out.high = out.low + 0.5 * static_cast<double>(random.below(3));
      if (out.high > out.low && random.below(2) == 0) out.step = 0.25;
      break;
    default:
      out.kind = DomainKind::ordinal;
      for (int i = 0; i < 5; ++i) out.values.emplace_back(0.5 * i * i);
  }
  return out;
}

// A condition or a constraint over two earlier numbers; half of what is drawn holds.
inline std::string random_rule(const std::vector<SearchDomain>& domains, Stream& random) {
  std::vector<std::string> numbers;
  for (const SearchDomain& d : domains) {
    if (d.kind == DomainKind::integer || d.kind == DomainKind::ordinal) numbers.push_back(d.name);
  }
  if (numbers.empty()) return {};
  // The first few, so that what depends on them can be counted.
  numbers.resize(std::min<std::size_t>(numbers.size(), 3));
  const std::string a = numbers[random.below(numbers.size())];
  const std::string b = numbers[random.below(numbers.size())];
  switch (random.below(4)) {
    case 0:
      return a + " >= 2";
    case 1:
      return a + " <= " + std::to_string(1 + random.below(20));
    case 2:
      return a + " + " + b + " > 3";
    default:
      return a + " <= 2 * " + b + " + 1";
  }
}

inline SpaceDescription random_space(std::uint64_t seed) {
  Stream random(seed, 0, 0x5face);
  SpaceDescription out;
  const std::size_t count = seed % 10 == 0 ? 20 + random.below(20) : 1 + random.below(7);
  for (std::size_t d = 0; d < count; ++d) {
    SearchDomain domain = random_domain("p" + std::to_string(d), random);
    if (d > 0 && random.below(2) == 0) domain.when = random_rule(out.domains, random);
    out.domains.push_back(std::move(domain));
  }
  for (std::size_t c = random.below(3); c > 0 && count < 20; --c) {
    const std::string rule = random_rule(out.domains, random);
    if (!rule.empty()) out.constraints.push_back({"", rule, {}});
  }
  for (std::size_t m = 0; m < 1 + seed % 4; ++m) {
    out.objectives.push_back({.name = "f" + std::to_string(m)});
  }
  return out;
}

// A rugged slope; one trial in seven fails, one in eleven breaks a limit.
inline Told evaluate_somehow(const Space& space, const Point& point, std::size_t objectives) {
  std::uint64_t key = 0;
  double sum = 0;
  for (std::size_t d = 0; d < point.size(); ++d) {
    const double u = point[d] == absent ? 0.3 : space.domains()[d].unit(point[d]);
    key = hash_combine(key, static_cast<std::uint64_t>(u * 1000));
    sum += (u - 0.4) * (u - 0.4);
  }
  if (key % 7 == 0) return {.point = point, .outcome = TrialOutcome::failed, .reason = "crash"};
  Told out{.point = point};
  for (std::size_t m = 0; m < objectives; ++m) {
    const double x = uniform_01(hash_u64(key, m));
    out.objectives.push_back(m == 0 ? sum : m == 1 ? 5 - sum + x : x);
  }
  if (key % 11 == 0) {
    out.outcome = TrialOutcome::infeasible;
    out.violations = {0.5};
  }
  return out;
}

}  // namespace halmark::test
