#include "core/chosen/configuration.hpp"
#include "core/chosen/deployment.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

TEST(Configuration, the_key_is_the_one_that_stored_rows_carry) {
  const Configuration d{.model = "qwen3-0.6b",
                        .parallel = {.dp = 1, .tp = 2, .pp = 1, .ep = 1},
                        .precision = {.name = "bf16"},
                        .workload = {Phase::decode, 4, 1, 1024}};
  EXPECT_EQ(d.key(), "qwen3-0.6b decode b4 n1 c1024 bf16 dp1 tp2 pp1 ep1");
}

Configuration served() {
  return {.model = "qwen3-0.6b",
          .parallel = {.dp = 2, .tp = 4, .pp = 1, .ep = 8},
          .precision = {.name = "fp8"},
          .workload = {},
          .served = ServedLoad{.request = {1024, 128}, .concurrency = 16, .token_budget = 2048}};
}

TEST(Configuration, the_key_of_a_served_load_names_requests_and_workers) {
  Configuration d = served();
  EXPECT_EQ(d.key(), "qwen3-0.6b i1024 o128 x16 t2048 fp8 dp2 tp4 pp1 ep8");
  EXPECT_EQ(d.devices(), 8);
  d.workload.routing_skew = 50;
  EXPECT_EQ(d.key(), "qwen3-0.6b i1024 o128 x16 t2048 s50 fp8 dp2 tp4 pp1 ep8");
  d.workload.routing_skew = Workload::even_routing;
  d.served->mode = ServingMode::disaggregated;
  d.served->prefill = {.tp = 2};
  d.served->prefill_workers = 3;
  d.served->decode_workers = 2;
  EXPECT_EQ(d.key(),
            "qwen3-0.6b i1024 o128 x16 t2048 fp8 prefill 3x dp1 tp2 pp1 ep1 decode 2x dp2 tp4 pp1 "
            "ep8");
  EXPECT_EQ(d.devices(), 3 * 2 + 2 * 8);
}

TEST(Configuration, stated_stages_and_groups_of_layers_end_the_key) {
  Configuration d{.model = "qwen3-0.6b",
                  .parallel = {.pp = 2, .stages = {10, 18}},
                  .precision = {.name = "bf16"},
                  .workload = {Phase::decode, 4, 1, 1024}};
  EXPECT_EQ(d.key(), "qwen3-0.6b decode b4 n1 c1024 bf16 dp1 tp1 pp2 ep1 stages10+18");
  d.parallel = {.tp = 2};
  d.groups = {{.layers = 12, .dp = 2}, {.layers = 16, .tp = 2}};
  EXPECT_EQ(d.key(),
            "qwen3-0.6b decode b4 n1 c1024 bf16 dp1 tp2 pp1 ep1 groups 12:dp2.tp1.ep1 "
            "16:dp1.tp2.ep1");
}

TEST(Configuration, a_step_and_a_load_are_never_the_same) {
  Configuration step = served();
  step.served.reset();
  EXPECT_NE(step, served());
  EXPECT_NE(step.key(), served().key());
}

TEST(Workload, context_counts_the_keys_that_the_last_query_sees) {
  EXPECT_EQ((Workload{Phase::decode, 1, 1, 1024}.cached()), 1023);
  EXPECT_EQ((Workload{Phase::prefill, 1, 512, 512}.cached()), 0);
}

TEST(Parallel, experts_share_the_devices_of_the_others) {
  EXPECT_EQ((Parallel{.dp = 2, .tp = 3, .pp = 5, .ep = 7}.devices()), 30);
}

TEST(Parallel, context_ranks_are_devices_of_their_own) {
  const Parallel split{.dp = 2, .tp = 3, .pp = 5, .ep = 6, .cp = 4};
  EXPECT_EQ(split.devices(), 120);
  EXPECT_EQ(split.text(), "dp2 tp3 pp5 ep6 cp4");
}

TEST(KernelKinds, names_and_fields_are_one_to_one) {
  Precision p = Precision::uniform("u", Dtype::bf16);
  for (const KernelKindRow& row : kernel_kinds) {
    EXPECT_EQ(parse_kernel_kind(row.name), row.kind);
    EXPECT_EQ(kernel_kind_name(row.kind), row.name);
    p.set(row.kind, Dtype::f16);
    EXPECT_EQ(p.*row.field, Dtype::f16);
    EXPECT_EQ(p.of(row.kind), Dtype::f16);
  }
  EXPECT_EQ(p, Precision::uniform("u", Dtype::f16));
  EXPECT_EQ(parse_kernel_kind("linear"), std::nullopt);
}

