#include "model/pricing/composer.hpp"

#include "fixtures.hpp"

namespace halmark {
namespace {

using namespace model_test;

const std::map<std::string, double>& op_times() {
  static const std::map<std::string, double> times = {{"rmsnorm", 1},    {"gemm", 10},
                                                      {"rope", 2},       {"copy", 3},
                                                      {"attention", 20}, {"residual_add", 4},
                                                      {"embedding", 6},  {"all_reduce", 7},
                                                      {"send_recv", 8},  {"gated_activation", 5},
                                                      {"all_gather", 9}};
  return times;
}

constexpr double layer_ns = 90;
constexpr double ends_ns = 6 + 1 + 10;  // embedding, final norm, head

Latency by_op(const KernelCase& kernel_case) {
  const double ns = op_times().at(kernel_case.problem.op);
  return {.ns = ns,
          .low_ns = ns / 2,
          .high_ns = 3 * ns,
          .lower_bound_ns = ns / 4,
          .provenance = Provenance::measured};
}

Composer composer(const Configuration& configuration, DeviceFacts facts = {}) {
  return {
      graph_of(tiny(), configuration), {.backend = "cpu", .ring_bytes = 1 << 20}, std::move(facts)};
}

Estimate composed(const Configuration& configuration, DeviceFacts facts = {}) {
  const Evaluation evaluation = composer(configuration, std::move(facts)).compose(by_op);
  EXPECT_EQ(evaluation.status, Status::ok) << evaluation.reason;
  return evaluation.estimate.value();
}

// Latencies by op, changed for kernels of `op`; of all where it is "".
Composer::Lookup with(const std::string& op, const std::function<void(Latency&)>& change) {
  return [=](const KernelCase& kernel_case) -> std::optional<Latency> {
    Latency latency = by_op(kernel_case);
    if (op.empty() || kernel_case.problem.op == op) change(latency);
    return latency;
  };
}

const OperatorShare& share_of(const Estimate& estimate, std::string_view name) {
  return *std::ranges::find(estimate.operators, name, &OperatorShare::name);
}

Device device_with(double bf16_flops_per_s, double s8_flops_per_s) {
  Device out = device_of(bf16_flops_per_s, 1e9);
  out.peaks.push_back({.path = "s8", .dtype = Dtype::s8, .flops_per_s = s8_flops_per_s});
  return out;
}

TEST(Composer, adds_every_kernel_of_one_device) {
  const Estimate estimate = composed(decode(2, 8));
  EXPECT_DOUBLE_EQ(estimate.step_ns, 4 * layer_ns + ends_ns);
  EXPECT_DOUBLE_EQ(estimate.low_ns, estimate.step_ns / 2);
  EXPECT_DOUBLE_EQ(estimate.high_ns, estimate.step_ns * 3);
  EXPECT_DOUBLE_EQ(estimate.lower_bound_ns, estimate.step_ns / 4);
  EXPECT_DOUBLE_EQ(estimate.tokens_per_s, 2 / (estimate.step_ns * 1e-9));
  EXPECT_EQ(estimate.provenance, Provenance::measured);
}

TEST(Composer, a_step_is_its_kernels_times_the_period_of_its_longest_stage) {
  struct Case {
    Configuration configuration;
    double ns, tokens;
  };
  const double first = 2 * layer_ns + 6 + 8, last = 2 * layer_ns + 1 + 10 + 8;
  const Case cases[] = {
      // Two collectives per layer, one after the embedding, the logits.
      {decode(2, 8, {.tp = 2}), 4 * layer_ns + ends_ns + 4 * 2 * 7 + 7 + 9, 2},
      {decode(2, 8, {.pp = 2}), 2 * last, 2},
      {decode(3, 8, {.pp = 3}), 3 * first, 3},  // 2 of 4 layers on the first of 3 stages
      {decode(2, 8, {.pp = 2, .stages = {1, 3}}), 2 * (last + layer_ns), 2},
      {prefill(2, 16, 16), 4 * layer_ns + ends_ns, 32}};
  for (const auto& [configuration, ns, tokens] : cases) {
    const Estimate estimate = composed(configuration);
    EXPECT_DOUBLE_EQ(estimate.step_ns, ns) << configuration.key();
    EXPECT_DOUBLE_EQ(estimate.tokens_per_s, tokens / (ns * 1e-9)) << configuration.key();
  }
}

// Two layers, the embedding and a hand-over; two layers, the end and a hand-over.
TEST(Composer, one_sequence_goes_through_all_stages_of_its_pipeline) {
  const double first_stage = 2 * layer_ns + 6 + 8, last_stage = 2 * layer_ns + 1 + 10 + 8;
  const Estimate estimate = composed(decode(1, 8, {.pp = 2}));
  EXPECT_DOUBLE_EQ(estimate.step_ns, first_stage + last_stage);
  EXPECT_DOUBLE_EQ(estimate.alone->ns, estimate.step_ns) << "nothing else fills the stages";
  EXPECT_DOUBLE_EQ(estimate.tokens_per_s, 1 / (estimate.step_ns * 1e-9));
  double operators_ns = 0;
  for (const OperatorShare& share : estimate.operators) operators_ns += share.ns;
  EXPECT_DOUBLE_EQ(operators_ns, estimate.step_ns);
  // Stages of 2, 1 and 1 layers: two sequences need as long as one for its way.
  const double way = 4 * layer_ns + ends_ns + 3 * 8;
  EXPECT_DOUBLE_EQ(composed(decode(2, 8, {.pp = 3})).step_ns, std::max(way, 2 * first_stage));
}

TEST(Composer, replicas_multiply_the_throughput) {
  const Estimate one = composed(decode(2, 8));
  const Estimate two = composed(decode(4, 8, {.dp = 2}));
  EXPECT_DOUBLE_EQ(two.step_ns, one.step_ns);
  EXPECT_DOUBLE_EQ(two.tokens_per_s, 2 * one.tokens_per_s);
}

// A rank of two has an early and a late block of the queries: two launches, whose work together is
// what the graph counts for the rank.
TEST(Composer, context_parallel_attention_is_a_launch_for_every_block_of_queries) {
  const Composer split = composer(prefill(1, 16, 16, {.cp = 2}));
  const Estimate estimate = split.compose(by_op).estimate.value();
  const Estimate whole = composed(prefill(1, 16, 16));
  double attention_ns = 0, attention_flops = 0, whole_ns = 0;
  for (const OperatorShare& share : estimate.operators) {
    if (share.name != "attention") continue;
    attention_ns += share.ns;
    attention_flops += share.flops;
  }
  for (const OperatorShare& share : whole.operators) {
    if (share.name == "attention") whole_ns += share.ns;
  }
  EXPECT_DOUBLE_EQ(attention_ns, 2 * whole_ns);
  const auto op = std::ranges::find(split.graph().operators, "attention", &Operator::name);
  EXPECT_DOUBLE_EQ(attention_flops, static_cast<double>(op->count) * op->rank_work.flops());
}

TEST(Composer, the_shares_of_the_operators_add_up_to_the_step) {
  for (const Parallel& parallel : {Parallel{}, Parallel{.tp = 2}, Parallel{.pp = 2}}) {
    const Estimate estimate = composed(decode(2, 8, parallel));
    double ns = 0, low = 0, high = 0;
    for (const OperatorShare& share : estimate.operators) {
      ns += share.ns;
      low += share.low_ns;
      high += share.high_ns;
    }
    EXPECT_DOUBLE_EQ(ns, estimate.step_ns) << parallel.text();
    EXPECT_DOUBLE_EQ(low, estimate.low_ns) << parallel.text();
    EXPECT_DOUBLE_EQ(high, estimate.high_ns) << parallel.text();
  }
}

TEST(Composer, shares_are_in_execution_order_and_the_largest_is_the_bottleneck) {
  const Estimate estimate = composed(decode(2, 8), {.measured = device_with(1e9, 1e9)});
  EXPECT_EQ(estimate.operators.front().name, "embedding");
  EXPECT_EQ(estimate.operators.back().name, "lm_head");
  const OperatorShare& attention = share_of(estimate, "attention");
  EXPECT_EQ(attention.count, 4);
  EXPECT_DOUBLE_EQ(attention.ns, 80);
  EXPECT_EQ(attention.layer_type, "decoder");
  EXPECT_EQ(attention.dtype, "bf16");
  EXPECT_EQ(estimate.bottleneck, "attention (" + attention.bound + ")");
}

TEST(Composer, the_limiter_is_that_of_the_bound_beside_it) {
  const auto bound_of = [](Limiter limiter, DeviceFacts facts, std::string_view name,
                           Parallel parallel) {
    const Composer one = composer(decode(2, 8, parallel), std::move(facts));
    const Evaluation found = one.compose(with("", [=](Latency& l) { l.limiter = limiter; }));
    return share_of(found.estimate.value(), name).bound;
  };
  // Whatever the device would say: the source knew which case it bounded.
  const DeviceFacts facts{.measured = device_with(1, 1e15)};
  EXPECT_EQ(bound_of(Limiter::compute, facts, "q_proj", {}), "compute");
  EXPECT_EQ(bound_of(Limiter::memory, facts, "q_proj", {}), "memory");
  EXPECT_EQ(bound_of(Limiter::unknown, facts, "q_proj", {}), "unknown");
  EXPECT_EQ(bound_of(Limiter::memory, {.launch_floor_ns = 1000.0}, "q_proj", {}), "launch");
  EXPECT_EQ(bound_of(Limiter::memory, {}, "ffn_all_reduce", {.tp = 2}), "communication");
}

// One layer: q, kv, o, down 2 x 2 x 128 FLOPs each for batch 2, gate and up twice that; the head
// 2 x 2 x 256; attention 4 FLOPs x 4 heads x 4 wide x 2 sequences x 8 keys.
TEST(Composer, mfu_is_the_matmul_flops_over_peak_and_time) {
  const double flops = 4 * (6 * 512 + 1024) + 1024;
  const Estimate estimate = composed(decode(2, 8), {.measured = device_with(1e12, 1)});
  EXPECT_DOUBLE_EQ(estimate.matmul_flops, flops);
  ASSERT_TRUE(estimate.mfu);
  EXPECT_DOUBLE_EQ(*estimate.mfu, flops / 1e12 / (estimate.step_ns * 1e-9));
  EXPECT_FALSE(estimate.mfu_datasheet);
}

TEST(Composer, every_operator_is_judged_by_the_peak_of_its_own_dtype) {
  const double attention = 4 * 1024, linears = 4 * 6 * 512 + 1024;
  const auto times = [](const KernelCase& kernel_case) -> std::optional<Latency> {
    const auto known = op_times().find(kernel_case.problem.op);
    return Latency{.ns = known == op_times().end() ? 1 : known->second};
  };
  const Evaluation evaluation =
      composer(decode(2, 8, {}, int8()), {.measured = device_with(1e12, 4e12)}).compose(times);
  ASSERT_TRUE(evaluation.estimate);
  const double ideal_s = linears / 4e12 + attention / 1e12;
  EXPECT_DOUBLE_EQ(*evaluation.estimate->mfu, ideal_s / (evaluation.estimate->step_ns * 1e-9));
}

TEST(Composer, parts_of_one_device_do_not_double_its_peak) {
  const Configuration two = decode(2, 8, {.dp = 2});
  const Estimate cut =
      composed(two, {.datasheet = device_with(1e12, 1), .shard = {.threads = 0, .parts = 2}});
  EXPECT_DOUBLE_EQ(*cut.mfu_datasheet, cut.matmul_flops / 1e12 / (cut.step_ns * 1e-9));
  const Estimate discrete = composed(two, {.datasheet = device_with(1e12, 1)});
  EXPECT_DOUBLE_EQ(*discrete.mfu_datasheet, *cut.mfu_datasheet / 2);
}

TEST(Composer, an_mfu_without_a_peak_is_absent_with_a_reason) {
  EXPECT_FALSE(composed(decode(2, 8)).mfu);
  EXPECT_FALSE(composed(decode(2, 8)).mfu_reason.empty());
  Device no_bf16 = device_with(1, 1);
  no_bf16.peaks.erase(no_bf16.peaks.begin());
  const Estimate estimate = composed(decode(2, 8), {.measured = no_bf16});
  EXPECT_FALSE(estimate.mfu);
  says(estimate.mfu_reason, "no peak for bf16");
}

TEST(Composer, a_missing_latency_is_named_and_never_filled_in) {
  const Evaluation evaluation =
      composer(decode(2, 8)).compose([](const KernelCase& k) -> std::optional<Latency> {
        return k.problem.op == "attention" ? std::nullopt : std::optional(by_op(k));
      });
  EXPECT_EQ(evaluation.status, Status::cancelled);
  says(evaluation.reason, "attention");
  EXPECT_FALSE(evaluation.estimate);
  EXPECT_EQ(evaluation.configuration, decode(2, 8));
}

TEST(Composer, a_kernel_that_failed_gives_its_status_to_the_configuration) {
  const Evaluation evaluation = composer(decode(2, 8)).compose(with("rope", [](Latency& latency) {
    latency.status = Status::crashed;
    latency.reason = "signal 11";
  }));
  EXPECT_EQ(evaluation.status, Status::crashed);
  EXPECT_THAT(evaluation.reason, AllOf(HasSubstr("rope"), HasSubstr("signal 11")));
}

Composer::Lookup doubting(const std::string& doubted) {
  return with(doubted, [](Latency& latency) {
    latency.status = Status::suspect;
    latency.reason = "clock moved";
  });
}

TEST(Composer, a_suspect_part_below_a_twentieth_of_the_step_is_no_doubt_about_it) {
  const Evaluation evaluation = composer(decode(2, 8)).compose(doubting("embedding"));
  EXPECT_EQ(evaluation.status, Status::ok);
  EXPECT_EQ(share_of(evaluation.estimate.value(), "embedding").status, Status::suspect);
}

TEST(Composer, one_suspect_part_makes_the_estimate_suspect) {
  const Evaluation evaluation = composer(decode(2, 8)).compose(doubting("gemm"));
  EXPECT_EQ(evaluation.status, Status::suspect);
  EXPECT_THAT(evaluation.reason, AllOf(HasSubstr("gemm"), HasSubstr("clock moved")));
  ASSERT_TRUE(evaluation.estimate);
  EXPECT_EQ(evaluation.estimate->status, Status::suspect);
}

TEST(Composer, the_weakest_provenance_wins) {
  const auto of_copies = [](Provenance provenance) {
    return composer(decode(2, 8))
        .compose([=](const KernelCase& k) -> std::optional<Latency> {
          Latency latency = by_op(k);
          if (k.problem.op == "copy") latency.provenance = provenance;
          if (k.problem.op == "rope") latency.provenance = Provenance::imported;
          return latency;
        })
        .estimate->provenance;
  };
  EXPECT_EQ(of_copies(Provenance::measured), Provenance::imported);
  EXPECT_EQ(of_copies(Provenance::interpolated), Provenance::interpolated);
  EXPECT_EQ(of_copies(Provenance::roofline), Provenance::roofline);
}

TEST(Composer, memory_and_flops_are_those_of_the_graph) {
  const Composer one = composer(decode(2, 8, {.tp = 2}));
  const Estimate estimate = one.compose(by_op).estimate.value();
  EXPECT_EQ(estimate.memory_bytes_total, 2 * estimate.memory_bytes_per_rank);
  EXPECT_EQ(estimate.matmul_flops, one.graph().totals.matmul_flops);
}

class Source final : public LatencySource {
 public:
  void require(std::span<const KernelCase>) override {}
  std::optional<Latency> latency(const KernelCase& kernel_case) const override {
    return by_op(kernel_case);
  }
};

TEST(Composer, any_latency_source_can_feed_it) {
  EXPECT_DOUBLE_EQ(composer(decode(2, 8)).compose(Source()).estimate->step_ns,
                   composed(decode(2, 8)).step_ns);
}

std::vector<KernelTime> times_of(const KernelTable& table) {
  std::vector<KernelTime> out;
  for (const KernelCase& kernel_case : table.cases()) {
    out.push_back(kernel_time(by_op(kernel_case)));
  }
  return out;
}

TEST(Price, equals_the_composed_estimate_for_every_strategy) {
  KernelTable table;
  std::vector<std::pair<Configuration, StepSum>> compiled;
  const DeviceFacts facts = {.measured = device_with(1e12, 1)};
  for (const Parallel& parallel :
       {Parallel{}, Parallel{.tp = 2}, Parallel{.pp = 2}, Parallel{.dp = 2, .tp = 2, .pp = 2}}) {
    const Configuration configuration = decode(4, 8, parallel);
    compiled.emplace_back(configuration, composer(configuration, facts).compile(table));
  }
  const std::vector<KernelTime> times = times_of(table);
  for (const auto& [configuration, terms] : compiled) {
    const auto priced = price(terms, times);
    ASSERT_TRUE(priced);
    const Estimate estimate = composed(configuration, facts);
    for (const auto& [a, b] : {std::pair{priced->step_ns, estimate.step_ns},
                               {priced->low_ns, estimate.low_ns},
                               {priced->high_ns, estimate.high_ns},
                               {priced->lower_bound_ns, estimate.lower_bound_ns},
                               {priced->tokens_per_s, estimate.tokens_per_s}}) {
      EXPECT_DOUBLE_EQ(a, b) << configuration.key();
    }
    EXPECT_DOUBLE_EQ(priced->mfu.value(), estimate.mfu.value());
  }
}

TEST(Price, an_unknown_kernel_gives_no_price) {
  KernelTable table;
  const StepSum terms = composer(decode(2, 8)).compile(table);
  std::vector<KernelTime> times = times_of(table);
  ASSERT_TRUE(price(terms, times));
  times.back() = kernel_time(std::nullopt);
  EXPECT_FALSE(price(terms, times));
}

TEST(KernelTable, knows_each_kernel_once) {
  KernelTable table;
  const Composer one = composer(decode(2, 8));
  one.compile(table);
  const std::size_t count = table.cases().size();
  one.compile(table);
  EXPECT_EQ(table.cases().size(), count);
  EXPECT_EQ(count, one.kernels().size());
}

}  // namespace
}  // namespace halmark
