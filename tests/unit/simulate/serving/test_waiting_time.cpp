// A server as a queue that theory knows.

#include "simulate/serving/summary.hpp"
#include "toy_steps.hpp"

namespace halmark::serving {
namespace {

struct Queue {
  double wait_ns = 0, standard_error_ns = 0;
};

// Requests of one token, one in a step, steps that all take as long: an M/D/1 queue. The error is
// that of means of 50 runs of requests one after the other, which are nearly independent.
Queue waiting(double load, std::uint64_t seed) {
  const test::ConstantSteps times;
  ServerPlan plan = test::plan_of(100'000);
  plan.engine.token_budget = 1;
  plan.keeps_timeline = false;
  constexpr std::size_t parts = 50, of_part = 4'000;
  const Load arrivals = load_of({.arrivals = Arrivals::poisson,
                                 .shape = {1, 1},
                                 .requests = parts * of_part,
                                 .rate_per_s = load / (times.ns * 1e-9),
                                 .seed = seed});
  const ServerRecord record = test::simulated(plan, arrivals, times);
  double sum = 0, squares = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    double mean = 0;
    for (std::size_t i = p * of_part; i < (p + 1) * of_part; ++i) {
      const RequestRecord& r = record.requests[i];
      mean += static_cast<double>(r.first_ps - r.arrival_ps) * 1e-3 - times.ns;
    }
    mean /= of_part;
    sum += mean, squares += mean * mean;
  }
  const double mean = sum / parts;
  return {mean, std::sqrt((squares / parts - mean * mean) / (parts - 1))};
}

// Pollaczek and Khinchine: W = rho s / (2 (1 - rho)) for service times that all are s.
TEST(WaitingTime, is_that_of_pollaczek_and_khinchine) {
  for (const double load : {0.2, 0.5, 0.7, 0.85}) {
    const Queue queue = waiting(load, 5);
    const double theory = load * 1e6 / (2 * (1 - load));
    EXPECT_NEAR(queue.wait_ns, theory, 4 * queue.standard_error_ns) << load;
    EXPECT_LT(queue.standard_error_ns, 0.06 * theory) << "else the test says nothing";
  }
}

TEST(WaitingTime, littles_law_holds_of_requests_in_the_server) {
  const test::ToySteps times;
  for (const Arrivals arrivals : {Arrivals::poisson, Arrivals::bursty, Arrivals::closed_loop}) {
    ServerPlan plan = test::plan_of(4'000);
    const Load load = load_of({.arrivals = arrivals,
                               .shape = {300, 40},
                               .requests = 2'000,
                               .clients = 20,
                               .rate_per_s = 100,
                               .variation = 2});
    const ServerRecord record = test::simulated(plan, load, times);
    double sojourn_ps = 0;
    for (const RequestRecord& r : record.requests) {
      sojourn_ps += static_cast<double>(r.end_ps - r.arrival_ps);
    }
    const double rate_per_ps = 2'000 / static_cast<double>(record.makespan_ps);
    EXPECT_NEAR(record.in_system, rate_per_ps * sojourn_ps / 2'000, 1e-9 * record.in_system);
    EXPECT_GT(record.in_system, 0.4);
  }
}

TEST(WaitingTime, a_higher_rate_never_serves_sooner) {
  const test::ToySteps times;
  ServerPlan plan = test::plan_of(20'000);
  plan.keeps_timeline = false;
  double before = 0;
  for (const double rate : {1.0, 20.0, 50.0, 100.0, 200.0, 400.0}) {
    // One sequence of gaps, shortened: every request comes sooner, none waits less.
    const Load load = load_of(
        {.arrivals = Arrivals::poisson, .shape = {300, 40}, .requests = 2'000, .rate_per_s = rate});
    const ServerSummary summary = summary_of(test::simulated(plan, load, times), {});
    EXPECT_GE(summary.request.mean, before * (1 - 1e-9)) << rate;
    before = summary.request.mean;
  }
}

}  // namespace
}  // namespace halmark::serving
