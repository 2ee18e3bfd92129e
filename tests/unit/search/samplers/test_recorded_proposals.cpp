// Stored studies are replayed: what a sampler proposes for (seed, trial, what it was told) stays
// the same from version to version, and from build to build. Proposals of every sampler on four
// problems, as recorded; a change of an algorithm on purpose records them anew (a failure prints
// the new digest) and says so in the changelog.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convex_problem.hpp"
#include "core/numeric/random.hpp"
#include "sample_spaces.hpp"
#include "search/loop.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using namespace test;

struct Trials {
  std::size_t count, batch;
  std::uint64_t seed = 11;
};

// Coordinates of continua to six digits: the last bits belong to the mathematical library.
std::uint64_t digest_of(const std::vector<Point>& points) {
  std::uint64_t out = points.size();
  for (const Point& p : points) {
    for (const double x : p) {
      const std::int64_t level = x == absent ? -1 : std::llround(x * 1e6);
      out = hash_combine(out, static_cast<std::uint64_t>(level));
    }
  }
  return out;
}

// Asked in batches, so that some trials are proposed while others are pending.
template <class Evaluate>
std::uint64_t digest(const std::string& name, const Space& space, const Trials& trials,
                     Evaluate evaluate) {
  const auto sampler =
      make_sampler(name, space, SamplerOptions{.seed = trials.seed, .trials = trials.count});
  std::vector<Point> asked;
  while (asked.size() < trials.count) {
    const auto next = sampler->ask(std::min(trials.batch, trials.count - asked.size()));
    if (next.empty()) break;
    std::vector<Told> told;
    for (const Point& p : next) told.push_back(evaluate(p));
    sampler->tell(told);
    asked.insert(asked.end(), next.begin(), next.end());
  }
  return digest_of(asked);
}

// One objective over continua, with a valley that is neither round nor along an axis.
Told valley(const Point& p) {
  const double a = p[0] - 0.3, b = p[1] - p[0] * p[0];
  return {.point = p, .objectives = {a * a + 10 * b * b + 0.1 * p[2]}};
}

// Two objectives over a space with a condition; some trials fail, some break a limit.
Told limited(const Point& p) {
  Told out = evaluate_mixed(p);
  const auto cell = static_cast<std::int64_t>(p[2] + 3 * p[3] + 7 * p[4]);
  if (cell % 7 == 0) return {.point = p, .outcome = TrialOutcome::failed, .reason = "refused"};
  if (cell % 5 == 0) {
    out.outcome = TrialOutcome::infeasible;
    out.violations = {static_cast<double>(cell) / 100, -1};
  }
  return out;
}

// Three and four objectives over 4096 points.
Told of_many(const Point& p, std::size_t objectives) {
  Told out{.point = p};
  for (std::size_t m = 0; m < objectives; ++m) {
    double sum = 0;
    for (std::size_t d = 0; d < p.size(); ++d) {
      const double target = static_cast<double>(hash_u64(m, d) % 4);
      sum += (p[d] - target) * (p[d] - target) * (1 + 0.25 * static_cast<double>(d));
    }
    out.objectives.push_back(sum);
  }
  return out;
}

struct Digests {
  const char* sampler;
  std::uint64_t valley, limited, three, four;
};

constexpr std::string_view recorded_with = "2.7.1";

class RecordedProposals : public testing::TestWithParam<Digests> {};

TEST_P(RecordedProposals, are_proposed_again) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "recorded on x86-64, whose compilers do not fuse multiplications and additions";
#endif
  const std::string name = GetParam().sampler;
  const bool has_model = name == "gp" || name == "auto" || name == "nlopt";
  // Gaussian processes are fitted by NLopt where it is there.
  if (has_model && std::string_view(HALMARK_NLOPT_VERSION) != recorded_with) {
    GTEST_SKIP() << "recorded with NLopt " << recorded_with;
  }
  const std::size_t trials = has_model ? 70 : 250;
  Digests found{name.c_str(), 0, 0, 0, 0};
  if (name != "grid") {
    const Space continua({continuum("x"), continuum("y"), continuum("z")}, {});
    found.valley = digest(name, continua, {trials, 1}, valley);
  }
  found.limited = digest(name, Space(mixed()), {trials, 3}, limited);
  found.three =
      digest(name, convex_space(), {trials, 1, 5}, [](const Point& p) { return of_many(p, 3); });
  found.four =
      digest(name, convex_space(), {trials, 4, 6}, [](const Point& p) { return of_many(p, 4); });
  const auto text = [](const Digests& d) {
    return fmt::format("{{\"{}\", {:#018x}, {:#018x}, {:#018x}, {:#018x}}}", d.sampler, d.valley,
                       d.limited, d.three, d.four);
  };
  EXPECT_EQ(text(found), text(GetParam()));
}

