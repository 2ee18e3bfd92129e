#include <gtest/gtest.h>

#include "core/numeric/random.hpp"
#include "search/pareto/pareto.hpp"

#ifdef HALMARK_HAS_PAGMO
#include <pagmo/utils/hypervolume.hpp>
#endif

namespace halmark {
namespace {

TEST(Hypervolume, equals_the_one_of_pagmo) {
#ifdef HALMARK_HAS_PAGMO
  for (std::size_t dims = 2; dims <= 5; ++dims) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      std::vector<Objectives> points(dims > 4 ? 20 : 60, Objectives(dims));
      for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t d = 0; d < dims; ++d) {
          points[i][d] = uniform_01(hash_u64(seed, 1000 * dims + i * dims + d));
        }
      }
      const Objectives reference(dims, 1.1);
      const double expected = pagmo::hypervolume(points, true).compute(reference);
      ASSERT_NEAR(hypervolume(points, reference), expected, 1e-12 * expected)
          << dims << " objectives, seed " << seed;
    }
  }
#else
  GTEST_SKIP() << "pagmo2 was not found when this was configured";
#endif
}

}  // namespace
}  // namespace halmark