TEST(Names, phases_modes_and_packed_weights_read_back) {
  for (const Phase p : {Phase::prefill, Phase::decode, Phase::training})
    EXPECT_EQ(parse_phase(phase_name(p)), p);
  for (const ServingMode m : {ServingMode::aggregated, ServingMode::disaggregated}) {
    EXPECT_EQ(parse_serving_mode(serving_mode_name(m)), m);
  }
  for (const PackedWeights w :
       {PackedWeights::as_stated, PackedWeights::mxfp4, PackedWeights::nvfp4,
        PackedWeights::weights_only, PackedWeights::awq, PackedWeights::gptq}) {
    EXPECT_EQ(parse_packed_weights(packed_weights_name(w)), w);
  }
  EXPECT_EQ(parse_phase("Decode"), std::nullopt);
}

TEST(Configuration, what_differs_from_its_default_is_part_of_the_key) {
  Configuration d{
      .model = "m", .precision = {.name = "bf16"}, .workload = {Phase::training, 4, 8, 8}};
  EXPECT_EQ(d.key(), "m training b4 n8 c8 bf16 dp1 tp1 pp1 ep1");
  d.workload.routing_skew = 30;
  d.workload.micro_batch = 2;
  d.workload.expert_imbalance_ppm = 1'500'000;
  EXPECT_EQ(d.key(), "m training b4 n8 c8 s30 m2 i1500000 bf16 dp1 tp1 pp1 ep1");
  d.places = {{"cpu", "0", 2, 0}, {"cuda", "1", 1, 0}};
  EXPECT_EQ(d.key(),
            "m training b4 n8 c8 s30 m2 i1500000 bf16 dp1 tp1 pp1 ep1 on cpu:0/2.0 cuda:1");
  d.groups = {{.layers = 2, .dp = 3, .tp = 4, .ep = 5, .cp = 6}};
  EXPECT_NE(d.key().find(" groups 2:dp3.tp4.ep5.cp6 on "), std::string::npos) << d.key();
}

TEST(Admission, of_a_load_is_what_it_says_and_of_a_step_what_a_replica_computes) {
  const Admission load = admission_of(served());
  EXPECT_EQ(load.sequences, 16);
  EXPECT_EQ(load.tokens_per_step, 2048);
  EXPECT_EQ(load.longest, 1024 + 128);
  Configuration step;
  step.workload = {Phase::decode, 9, 3, 77};
  step.parallel = {.dp = 2, .pp = 2};
  const Admission of_step = admission_of(step);
  EXPECT_EQ(of_step.sequences, 9);
  EXPECT_EQ(of_step.tokens_per_step, 9) << "9 sequences in 4 parts: 3 of 3 tokens";
  EXPECT_EQ(of_step.longest, 77);
  step.workload.batch = 8;
  EXPECT_EQ(admission_of(step).tokens_per_step, 6);
  step.workload.batch = 0;
  EXPECT_EQ(admission_of(step).tokens_per_step, 1);
}

TEST(Names, classes_of_the_front_read_back) {
  for (const FrontClass c : {FrontClass::certain, FrontClass::possible, FrontClass::out}) {
    EXPECT_EQ(parse_front_class(front_class_name(c)), c);
  }
  EXPECT_EQ(parse_front_class("maybe"), std::nullopt);
  EXPECT_EQ(parse_serving_mode("mixed"), std::nullopt);
  EXPECT_EQ(parse_packed_weights("fp4"), std::nullopt);
  EXPECT_EQ(kernel_kind_names().size(), kernel_kinds.size());
  EXPECT_EQ(kernel_kind_names().front(), kernel_kinds.front().name);
}

TEST(KernelKinds, linears_are_all_products_but_the_head) {
  Precision p = Precision::uniform("u", Dtype::bf16);
  p.set_linears(Dtype::s8);
  for (const Dtype d : {p.qkv, p.output, p.ffn, p.experts}) EXPECT_EQ(d, Dtype::s8);
  for (const Dtype d : {p.head, p.attention, p.kv_cache, p.activation}) EXPECT_EQ(d, Dtype::bf16);
}

}  // namespace
}  // namespace halmark