constexpr Digests recorded[] = {
    {"nlopt", 0x11712434b050acbb, 0x514be1f9ccd4604e, 0xab4743444b0403a5, 0xd83fd45bad094c54},
    {"auto", 0x6c08044aec3ae278, 0x4c13dd0aff3df816, 0xcb8adcdc6454dba0, 0x74905b30b11ae9e0},
    {"grid", 0x0000000000000000, 0xb2791814ea6ccbf7, 0x01cbf80dd9d4669e, 0x991784cecfe1ae65},
    {"random", 0x9b982883bff1846d, 0x435c3d4eeedcfab8, 0xb73a21a0c6d5a96c, 0xf18012af2e269b47},
    {"sobol", 0x290a13d25dd573d7, 0xa101160dbb9d20f0, 0x4ac2aa5e075fceb8, 0x178e139e43f71afb},
    {"nsga2", 0x2e65f717aaec988e, 0x7c142a38e7ea3dbb, 0xaf151a3670e5b3bd, 0x7101dad87512088e},
    {"nsga3", 0x46080a229eeb3818, 0x13dca0e1507f2730, 0x58715e6591a7253c, 0x8cdae9d98f7f1a9d},
    {"tpe", 0xa21e88277c61496a, 0x9c2a8b1fb8f0825f, 0x3d7c842ae15732db, 0x2236e7ff1eae8c5e},
    {"gp", 0xb87af3f0177fc81f, 0x9c7c654f60909d59, 0x92af798b004a27a4, 0x6d83ebfbb2418dbc},
    {"pls", 0xf152e7a43da345c6, 0x6efd33f00154d247, 0x976f3b10669fb45d, 0x87abd65dcd84dcc5},
    {"anneal", 0xd833febb8ba4e716, 0xef52b290ee4ce125, 0x094c780ca55d543c, 0xcb1d33688fb3e551},
};

INSTANTIATE_TEST_SUITE_P(Table, RecordedProposals, testing::ValuesIn(recorded),
                         [](const auto& info) { return std::string(info.param.sampler); });

struct LongSearch {
  const char* sampler;
  std::size_t objectives;  // of 4096 points; 0 = the space with failures and limits
  std::size_t trials;
  std::uint64_t digest;
};

// Long enough that models leave observations out, are rebuilt, and sources lose old credits.
constexpr LongSearch long_searches[] = {{"gp", 0, 300, 0x3423852211de2fae},
                                        {"gp", 2, 300, 0x6bc15bc7c05c5c6f},
                                        {"auto", 0, 300, 0x4d2daa9136f67385},
                                        {"auto", 3, 300, 0x47af6f474bcfb39d}};

class LongRecordedProposals : public testing::TestWithParam<LongSearch> {};

TEST_P(LongRecordedProposals, are_proposed_again) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "recorded on x86-64, whose compilers do not fuse multiplications and additions";
#endif
  if (std::string_view(HALMARK_NLOPT_VERSION) != recorded_with) {
    GTEST_SKIP() << "recorded with NLopt " << recorded_with;
  }
  const auto& [sampler, objectives, trials, expected] = GetParam();
  const Space space = objectives == 0 ? Space(mixed()) : convex_space();
  const std::uint64_t found = digest(sampler, space, {trials, 2, 8}, [&](const Point& p) {
    return objectives == 0 ? limited(p) : of_many(p, objectives);
  });
  EXPECT_EQ(fmt::format("{:#018x}", found), fmt::format("{:#018x}", expected));
}

INSTANTIATE_TEST_SUITE_P(Table, LongRecordedProposals, testing::ValuesIn(long_searches),
                         [](const auto& info) {
                           return fmt::format("{}_{}", info.param.sampler, info.param.objectives);
                         });

TEST(RecordedProposals, are_of_every_sampler) {
  for (const std::string& name : sampler_names()) {
    EXPECT_TRUE(std::ranges::any_of(recorded, [&](const Digests& d) { return d.sampler == name; }))
        << name;
  }
}

}  // namespace
}  // namespace halmark
