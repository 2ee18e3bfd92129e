// Interpolation on a device whose times are a formula: what it cannot know is stated, what it
// states holds.
#include "latency/interpolation/interpolation.hpp"

#include "tests/unit/latency/fixtures.hpp"
#include "tune/sources/curve_solver.hpp"

namespace halmark {
namespace {

using namespace latency_test;

double estimate_ns(const Problem& problem, const Device& on) {
  return roofline_estimate(work_of(problem), on, {})->ns;
}

// Launch, and a utilisation that grows with every size; `noise`: deterministic, within +-5 %.
double true_ns(const Problem& problem, const Device& on, bool is_noisy = false) {
  const double floor = estimate_ns(problem, on);
  double u = 0;
  for (const char* name : {"m", "n", "k"}) {
    u += std::tanh(std::log2(static_cast<double>(problem.params.at(name))) / 6 - 1) / 8;
  }
  const std::size_t hash = std::hash<std::string>{}(problem.text());
  const double noise = is_noisy ? 0.05 * (static_cast<double>(hash % 2001) / 1000 - 1) : 0;
  return 3000 + floor / (0.5 + u) * (1 + noise);
}

std::vector<LatencyPoint> table(const Device& on, bool is_noisy) {
  std::vector<LatencyPoint> out;
  for (std::int64_t m = 1; m <= 8192; m *= 2) {
    for (std::int64_t n = 256; n <= 16384; n *= 2) {
      for (std::int64_t k = 256; k <= 16384; k *= 2) {
        const Problem problem = gemm(m, n, k);
        out.push_back({problem, true_ns(problem, on, is_noisy)});
      }
    }
  }
  return out;
}

const Device& gpu() {
  static const Device out = device_of("made-up", 1e15, 3e12);
  return out;
}

TEST(Interpolation, follows_a_smooth_utilisation_between_its_points) {
  const Interpolation of(table(gpu(), false), gpu(), {});
  double worst = 0;
  for (const std::int64_t m : {48, 192, 768, 3072}) {
    for (const std::int64_t n : {768, 3072, 12288}) {
      for (const std::int64_t k : {768, 3072, 12288}) {
        const Problem problem = gemm(m, n, k);
        const auto latency = of.latency(problem);
        ASSERT_TRUE(latency);
        EXPECT_EQ(latency->provenance, Provenance::interpolated);
        EXPECT_LE(latency->low_ns, latency->ns);
        EXPECT_GE(latency->high_ns, latency->ns);
        EXPECT_LE(latency->lower_bound_ns, latency->ns);
        worst = std::max(worst, std::abs(latency->ns / true_ns(problem, gpu()) - 1));
      }
    }
  }
  EXPECT_LT(worst, 0.03);
}

TEST(Interpolation, ninety_percent_of_unseen_points_lie_in_their_interval) {
  const auto points = table(gpu(), true);
  const Interpolation of(points, gpu(), {});
  for (const auto what : {Interpolation::LeaveOut::point, Interpolation::LeaveOut::shape}) {
    const auto checked = of.check(what, 1000);
    ASSERT_GT(checked.size(), 400u);
    double covered = 0;
    for (const auto& c : checked) {
      covered += c.low_ns <= c.point->ns && c.point->ns <= c.high_ns ? 1 : 0;
    }
    // 3 standard errors of the finite sample, and of the one that calibrated.
    EXPECT_NEAR(covered / static_cast<double>(checked.size()), 0.90, 0.06);
  }
}

// The formula of this file keeps rising by its tanh: a curve follows it within what it says.
TEST(Interpolation, beyond_what_was_measured_a_curve_goes_on_and_says_so) {
  const Interpolation of(table(gpu(), false), gpu(), {}, tune::curve_solver());
  const auto inside = of.latency(gemm(8192, 4096, 4096));
  ASSERT_TRUE(inside);
  says(inside->reason, "interpolated between neighbours");
  for (const Problem& problem : {gemm(16384, 4096, 4096), gemm(40000, 4096, 4096),
                                 gemm(4096, 4096, 40000), gemm(64, 128, 4096)}) {
    const auto outside = of.latency(problem);
    ASSERT_TRUE(outside) << problem.text();
    says(outside->reason, "extrapolated by efficiency curve of made-up");
    says(outside->reason, "90 % interval, of held-out sizes");
    says(outside->origin, "extrapolated by efficiency curve");
    EXPECT_NEAR(outside->ns / true_ns(problem, gpu()), 1, 0.15) << problem.text();
    EXPECT_LT(outside->low_ns, outside->ns);
    EXPECT_GT(outside->high_ns, outside->ns);
  }
  says(of.latency(gemm(64, 4096, 32768))->reason, "k outside");
  says(of.latency(gemm(64, 128, 4096))->reason, "n outside");
  EXPECT_FALSE(of.latency(gemm(8192 * 65, 4096, 4096))) << "more than six octaves";
}

TEST(Interpolation, where_no_size_was_held_out_so_far_no_share_is_claimed) {
  const Interpolation of(table(gpu(), false), gpu(), {}, tune::curve_solver());
  const auto near = of.latency(gemm(16384, 4096, 4096)), far = of.latency(gemm(262144, 4096, 4096)),
             corner = of.latency(gemm(16384, 4096, 32768));
  ASSERT_TRUE(near && far && corner);
  says(near->reason, "90 %");
  for (const auto* latency : {&*far, &*corner}) {
    EXPECT_THAT(latency->reason, Not(HasSubstr("90 %")));
    says(latency->reason, "spread, not calibrated");
    EXPECT_GT(latency->high_ns / latency->ns, near->high_ns / near->ns);
  }
}

TEST(Interpolation, without_a_solver_nothing_lies_beyond) {
  const Interpolation of(table(gpu(), false), gpu(), {});
  EXPECT_TRUE(of.latency(gemm(8192, 4096, 4096)));
  EXPECT_FALSE(of.latency(gemm(8193, 4096, 4096)));
}

// Held-out sizes, predicted by a curve without them.
TEST(Interpolation, held_out_sizes_are_predicted) {
  const Interpolation of(table(gpu(), true), gpu(), {}, tune::curve_solver());
  const auto checked = of.check_sizes();
  ASSERT_GT(checked.size(), 100u);
  double worst = 0, octaves = 0;
  for (const auto& c : checked) {
    worst = std::max(worst, std::abs(std::log(c.ns / c.point->ns)));
    octaves = std::max(octaves, c.octaves);
  }
  EXPECT_LT(worst, 0.3);
  EXPECT_NEAR(octaves, 3, 1e-9);
}

// Times that are exactly linear in m with a step per line that no neighbour shares: kriging between
// lines can only guess.
TEST(Interpolation, the_better_method_is_taken_per_family) {
  auto points = table(gpu(), false);
  for (LatencyPoint& point : points) {
    const auto n = point.problem.params.at("n"), k = point.problem.params.at("k");
    const double slope = 1 + static_cast<double>((n / 256 * 7 + k / 256 * 3) % 11);
    point.ns = 5000 + 100 * slope * static_cast<double>(point.problem.params.at("m"));
  }
  Device slow = gpu();
  slow.peaks[0].flops_per_s = 1e18;
  slow.bandwidths[0].bytes_per_s = 1e16;
  const Interpolation of(points, slow, {});
  const auto latency = of.latency(gemm(6000, 4096, 2048));
  ASSERT_TRUE(latency);
  const double slope = 1 + static_cast<double>((4096 / 256 * 7 + 2048 / 256 * 3) % 11);
  EXPECT_NEAR(latency->ns, 5000 + 100 * slope * 6000, 1e-6 * latency->ns);
  ASSERT_EQ(of.methods().size(), 1u);
  says(of.methods()[0], "linear in size");
}

TEST(Interpolation, a_shape_that_was_not_measured_says_so) {
  const Interpolation of(table(gpu(), true), gpu(), {});
  says(of.latency(gemm(48, 4096, 4096))->reason, "of left-out points");
  says(of.latency(gemm(48, 3000, 4096))->reason, "of left-out shapes");
}

TEST(Interpolation, another_type_is_another_family) {
  const Interpolation of(table(gpu(), false), gpu(), {});
  Problem other = gemm(64, 4096, 4096);
  other.params.set("dst_dtype", number_of(Dtype::f32));
  EXPECT_FALSE(of.latency(other));
}

TEST(Interpolation, a_few_points_make_no_family) {
  auto points = table(gpu(), false);
  points.resize(Interpolation::points_min);
  EXPECT_EQ(Interpolation(points, gpu(), {}).left_out(), 0u);
  EXPECT_TRUE(Interpolation(points, gpu(), {}).latency(points.front().problem));
  points.pop_back();
  const Interpolation of(points, gpu(), {});
  EXPECT_EQ(of.left_out(), points.size());
  EXPECT_FALSE(of.latency(points.front().problem));
}

TEST(Interpolation, points_that_teach_nothing_are_counted_and_change_nothing) {
  auto points = table(gpu(), true);
  const Problem wanted = gemm(48, 3072, 768);
  const Interpolation clean(points, gpu(), {});
  points.insert(points.begin(), {gemm(64, 512, 512), 0});
  points.insert(points.begin() + 40, {gemm(64, 512, 512), -1});
  points.push_back({{"no_such_op", {}}, 1e3});
  Problem unknown = gemm(64, 512, 512);  // the device states no peak of it
  for (const char* name : {"src_dtype", "wei_dtype"}) {
    unknown.params.set(name, number_of(Dtype::s8));
  }
  points.push_back({unknown, 1e3});
  const Interpolation of(points, gpu(), {});
  EXPECT_EQ(of.left_out(), 4u);
  EXPECT_DOUBLE_EQ(of.latency(wanted)->ns, clean.latency(wanted)->ns);
  EXPECT_FALSE(of.latency(unknown));
  EXPECT_FALSE(of.latency({"no_such_op", {}}));
}

TEST(Interpolation, every_check_leaves_its_point_out_and_none_calibrated) {
  const auto points = table(gpu(), true);
  const Interpolation of(points, gpu(), {});
  const auto all = of.check(Interpolation::LeaveOut::point, points.size());
  std::set<const LatencyPoint*> seen;
  for (const auto& c : all) {
    EXPECT_TRUE(seen.insert(c.point).second);
    EXPECT_LT(c.low_ns, c.ns);
    EXPECT_LT(c.ns, c.high_ns);
  }
  // Two thirds do not calibrate.
  EXPECT_NEAR(static_cast<double>(all.size()), 2.0 / 3 * static_cast<double>(points.size()), 40);
  EXPECT_EQ(of.check(Interpolation::LeaveOut::point, 100).size(), 100u);
  EXPECT_EQ(of.check(Interpolation::LeaveOut::shape, 7).size(), 7u);
  double point = 0, shape = 0;
  for (const auto& c : all) point += std::log(c.high_ns / c.low_ns);
  const auto shapes = of.check(Interpolation::LeaveOut::shape, points.size());
  EXPECT_NEAR(static_cast<double>(shapes.size()), 2.0 / 3 * static_cast<double>(points.size()), 80);
  for (const auto& c : shapes) shape += std::log(c.high_ns / c.low_ns);
  EXPECT_GT(shape / static_cast<double>(shapes.size()), point / static_cast<double>(all.size()))
      << "less is known of a shape that nobody measured";
}

TEST(Interpolation, decode_and_prefill_are_different_families) {
  std::vector<LatencyPoint> points;
  for (std::int64_t batch = 1; batch <= 64; batch *= 2) {
    for (std::int64_t context = 128; context <= 32768; context *= 2) {
      const Problem problem = complete_problem({"attention",
                                                {{"batch", batch},
                                                 {"heads", 32},
                                                 {"kv_heads", 8},
                                                 {"head_dim", 128},
                                                 {"new_tokens", 1},
                                                 {"context", context},
                                                 {"q_dtype", bf16},
                                                 {"kv_dtype", bf16},
                                                 {"dst_dtype", bf16}}});
      points.push_back({problem, 4000 + 2 * estimate_ns(problem, gpu())});
    }
  }
  const Interpolation of(points, gpu(), {});
  Problem wanted = points[20].problem;
  wanted.params.set("context", 3000);
  const auto latency = of.latency(wanted);
  ASSERT_TRUE(latency);
  EXPECT_NEAR(latency->ns / (4000 + 2 * estimate_ns(wanted, gpu())), 1, 0.03);
  wanted.params.set("new_tokens", 3000);
  EXPECT_FALSE(of.latency(wanted));
}

}  // namespace
}  // namespace halmark
