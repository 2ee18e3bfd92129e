// What the plan of a run says of its space, and what a combination of it means.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "core/text/digest.hpp"
#include "verify/front_proof/front_proof_plan.hpp"

namespace halmark::front_proof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using enum Dtype;

Json parameter(const char* name, const std::vector<std::string>& values) {
  return {{"name", name}, {"values", values}};
}

Json plan_of(const Json& problems) {
  return {{"model", "tiny"},
          {"backend", "cpu"},
          {"routing_skew", 3},
          {"objectives", {"latency"}},
          {"left_out", {"one", "two"}},
          {"kernels", {{"of", "everything"}, {"sha256", "ab"}, {"count", 5}}},
          {"problems", problems}};
}

Json decode(const Json& parameters) {
  return {{"name", "decode"}, {"parameters", parameters}, {"constraints", Json::array()}};
}

// A proof of this plan; what it states itself is up to the test.
Proof proof_of(const Json& plan) {
  Proof out;
  out.space_line = 7;
  out.plan = PlanRecord{.line = 3, .text = plan.dump()};
  out.plan_hash = sha256_of(out.plan->text);
  return out;
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Broken& e) {
    return std::to_string(e.line) + ": " + e.what();
  }
  return "";
}

// What a plan of one domain means at its only level.
Configuration meaning(const char* domain, const std::string& value, const ModelSpec& spec = {},
                      bool has_bf16 = true) {
  const Proof proof =
      proof_of(plan_of(Json::array({decode(Json::array({parameter(domain, {value})}))})));
  return StatedPlan(proof).configuration({0, 0}, spec, has_bf16);
}

Precision precision(const std::string& name, const ModelSpec& spec = {}, bool has_bf16 = true) {
  return meaning("precision", name, spec, has_bf16).precision;
}

std::vector<Dtype> types(const Precision& p) {
  return {p.qkv, p.output, p.ffn, p.experts, p.head, p.attention, p.kv_cache, p.activation};
}

// A checkpoint whose linears of one kind are stored so.
ModelSpec stored(KernelKind kind, Dtype weights, bool quantizes_inputs = false,
                 PackedWeights format = PackedWeights::as_stated) {
  ModelSpec out;
  out.quantization = Quantization{
      .format = format, .weights = weights, .kinds = {kind}, .quantizes_inputs = quantizes_inputs};
  return out;
}

TEST(ProofPrecisions, of_one_type_are_of_everything) {
  for (const auto& [name, dtype] : {std::pair{"f32", f32}, {"bf16", bf16}, {"f16", f16}}) {
    EXPECT_EQ(types(precision(name, {}, false)), std::vector<Dtype>(8, dtype)) << name;
    EXPECT_EQ(precision(name).name, name);
  }
}

TEST(ProofPrecisions, narrower_than_16_bits_are_of_linears_between_what_the_device_computes) {
  const Dtype f8 = f8_e4m3fn, f4 = f4_e2m1;
  using Types = std::vector<Dtype>;
  const Types packed = {f4, f4, f4, f4, bf16, bf16, bf16, bf16};
  const Types integers = {s4, s4, s4, s4, bf16, bf16, bf16, bf16};
  const struct {
    const char *stated, *name;
    PackedWeights format;
    Types types;
  } precisions[] = {
      {"int8", "int8", PackedWeights::as_stated, {s8, s8, s8, s8, s8, bf16, bf16, bf16}},
      {"s8", "int8", PackedWeights::as_stated, {s8, s8, s8, s8, s8, bf16, bf16, bf16}},
      {"fp8", "fp8", PackedWeights::as_stated, {f8, f8, f8, f8, bf16, bf16, bf16, bf16}},
      {"f8_e4m3fn", "fp8", PackedWeights::as_stated, {f8, f8, f8, f8, bf16, bf16, bf16, bf16}},
      {"w8a16", "w8a16", PackedWeights::weights_only, {s8, s8, s8, s8, bf16, bf16, bf16, bf16}},
      {"w4a16", "w4a16", PackedWeights::weights_only, integers},
      {"int4", "w4a16", PackedWeights::weights_only, integers},
      {"awq", "awq", PackedWeights::awq, integers},
      {"f4_e2m1", "f4_e2m1", PackedWeights::as_stated, packed},
      {"mxfp4", "mxfp4", PackedWeights::mxfp4, packed},
      {"nvfp4", "nvfp4", PackedWeights::nvfp4, {f4, f4, f4, f4, bf16, bf16, f8, bf16}}};
  for (const auto& p : precisions) {
    EXPECT_EQ(types(precision(p.stated)), p.types) << p.stated;
    EXPECT_EQ(precision(p.stated).name, p.name);
    EXPECT_EQ(precision(p.stated).packed, p.format) << p.stated;
  }
  EXPECT_THAT(types(precision("int8", {}, false)), ElementsAre(s8, s8, s8, s8, s8, f32, f32, f32));
}

