#include "simulate/serving/load.hpp"

#include <cmath>
#include <numbers>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::serving {
namespace {

// A stream of numbers that follow from the seed alone, the same with every standard library.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  double uniform() { return uniform_01(hash_u64(seed_, next_++)); }
  double exponential() { return -std::log1p(-uniform()); }
  double normal() {
    const double radius = std::sqrt(2 * exponential());
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  // Of mean 1 (Marsaglia and Tsang, 2000).
  double gamma(double shape) {
    if (shape < 1) {
      const double scaled = gamma(shape + 1) * (shape + 1);
      return scaled * std::pow(1 - uniform(), 1 / shape) / shape;
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), v = std::pow(1 + c * x, 3);
      if (v > 0 && std::log1p(-uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
        return d * v / shape;
      }
    }
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

constexpr std::int64_t requests_max = 20'000'000;

void check(const LoadQuestion& q) {
  const auto require = [](bool holds, const std::string& what, const std::string& remedy) {
    if (!holds) throw refused(what, {}, remedy);
  };
  require(q.requests <= requests_max,
          "a load of " + std::to_string(q.requests) + " requests, and the limit is " +
              std::to_string(requests_max),
          "ask for fewer: nothing was simulated");
  require(q.requests >= 1, "a load of " + std::to_string(q.requests) + " requests",
          "ask for 1 or more");
  require(q.shape.input_tokens >= 1 && q.shape.output_tokens >= 1,
          "a request of " + std::to_string(q.shape.input_tokens) + " + " +
              std::to_string(q.shape.output_tokens) + " tokens",
          "both are 1 or more");
  require(q.arrivals == Arrivals::closed_loop ? q.clients >= 1
                                              : std::isfinite(q.rate_per_s) && q.rate_per_s > 0,
          q.arrivals == Arrivals::closed_loop
              ? "a closed loop of " + std::to_string(q.clients) + " clients"
              : "requests at " + number_text(q.rate_per_s) + " per second",
          "state a number above 0");
  require(q.arrivals != Arrivals::bursty || (q.variation > 0 && std::isfinite(q.variation)),
          "bursts with a variation of " + number_text(q.variation),
          "1 is Poisson, more is burstier");
  require(q.prefix_share >= 0 && q.prefix_share <= 1,
          "a prefix share of " + number_text(q.prefix_share), "it lies from 0 to 1");
  require(q.prefix_tokens >= 0 && q.prefix_tokens <= q.shape.input_tokens,
          "a common prefix of " + std::to_string(q.prefix_tokens) + " tokens in prompts of " +
              std::to_string(q.shape.input_tokens),
          "it is a part of the prompt");
}

}  // namespace

Load load_of(const LoadQuestion& q) {
  check(q);
  Load out;
  const bool is_closed = q.arrivals == Arrivals::closed_loop;
  if (is_closed) out.clients = std::min(q.clients, q.requests);
  Draws gaps(q.seed), prefixes(hash_combine(q.seed, 1));
  const double gamma_shape = 1 / (q.variation * q.variation);
  double now_s = 0;
  for (std::int64_t i = 0; i < q.requests; ++i) {
    RequestPlan request{.input_tokens = q.shape.input_tokens,
                        .output_tokens = q.shape.output_tokens};
    if (is_closed && i < out.clients) {
      now_s = q.spread_s * static_cast<double>(i) / static_cast<double>(out.clients);
    } else if (!is_closed) {
      now_s += (q.arrivals == Arrivals::poisson ? gaps.exponential() : gaps.gamma(gamma_shape)) /
               q.rate_per_s;
    }
    request.arrival_ps = events::picoseconds(now_s);
    if (q.prefix_tokens > 0 && prefixes.uniform() < q.prefix_share) {
      request.prefix = 0;
      request.prefix_tokens = q.prefix_tokens;
    }
    out.requests.push_back(request);
  }
  return out;
}

}  // namespace halmark::serving
