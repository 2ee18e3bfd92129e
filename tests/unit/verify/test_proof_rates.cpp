// Proofs of a throughput: a rate of tokens over the step that the model's graph gives.
#include <gmock/gmock.h>

#include "proof_records.hpp"
#include "proof_world.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

const ProofWorld& world() {
  static const ProofWorld out("[1, 64]", 1, 1e9, R"(["throughput", "latency", "memory"])");
  return out;
}

// The rate of the last configuration: in postfix order 1e9, the tokens, the step, "rate", "scale".
FrontProofCheck forged(const std::function<void(Formula&)>& forge) {
  Claim claim = world().truth();
  claim.facts.run_objective = 1;
  forge(claim.problem.own_formulas.rbegin()->second.front());
  return ProofWorld::check_alone(written(claim));
}

TEST(ProofOfRates, holds_where_it_is_the_tokens_over_the_step) {
  const FrontProofCheck check = forged([](Formula&) {});
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.line << ": " << check.reason;
  EXPECT_EQ(check.reason, "composition not confirmed");
}

TEST(ProofOfRates, is_broken_where_it_is_another) {
  const auto refused = [](const char* name, const std::function<void(Formula&)>& forge) {
    const FrontProofCheck check = forged(forge);
    EXPECT_EQ(check.verdict, ProofVerdict::broken) << name;
    EXPECT_THAT(check.reason, HasSubstr("the formula of throughput is not that of the model's"))
        << name;
  };
  refused("unit", [](Formula& f) { f[0].value *= 2; });
  refused("tokens", [](Formula& f) { f[1].value += 1; });
  refused("micro-batches", [](Formula& f) { f[2].value += 1; });
  refused("no rate", [](Formula& f) { f = formula::constant(1); });
  refused("a rate alone", [](Formula& f) {
    f.erase(f.begin());
    f.pop_back();
  });
  refused("a time alone", [](Formula& f) {
    f.erase(f.begin() + 1);
    f.erase(f.end() - 2);
  });
  refused("a rate of two", [](Formula& f) {
    f = formula::scaled(formula::constant(1e9),
                        formula::rate(formula::constant(f[1].value), formula::constant(1)));
  });
}

}  // namespace
}  // namespace halmark