// By qkv, output, ffn, experts and head.
TEST(ProofPrecisions, are_of_the_linears_that_a_checkpoint_stores_so) {
  const Dtype f4 = f4_e2m1, f8 = f8_e4m3fn;
  const ModelSpec packed = stored(KernelKind::experts, f4, false, PackedWeights::mxfp4),
                  eight = stored(KernelKind::qkv, s8, true),
                  only = stored(KernelKind::qkv, s8, false),  // its inputs are not of 8 bits
      float8 = stored(KernelKind::qkv, f8, true);
  EXPECT_THAT(types(precision("mxfp4", packed)),
              ElementsAre(bf16, bf16, bf16, f4, bf16, bf16, bf16, bf16));
  EXPECT_THAT(types(precision("fp8", float8)),
              ElementsAre(f8, bf16, bf16, bf16, bf16, bf16, bf16, bf16));
  ModelSpec mixture;
  mixture.moe.emplace();
  const std::string experts = "00010", linears = "11110", qkv = "10000", all = "11111",
                    networks = "00110";
  for (const auto& [name, spec, narrow] : {std::tuple("w4a16", &packed, experts),
                                           {"w8a16", &packed, linears},
                                           {"int8", &packed, all},
                                           {"int8", &eight, qkv},
                                           {"w8a16", &eight, qkv},
                                           {"mxfp4", &eight, linears},
                                           {"nvfp4", &packed, linears},
                                           {"nvfp4", &mixture, networks},
                                           {"gptq", &mixture, linears},
                                           {"int8", &only, all},
                                           {"w8a16", &only, qkv},
                                           {"int8", &float8, all},
                                           {"w8a16", &float8, qkv}}) {
    std::string found;
    for (const Dtype type : types(precision(name, *spec))) found += type == bf16 ? '0' : '1';
    EXPECT_EQ(found.substr(0, 5), narrow) << name;
  }
}

TEST(ProofPrecisions, of_a_checkpoint_are_what_it_states) {
  ModelSpec cache;
  cache.quantization = Quantization{.kv_cache = f8_e4m3fn};
  const struct {
    const char* stated;
    ModelSpec spec;
    const char* name;
    Dtype kv_cache = bf16;
  } cases[] = {
      {"checkpoint", {}, "bf16"},
      {"checkpoint", stored(KernelKind::qkv, s8, true), "int8"},
      {"checkpoint", stored(KernelKind::qkv, s8, false), "w8a16"},
      {"checkpoint", stored(KernelKind::qkv, f8_e4m3fn, true), "fp8"},
      {"checkpoint", stored(KernelKind::qkv, f8_e4m3fn, false), "w8a16"},
      {"checkpoint", stored(KernelKind::qkv, f4_e2m1), "w4a16"},
      {"checkpoint", stored(KernelKind::qkv, f4_e2m1, false, PackedWeights::mxfp4), "mxfp4"},
      {"checkpoint", cache, "bf16+kv_cache=f8_e4m3fn", f8_e4m3fn},
      {"checkpoint+kv_cache=bf16", cache, "bf16"},
      {"bf16", cache, "bf16"},
      {"fp8", cache, "fp8", f8_e4m3fn},
      {"fp8", {}, "fp8"}};
  for (const auto& [stated, spec, name, kv_cache] : cases) {
    if (std::string_view(stated) != "bf16") {
      EXPECT_EQ(precision(stated, spec).name, name);
    }
    EXPECT_EQ(precision(stated, spec).kv_cache, kv_cache) << stated << name;
  }
}

