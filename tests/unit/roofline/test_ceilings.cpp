// What must pass under which ceiling, against hand-computed figures and, for random devices and
// work, against the definition written out once more.
#include "core/numeric/cast.hpp"
#include "roofline/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "roofline/estimate.hpp"
#include "tests/unit/roofline/two_levels.hpp"
#include "tests/unit/says.hpp"

namespace halmark::roofline {
namespace {

// 1 Tflop/s bf16; a cache of 2 x 1 MB at 1e12 and memory at 1e10 bytes/s.
Device device() {
  Device d = test::two_levels();
  d.peaks.push_back({.path = "bf16_matrix",
                     .dtype = Dtype::bf16,
                     .threads = 1,
                     .flops_per_s = 1e12,
                     .source = "probe"});
  return d;
}

using test::bf16_work;

double memory_ns(const Work& work, CacheMode mode, int sets) {
  return Ceilings(device(), 1).bound(work, traffic(work, mode, sets)).ns(Limiter::memory);
}

TEST(Ceilings, warm_operands_that_fit_a_cache_are_bound_by_that_cache) {
  EXPECT_NEAR(memory_ns(bf16_work(0, 0, 1e6), CacheMode::hot, 1), 1e3, 1e-6);
}

TEST(Ceilings, what_no_cache_can_hold_comes_from_memory) {
  // 3 MB warm, of which 2 MB can stay: 1 MB at 1e10 bytes/s.
  EXPECT_NEAR(memory_ns(bf16_work(0, 0, 3e6), CacheMode::hot, 1), 1e5, 1e-3);
  // Both sides of the capacity of 2 MB.
  EXPECT_NEAR(memory_ns(bf16_work(0, 0, 1.8e6), CacheMode::hot, 1), 1.8e3, 1e-6);
}

TEST(Ceilings, a_rotated_ring_beyond_the_caches_is_bound_by_memory) {
  const Work work = bf16_work(0, 10e6, 0);
  // Ring of 4 x 10 MB, 2 MB of it can stay in L2: 95 % of 10 MB at 1e10 bytes/s.
  EXPECT_NEAR(memory_ns(work, CacheMode::rotate_const, 4), 0.95e6, 1);
  EXPECT_NEAR(memory_ns(work, CacheMode::rotate_const, 1), 0.8e6, 1);
}

TEST(Ceilings, levels_add_up_their_capacities) {
  Device d = device();
  d.bandwidths.push_back(
      {.level = "l3", .threads = 1, .bytes_per_s = 1e11, .working_set_bytes = 4'000'000});
  const Work work = bf16_work(0, 0, 20e6);
  const Bound bound = Ceilings(d, 1).bound(work, traffic(work, CacheMode::hot, 1));
  // l2: 20 MB at 1e12; l3: 20 - 2 at 1e11; memory: 20 - 2 - 8 at 1e10.
  ASSERT_EQ(bound.parts().size(), 3u);
  EXPECT_NEAR(bound.parts()[0].ns(), 2e4, 1e-6);
  EXPECT_NEAR(bound.parts()[1].ns(), 1.8e5, 1e-5);
  EXPECT_NEAR(bound.parts()[2].ns(), 1e6, 1e-3);
  EXPECT_EQ(bound.parts()[0].level, Level::l2);
  EXPECT_EQ(bound.parts()[1].level, Level::l3);
  EXPECT_EQ(bound.parts()[2].level, Level::memory);
}

TEST(Ceilings, more_threads_can_do_what_fewer_did) {
  Device d = device();
  Peak both = d.peaks[0];
  both.threads = 2;
  both.flops_per_s = 0.8e12;  // two threads of one core, which has one matrix unit
  d.peaks.push_back(both);
  const Ceilings ceilings(d, 2);
  const Bound bound = ceilings.bound(bf16_work(1e9, 0, 0), {});
  EXPECT_NEAR(bound.ns(Limiter::compute), 1e6, 1e-3);
  const Ceiling& ceiling = ceilings.at(bound.parts()[0].source);
  EXPECT_EQ(ceiling.name, "bf16_matrix, 1 thread");
  EXPECT_EQ(ceiling.source, "probe");
}

TEST(Ceilings, of_equal_figures_the_one_with_all_threads_is_named) {
  Device d = device();
  d.peaks.push_back(d.peaks[0]);
  d.peaks.back().threads = 2;
  d.bandwidths.push_back(d.bandwidths[1]);
  d.bandwidths.back().threads = 2;
  const Ceilings ceilings(d, 2);
  const Work work = bf16_work(1e9, 10e6, 0);
  const Bound bound = ceilings.bound(work, step_traffic(work));
  EXPECT_EQ(ceilings.at(bound.parts().front().source).name, "bf16_matrix, 2 threads");
  EXPECT_EQ(ceilings.at(bound.parts().back().source).name, "memory, 2 threads");
}

TEST(Ceilings, a_figure_of_nothing_bounds_nothing_and_hides_no_other_level) {
  Device d = device();
  d.peaks[0].flops_per_s = 0;
  d.bandwidths[0].bytes_per_s = 0;
  const Work work = bf16_work(1e9, 10e6, 0);
  const Bound bound = Ceilings(d, 1).bound(work, step_traffic(work));
  ASSERT_EQ(bound.parts().size(), 1u);
  EXPECT_EQ(bound.parts()[0].level, Level::memory);
  EXPECT_DOUBLE_EQ(bound.ns(), 1e6);
}

TEST(Ceilings, between_stated_thread_counts_the_best_scaled_figure_counts) {
  Device d = device();
  Peak four = d.peaks[0];
  four.threads = 4;
  four.flops_per_s = 2e12;
  d.peaks.push_back(four);
  // One thread scaled to three: 3e12, more than four were seen to do; a bound takes the larger.
  EXPECT_NEAR(Ceilings(d, 4).bound(bf16_work(3e9, 0, 0), {}).ns(), 1e6, 1e-3);
}

TEST(Ceilings, shards_that_run_at_once_share_the_ceilings_of_the_device) {
  Device d = device();
  Peak both = d.peaks[0];
  both.threads = 2;
  both.flops_per_s = 1.25e12;
  d.peaks.push_back(both);
  KernelCase c;
  c.mode = CacheMode::hot;
  const Work work = bf16_work(0.2e9, 0, 1e3);
  // 0.2 GFLOP: alone at 1 TFLOP/s, two of them together at 1.25 TFLOP/s.
  EXPECT_NEAR(case_bound(work, c, Ceilings(d, 1)).ns(), 0.2e6, 1e-3);
  const Ceilings shared(d, 1, 2);
  const Bound bound = case_bound(work, c, shared);
  EXPECT_NEAR(bound.ns(), 0.32e6, 1e-3);
  bool is_named = false;
  for (const Part& part : bound.parts()) {
    // A proof is checked against the work of one shard.
    EXPECT_LE(part.amount, part.level == Level::compute ? work.matmul_flops : work.bytes());
    is_named |= shared.at(part.source).name == "bf16_matrix, 2 threads shared by 2 shards";
  }
  EXPECT_TRUE(is_named);
}

// GPUs of data sheets have caches that the sheets leave out: products of 35 MB were measured at 143
// % of the bandwidth of an H100's memory.
TEST(Ceilings, a_device_that_states_no_cache_may_have_one) {
  Device d = device();
  d.bandwidths.erase(d.bandwidths.begin());
  const Work work = bf16_work(0, 1e7, 3e7);
  const Bound bound = Ceilings(d, 1).bound(work, step_traffic(work));
  EXPECT_NEAR(bound.ns(), 1e6, 1e-3) << "the constants alone";
  EXPECT_EQ(bound.limiter(), Limiter::memory);
}

TEST(Ceilings, in_a_step_constants_are_cold_and_the_rest_may_lie_in_any_cache) {
  const Work work = bf16_work(0, 1e6, 3e6);
  const Bound bound = Ceilings(device(), 1).bound(work, step_traffic(work));
  EXPECT_NEAR(bound.ns(), 1e6 / 1e10 * 1e9, 1e-3);
}

TEST(Ceilings, the_upper_end_counts_where_sources_disagree) {
  Device d;
  d.peaks = {{.path = "p", .dtype = Dtype::bf16, .flops_per_s = 1e12, .flops_per_s_high = 2e12}};
  d.bandwidths = {{.level = "memory", .bytes_per_s = 1e10, .bytes_per_s_high = 4e10}};
  const Bound bound =
      Ceilings(d, 0).bound(bf16_work(1e9, 1e6, 0), step_traffic(bf16_work(0, 1e6, 0)));
  EXPECT_DOUBLE_EQ(bound.ns(Limiter::compute), 0.5e6);
  EXPECT_DOUBLE_EQ(bound.ns(Limiter::memory), 0.25e5);
}

TEST(Ceilings, a_collective_passes_the_link_or_the_network) {
  Device d = device();
  d.links.push_back({.name = "ring", .bytes_per_s = 1e9, .domain_devices = 4, .source = "sheet"});
  const Ceilings ceilings(d, 1, 1, 1e8);
  Work work = bf16_work(0, 0, 1e3);
  work.transfer_bytes = 1e6;
  work.message_bytes = 1.25e6;
  work.exchange = Exchange::personal;
  const Bound near = ceilings.bound(work, step_traffic(work), 4);
  EXPECT_DOUBLE_EQ(near.ns(), 1e6);
  EXPECT_EQ(near.limiter(), Limiter::communication);
  says(ceilings.at(near.parts().back().source).name, "ring");
  // A fifth of the message leaves a domain of four; all of it passes both kinds of links together.
  const Bound far = ceilings.bound(work, step_traffic(work), 5);
  EXPECT_DOUBLE_EQ(far.ns(), 0.25e6 / 1e8 * 1e9);
  EXPECT_EQ(far.parts().size(), near.parts().size() + 1);
  EXPECT_DOUBLE_EQ(far.parts().end()[-2].ns(), 1e6 / 1.1e9 * 1e9);
  says(ceilings.at(far.parts().end()[-2].source).name, "ring and network");
  // Without a link its own traffic still bounds it.
  const Bound alone = Ceilings(device(), 1).bound(work, step_traffic(work), 4);
  EXPECT_DOUBLE_EQ(alone.ns(), 1);
  EXPECT_EQ(alone.limiter(), Limiter::communication);
}

TEST(Ceilings, without_a_device_nothing_is_bounded) {
  const Work work = bf16_work(1e9, 1e9, 1e9);
  EXPECT_EQ(Ceilings().bound(work, step_traffic(work)).ns(), 0);
}

struct Random {
  std::mt19937_64 bits;
  double log_uniform(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(bits));
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(bits); }
};

// Up to four levels, each slower than the nearer one, at several thread counts.
Device random_device(Random& random, bool has_thread_counts) {
  Device out;
  double bytes_per_s = random.log_uniform(1e11, 1e12), working_set = 1e4;
  for (const char* level : {"l1", "l2", "l3", "memory"}) {
    const bool is_memory = std::string_view(level) == "memory";
    if (!is_memory && random.integer(0, 3) == 0) continue;
    bytes_per_s *= random.log_uniform(0.1, 1);
    working_set *= random.log_uniform(2, 40);
    for (const int threads : {1, 2, 5}) {
      if (!has_thread_counts && threads > 1) break;
      out.bandwidths.push_back(
          {.level = level,
           .threads = has_thread_counts ? threads : 0,
           .bytes_per_s = bytes_per_s * threads * (threads > 1 ? random.log_uniform(0.5, 1) : 1),
           .working_set_bytes = static_cast<std::int64_t>(working_set)});
    }
  }
  for (const int threads : {1, 3}) {
    if (!has_thread_counts && threads > 1) break;
    out.peaks.push_back({.path = "p",
                         .dtype = Dtype::bf16,
                         .threads = has_thread_counts ? threads : 0,
                         .flops_per_s = random.log_uniform(1e10, 1e12)});
  }
  return out;
}

Work random_work(Random& random) {
  const double constant = random.integer(0, 3) == 0 ? 0 : random.log_uniform(1e2, 1e9);
  return {.matmul_flops = random.integer(0, 3) == 0 ? 0 : random.log_uniform(1e3, 1e12),
          .bytes_read = constant + random.log_uniform(1e2, 1e8),
          .bytes_written = random.log_uniform(1e2, 1e8),
          .constant_bytes = constant,
          .compute_dtype = Dtype::bf16};
}

// The definition once more: every thread count is tried, every level is written out.
double written_out_ns(const Work& work, const Traffic& moved, const Device& device, int threads,
                      int shards) {
  const auto best = [&](const auto& rate_at) {
    double out = 0;
    for (int n = 1; n <= threads * shards; ++n) out = std::max(out, rate_at(n));
    return out / shards;
  };
  double seconds = 0;
  if (work.matmul_flops > 0) {
    seconds =
        work.matmul_flops / best([&](int n) { return device.peak(Dtype::bf16, n)->flops_per_s; });
  }
  double capacity = 0;
  const bool has_caches = device.bandwidths.front().level != "memory";
  for (const char* level : {"l1", "l2", "l3", "memory"}) {
    if (!device.bandwidth(level, 1)) continue;
    const auto left = [&](double bytes, double set) {
      return set > 0 ? bytes * std::max(0.0, 1 - capacity / set) : 0;
    };
    double bytes = left(moved.constant_bytes, moved.ring_bytes + moved.warm_bytes);
    if (has_caches) bytes += left(moved.warm_bytes, moved.warm_bytes);
    seconds = std::max(
        seconds, bytes / best([&](int n) { return device.bandwidth(level, n)->bytes_per_s; }));
    capacity += 2.0 * as_double(device.bandwidth(level, threads)->working_set_bytes);
  }
  return seconds * 1e9;
}

TEST(Ceilings, give_the_maximum_over_levels_of_random_work) {
  Random random{std::mt19937_64(1)};
  for (int i = 0; i < 300; ++i) {
    const Device d = random_device(random, true);
    const int threads = random.integer(1, 6), shards = random.integer(1, 3);
    const Ceilings ceilings(d, threads, shards);
    for (int k = 0; k < 10; ++k) {
      const Work work = random_work(random);
      const auto mode = std::array{CacheMode::hot, CacheMode::rotate_const,
                                   CacheMode::rotate_all}[as_size(random.integer(0, 2))];
      const Traffic moved = traffic(work, mode, random.integer(1, 8));
      const double alone = written_out_ns(work, moved, d, threads, 1);
      const double expected = std::max(alone, written_out_ns(work, moved, d, threads, shards));
      const double ns = ceilings.bound(work, moved).ns();
      EXPECT_NEAR(ns, expected, 1e-12 * expected);
    }
  }
}

// A device 1e13 times slower, work 1e-8 times smaller: figures far below one are figures too.
TEST(Ceilings, bounds_and_estimates_have_no_least_figure) {
  constexpr double slower = 1e13, smaller = 1e-8;
  Random random{std::mt19937_64(3)};
  for (int i = 0; i < 100; ++i) {
    Device fast = random_device(random, false);
    fast.links.push_back({.name = "l", .bytes_per_s = 1e9, .domain_devices = 8});
    Device slow = fast;
    for (Peak& peak : slow.peaks) peak.flops_per_s /= slower;
    for (Bandwidth& bandwidth : slow.bandwidths) bandwidth.bytes_per_s /= slower;
    slow.links[0].bytes_per_s /= slower;
    Work work = random_work(random);
    work.transfer_bytes = random.integer(0, 1) == 0 ? 0 : random.log_uniform(1e2, 1e7);
    work.message_bytes = work.transfer_bytes;
    work.exchange = work.transfer_bytes > 0 ? Exchange::gather : Exchange::none;
    Work little = work;
    for (double* amount : {&little.matmul_flops, &little.bytes_read, &little.bytes_written,
                           &little.constant_bytes, &little.transfer_bytes, &little.message_bytes}) {
      *amount *= smaller;
    }
    const std::int64_t ranks = random.integer(2, 16);
    Problem problem{.op = "all_reduce"};
    problem.params.set("ranks", ranks);
    const double network = 1e8;
    const Bound large = step_bound(problem, work, Ceilings(fast, 0, 1, network));
    const Bound small = step_bound(problem, little, Ceilings(slow, 0, 1, network / slower));
    EXPECT_NEAR(small.ns() / (large.ns() * slower * smaller), 1, 1e-12);
    EXPECT_EQ(small.limiter(), large.limiter());
    EXPECT_EQ(small.parts().size(), large.parts().size());
    const double estimate = *RooflineRates(fast, {}, network).ns(work, ranks);
    const double slow_estimate = *RooflineRates(slow, {}, network / slower).ns(little, ranks);
    EXPECT_NEAR(slow_estimate / (estimate * slower * smaller), 1, 1e-12);
    const auto alone = roofline_estimate(work, fast, {});
    const auto slow_alone = roofline_estimate(little, slow, {});
    EXPECT_NEAR(slow_alone->ns / (alone->ns * slower * smaller), 1, 1e-12);
    EXPECT_NEAR(slow_alone->compute_ns, alone->compute_ns * slower * smaller,
                1e-12 * slow_alone->ns);
    EXPECT_EQ(slow_alone->limiter, alone->limiter);
  }
}

// Element-wise work on a device that states no cache passes no known ceiling.
bool ceilings_see(const Device& device, const Work& work) {
  return work.matmul_flops > 0 || work.constant_bytes > 0 ||
         device.bandwidths.front().level != "memory";
}

TEST(Ceilings, a_bound_is_never_above_the_estimate) {
  Random random{std::mt19937_64(2)};
  for (int i = 0; i < 500; ++i) {
    const Device d = random_device(random, false);
    const Ceilings ceilings(d, 0);
    const RooflineRates rates(d, {});
    for (int k = 0; k < 20; ++k) {
      const Work work = random_work(random);
      const double bound = ceilings.bound(work, step_traffic(work)).ns();
      EXPECT_EQ(bound > 0, ceilings_see(d, work));
      EXPECT_LE(bound, rates.local_ns(work).value() * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace halmark::roofline