TEST(ProofPrecisions, say_in_their_name_what_is_set_apart) {
  const Precision one = precision("fp8+kv_cache=fp8"),
                  both = precision("bf16+head=f32+kv_cache=s8"),
                  cache = meaning("kv_cache", "f16").precision;
  EXPECT_EQ(one.name, "fp8+kv_cache=f8_e4m3fn");
  EXPECT_EQ(one.kv_cache, f8_e4m3fn);
  EXPECT_EQ(one.attention, bf16);
  EXPECT_EQ(both.name, "bf16+head=f32+kv_cache=s8");
  EXPECT_EQ(both.head, f32);
  EXPECT_EQ(both.kv_cache, s8);
  EXPECT_EQ(precision("bf16+head=bf16").name, "bf16") << "no difference";
  EXPECT_EQ(cache.name, "+kv_cache=f16");
  EXPECT_EQ(cache.kv_cache, f16);
  for (const auto& [name, why] : {std::pair("bf16+head", "7: 'head' is no kind=dtype"),
                                  {"bf16+heads=f32", "7: 'heads' is no kind of kernel"},
                                  {"bf16+head=f33", "7: 'f33' is no data type"},
                                  {"w5a16", "7: 'w5a16' is no precision that is known here"}}) {
    EXPECT_EQ(refusal([&, stated = name] { precision(stated); }), why);
  }
}

TEST(ProofSizes, are_those_of_the_workload_and_of_the_parallel_degrees) {
  const Configuration four = meaning("batch", "4");
  EXPECT_EQ(four.workload.new_tokens, 1);
  EXPECT_EQ(four.workload.routing_skew, 3);
  EXPECT_EQ(four.workload.phase, Phase::decode);
  EXPECT_EQ(four.model, "tiny");
  const auto sizes = [](const char* domain, const char* value = "2") {
    const auto& [w, p] =
        std::pair(meaning(domain, value).workload, meaning(domain, value).parallel);
    return std::vector<std::int64_t>{w.batch, w.context, w.new_tokens, p.dp,
                                     p.tp,    p.pp,      p.ep,         p.cp};
  };
  const char* const domains[] = {"batch", "context", "new_tokens", "dp", "tp", "pp", "ep", "cp"};
  for (std::size_t i = 0; i < std::size(domains); ++i) {
    EXPECT_EQ(sizes(domains[i]).at(i), 2) << domains[i];
  }
  EXPECT_EQ(sizes("batch", "1073741824").front(), 1 << 30);
  const auto why = [](const char* domain, const char* value) {
    return refusal([&] { meaning(domain, value); });
  };
  EXPECT_EQ(why("sp", "2"), "7: domain 'sp' says nothing of a configuration that is known here");
  for (const char* size : {"0", "-1", "4x", "", "1073741825"}) {
    EXPECT_EQ(why("batch", size), "7: '" + std::string(size) + "' is no size of this domain");
  }
}

// Two problems: the second has a batch of its own and another domain.
Json two_problems() {
  Json first = decode(Json::array({parameter("batch", {"1", "4"}), parameter("tp", {"1", "2"})}));
  first["constraints"] = {{{"name", "small"}, {"expression", "batch < 4"}}};
  const Json second = {
      {"name", "prefill"},
      {"parameters", Json::array({parameter("batch", {"4", "8"}), parameter("cp", {"2"})})},
      {"constraints", Json::array()}};
  return plan_of({first, second});
}

Proof whole_proof(const Json& plan) {
  Proof out = proof_of(plan);
  out.domains = {{"phase", {"decode", "prefill"}},
                 {"batch", {"1", "4", "8"}},
                 {"tp", {"1", "2"}},
                 {"cp", {"2"}}};
  out.constraints = {{"small", "phase != \"decode\" or (batch < 4)"},
                     {"of_another_phase", ""},
                     {"impossible_or_out_of_memory", ""}};
  out.fronts = {"decode", "prefill"};
  out.target = TargetRecord{.line = 4, .backend = "cpu"};
  out.model = ModelRecord{.line = 5, .id = "tiny"};
  out.objectives = {{"latency", false, "ns"}};
  out.run_objective = 0;
  return out;
}

TEST(ProofPlans, state_a_space_of_all_problems) {
  const Proof proof = whole_proof(two_problems());
  const StatedPlan plan(proof);
  EXPECT_EQ(refusal([&] { plan.check_space(); }), "");
  EXPECT_TRUE(plan.is_whole());
  EXPECT_EQ(plan.kernel_count(), 5u);
  EXPECT_EQ(plan.kernels_sha256(), "ab");
  EXPECT_EQ(plan.model(), "tiny");
  EXPECT_EQ(plan.backend(), "cpu");
  EXPECT_THAT(plan.left_out(), ElementsAre("one", "two"));
  const auto is_of = [&](std::size_t phase, std::size_t batch, std::size_t tp) {
    return plan.is_of_a_problem({phase, batch, tp, 0});
  };
  EXPECT_TRUE(is_of(0, 0, 1));
  EXPECT_TRUE(is_of(0, 1, 0));
  EXPECT_FALSE(is_of(0, 2, 0)) << "a batch of the other one";
  EXPECT_FALSE(is_of(1, 0, 0));
  EXPECT_TRUE(is_of(1, 2, 0));
  EXPECT_FALSE(is_of(1, 2, 1)) << "a domain that it has not, at another level than the first";
  const Configuration prefill = plan.configuration({1, 2, 0, 0}, {}, true);
  EXPECT_EQ(prefill.workload.phase, Phase::prefill);
  EXPECT_EQ(prefill.workload.batch, 8);
  EXPECT_EQ(prefill.parallel.cp, 2);
  EXPECT_EQ(plan.configuration({0, 1, 1, 0}, {}, true).parallel.cp, 1) << "it has no such domain";
  EXPECT_EQ(plan.configuration({0, 1, 1, 0}, {}, true).parallel.tp, 2);
}

TEST(ProofPlans, are_held_against_what_a_proof_states) {
  const char *domains = "7: the domains are not those of the plan",
             *constraints = "7: the constraints are not those of the plan";
  const std::pair<void (*)(Proof&), const char*> changes[] = {
      {[](Proof& p) { p.domains[1].values[0] = "2"; }, domains},
      {[](Proof& p) { p.domains[1].name = "b"; }, domains},
      {[](Proof& p) { p.constraints[0].name = "x"; }, constraints},
      {[](Proof& p) { p.constraints[0].expression = "x"; }, constraints},
      {[](Proof& p) { p.fronts.pop_back(); }, "1: the fronts are not those of the plan"},
      {[](Proof& p) { p.target->backend = "x"; },
       "4: backend and device are not those of the plan"},
      {[](Proof& p) { p.model->id = "x"; },
       "5: name and dimensions of the model are not those of the plan"},
      {[](Proof& p) { p.plan_hash = "x"; },
       "3: the plan is not the one whose hash the header has"}};
  for (const auto& [change, why] : changes) {
    Proof proof = whole_proof(two_problems());
    change(proof);
    EXPECT_EQ(refusal([&] { StatedPlan(proof).check_space(); }), why);
  }
  const Proof odd = proof_of({{"model", "tiny"}});
  EXPECT_THAT(refusal([&] { StatedPlan plan(odd); }), StartsWith("3: the plan cannot be read: "));
  const Proof phase = proof_of(
      plan_of({{{"name", "x"}, {"parameters", Json::array()}, {"constraints", Json::array()}}}));
  EXPECT_EQ(refusal([&] { StatedPlan(phase).configuration({0}, {}, true); }), "7: 'x' is no phase");
}

// Objectives without a formula are passed over wherever they stand.
TEST(ProofPlans, have_objectives_in_their_order) {
  const Objective latency{"latency", false, "ns"}, throughput{"throughput", true, "tokens/s"},
      memory{"memory", false, "bytes"};
  const std::string other = "1: the objectives are not those of the plan",
                    runs = "1: runs are said to be of another objective than latency";
  const struct {
    std::vector<const char*> planned;
    std::vector<Objective> stated;
    std::int64_t run_objective;
    std::string why;
  } cases[] = {
      {{"energy", "throughput", "memory", "latency"}, {throughput, memory, latency}, 2, ""},
      {{"throughput"}, {throughput}, -1, ""},
      {{"throughput", "latency"}, {throughput}, -1, other},
      {{"throughput"}, {throughput, latency}, -1, other},
      {{"throughput"}, {latency}, -1, other},
      {{"throughput"}, {{"throughput", false, "tokens/s"}}, -1, other},
      {{"throughput"}, {{"throughput", true, "tokens"}}, -1, other},
      {{"latency"}, {{"latency", true, "ns"}}, 0, other},
      {{"memory"}, {{"memory", true, "bytes"}}, -1, other},
      {{"throughput"}, {throughput}, 0, runs},
      {{"throughput", "latency"}, {throughput, latency}, 0, runs},
      {{"throughput", "latency"}, {throughput, latency}, -1, runs}};
  for (const auto& c : cases) {
    Json plan = two_problems();
    plan["objectives"] = c.planned;
    Proof proof = whole_proof(plan);
    proof.objectives = c.stated;
    proof.run_objective = c.run_objective;
    EXPECT_EQ(refusal([&] { StatedPlan(proof).check_space(); }), c.why);
  }
}

}  // namespace
}  // namespace halmark::front_proof
