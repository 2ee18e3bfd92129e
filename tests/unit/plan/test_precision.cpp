// What the names of precisions mean, and what a sweep or an option sets apart from them.
#include "plan/precision.hpp"

#include <gmock/gmock.h>

#include "plan/device/device_file.hpp"
#include "plan/sweep.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const PrecisionFacts with_bf16 = {.has_bf16 = true};
const PrecisionFacts without_bf16 = {.has_bf16 = false};

std::vector<Dtype> types(const Precision& p) {
  return {p.qkv, p.output, p.ffn, p.experts, p.head, p.attention, p.kv_cache, p.activation};
}

std::string refusal_of(const std::function<void()>& act) {
  const Error error = test::error_of(act);
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(PrecisionRecipes, every_name_is_its_own) {
  for (const std::string& name : precision_recipes()) {
    EXPECT_EQ(precision_of(name, with_bf16).name, name);
    EXPECT_THAT(precision_help(), HasSubstr(' ' + name));
  }
}

TEST(PrecisionRecipes, uniform_ones_are_of_one_type_on_every_device) {
  for (const auto& [name, dtype] :
       {std::pair{"f32", Dtype::f32}, {"bf16", Dtype::bf16}, {"f16", Dtype::f16}}) {
    for (const PrecisionFacts& facts : {with_bf16, without_bf16}) {
      EXPECT_EQ(types(precision_of(name, facts)), std::vector<Dtype>(8, dtype)) << name;
    }
  }
}

TEST(PrecisionRecipes, int8_and_fp8_keep_what_the_device_computes_around_their_linears) {
  using enum Dtype;
  EXPECT_THAT(types(precision_of("int8", with_bf16)),
              ElementsAre(s8, s8, s8, s8, s8, bf16, bf16, bf16));
  EXPECT_THAT(types(precision_of("int8", without_bf16)),
              ElementsAre(s8, s8, s8, s8, s8, f32, f32, f32));
  const Dtype f8 = f8_e4m3fn;
  EXPECT_THAT(types(precision_of("fp8", with_bf16)),
              ElementsAre(f8, f8, f8, f8, bf16, bf16, bf16, bf16));
  EXPECT_THAT(types(precision_of("fp8", without_bf16)),
              ElementsAre(f8, f8, f8, f8, f32, f32, f32, f32));
}

TEST(PrecisionRecipes, packed_ones_narrow_what_the_checkpoint_packs) {
  using enum Dtype;
  const PrecisionFacts experts_packed = {.packed = {{KernelKind::experts}},
                                         .format = PackedWeights::mxfp4};
  const Precision mxfp4 = precision_of("mxfp4", experts_packed);
  EXPECT_THAT(types(mxfp4), ElementsAre(bf16, bf16, bf16, f4_e2m1, bf16, bf16, bf16, bf16));
  EXPECT_EQ(mxfp4.packed, PackedWeights::mxfp4);
  EXPECT_EQ(precision_of("nvfp4", experts_packed).packed, PackedWeights::nvfp4);
  EXPECT_EQ(precision_of("w4a16", experts_packed).packed, PackedWeights::weights_only);
  EXPECT_EQ(precision_of("f4_e2m1", experts_packed).packed, PackedWeights::as_stated);
  EXPECT_THAT(types(precision_of("mxfp4", with_bf16)),
              ElementsAre(f4_e2m1, f4_e2m1, f4_e2m1, f4_e2m1, bf16, bf16, bf16, bf16))
      << "not stored: of all linears";
}

// Linears that a precision packs where the checkpoint has not the format that is asked for.
TEST(PrecisionRecipes, packed_ones_of_other_checkpoints_are_of_the_published_recipes) {
  using enum Dtype;
  const std::vector<KernelKind> experts = {KernelKind::experts};
  const PrecisionFacts dense = with_bf16, mixture = {.has_experts = true},
                       int4 = {.packed = experts, .weights = s4, .has_experts = true},
                       fp8 = {.packed = experts,
                              .weights = f8_e4m3fn,
                              .quantizes_inputs = true,
                              .has_experts = true};
  struct Case {
    const char* name;
    const PrecisionFacts& facts;
    std::vector<Dtype> linears;  // qkv, output, ffn, experts
    PackedWeights packed;
  };
  const std::vector<Dtype> all_floats(4, f4_e2m1), all_integers(4, s4),
      networks = {bf16, bf16, f4_e2m1, f4_e2m1}, stored = {bf16, bf16, bf16, s4};
  for (const Case& c : {Case{"nvfp4", dense, all_floats, PackedWeights::nvfp4},
                        {"nvfp4", mixture, networks, PackedWeights::nvfp4},
                        {"nvfp4", int4, networks, PackedWeights::nvfp4},
                        {"nvfp4", fp8, networks, PackedWeights::nvfp4},
                        {"mxfp4", fp8, networks, PackedWeights::mxfp4},
                        {"awq", dense, all_integers, PackedWeights::awq},
                        {"awq", int4, all_integers, PackedWeights::awq},
                        {"gptq", mixture, all_integers, PackedWeights::gptq},
                        {"w4a16", mixture, all_integers, PackedWeights::weights_only},
                        {"w4a16", int4, stored, PackedWeights::weights_only},
                        {"int4", int4, stored, PackedWeights::weights_only},
                        {"f4_e2m1", int4, stored, PackedWeights::as_stated}}) {
    const Precision p = precision_of(c.name, c.facts);
    std::vector<Dtype> found = types(p);
    EXPECT_EQ(std::vector(found.begin(), found.begin() + 4), c.linears) << c.name;
    EXPECT_EQ(p.head, bf16) << c.name;
    EXPECT_EQ(p.packed, c.packed) << c.name;
    EXPECT_EQ(p.kv_cache, c.packed == PackedWeights::nvfp4 ? f8_e4m3fn : bf16) << c.name;
  }
  EXPECT_EQ(precision_of("nvfp4+kv_cache=bf16", dense).kv_cache, bf16);
  EXPECT_EQ(precision_of("nvfp4", {.packed = experts, .format = PackedWeights::nvfp4}).kv_cache,
            bf16)
      << "stored, and no cache is stated";
}

TEST(PrecisionRecipes, servers_choose_the_cache_that_nothing_else_states) {
  const PrecisionFacts served = {.served_cache = Dtype::f8_e4m3fn};
  const PrecisionFacts stated = {.kv_cache = Dtype::bf16, .served_cache = Dtype::f8_e4m3fn};
  EXPECT_EQ(precision_of("fp8", served), precision_of("fp8+kv_cache=fp8", {}));
  EXPECT_EQ(precision_of("fp8", served).name, "fp8+kv_cache=f8_e4m3fn");
  EXPECT_EQ(precision_of("fp8", stated), precision_of("fp8", {}));
  for (const char* name : {"bf16", "int8", "w4a16", "fp8+kv_cache=bf16"}) {
    EXPECT_EQ(precision_of(name, served), precision_of(name, {})) << name;
  }
}

TEST(PrecisionRecipes, spellings_of_a_dtype_name_its_recipe) {
  EXPECT_EQ(precision_of("fp32", with_bf16).name, "f32");
  EXPECT_EQ(precision_of("BFloat16", with_bf16).name, "bf16");
  EXPECT_EQ(precision_of("s8", with_bf16).name, "int8");
  EXPECT_EQ(precision_of("int4", with_bf16).name, "w4a16");
  EXPECT_EQ(precision_of("f8_e4m3fn", with_bf16).name, "fp8");
  EXPECT_THAT(refusal_of([] { precision_of("bf61", with_bf16); }),
              testing::AllOf(HasSubstr("unknown dtype 'bf61'"), HasSubstr("bf16")));
  EXPECT_THAT(refusal_of([] { precision_of("u4", with_bf16); }), HasSubstr("unknown dtype 'u4'"));
}

TEST(PrecisionRecipes, a_device_says_by_its_peaks_whether_it_computes_bf16) {
  Device device;
  EXPECT_TRUE(computes_bf16(device)) << "nothing is known against it";
  device.peaks.push_back({.path = "f16_matrix", .dtype = Dtype::f16, .flops_per_s = 1e14});
  EXPECT_FALSE(computes_bf16(device));
  device.peaks.push_back({.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e14});
  EXPECT_TRUE(computes_bf16(device));
}

TEST(PrecisionOverrides, change_one_kind_and_say_so_in_the_name) {
  const Precision base = precision_of("bf16", with_bf16);
  const Precision one = overridden(base, parse_precision_overrides("kv_cache=fp8"));
  EXPECT_EQ(one.name, "bf16+kv_cache=f8_e4m3fn");
  EXPECT_EQ(one.kv_cache, Dtype::f8_e4m3fn);
  EXPECT_EQ(one.attention, Dtype::bf16);
  // In the order of the kinds, whatever the order in which they are written.
  EXPECT_EQ(overridden(base, parse_precision_overrides("kv_cache=s8,head=f32")).name,
            "bf16+head=f32+kv_cache=s8");
  EXPECT_EQ(overridden(base, parse_precision_overrides("head=bf16")), base)
      << "what the recipe has already is no difference";
  EXPECT_EQ(overridden(base, parse_precision_overrides("")), base);
}

TEST(PrecisionOverrides, every_kind_can_be_set) {
  for (const KernelKindRow& row : kernel_kinds) {
    const Precision p = overridden(precision_of("bf16", with_bf16), {{{row.kind, Dtype::f16}}});
    for (const KernelKindRow& other : kernel_kinds) {
      EXPECT_EQ(p.of(other.kind), other.kind == row.kind ? Dtype::f16 : Dtype::bf16) << row.name;
    }
  }
}

TEST(PrecisionOverrides, refusals_name_what_is_wrong_and_what_is_near) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { parse_precision_overrides(text); });
  };
  EXPECT_THAT(refusal("kv_cach=s8"),
              testing::AllOf(HasSubstr("unknown kind 'kv_cach'"), HasSubstr("kv_cache")));
  test::expect_each(refusal, {{"kv_cache=f8_e4m", "f8_e4m3fn"},
                              {"kv_cache", "unknown dtype ''"},
                              {"head=s8,head=bf16", "sets head twice"}});
}

TEST(PrecisionNames, are_typed_as_they_are_printed) {
  const Precision p = precision_of("fp8+kv_cache=fp8+attention=fp8", with_bf16);
  EXPECT_EQ(p.name, "fp8+attention=f8_e4m3fn+kv_cache=f8_e4m3fn") << "in the order of the kinds";
  EXPECT_EQ(p.kv_cache, Dtype::f8_e4m3fn);
  EXPECT_EQ(p.attention, Dtype::f8_e4m3fn);
  EXPECT_EQ(p.head, Dtype::bf16);
  EXPECT_EQ(precision_of(p.name, with_bf16), p);
  // What a name sets apart is set again by what stands beside it.
  EXPECT_EQ(overridden(p, parse_precision_overrides("kv_cache=s8,head=fp8")).name,
            "fp8+head=f8_e4m3fn+attention=f8_e4m3fn+kv_cache=s8");
  EXPECT_THAT(refusal_of([] { precision_of("fp8+kv_cach=s8", with_bf16); }),
              testing::AllOf(HasSubstr("unknown kind 'kv_cach'"), HasSubstr("kv_cache")));
  EXPECT_THAT(refusal_of([] { precision_of("fp9+kv_cache=s8", with_bf16); }),
              HasSubstr("unknown dtype 'fp9'"));
}

TEST(PrecisionNames, a_checkpoint_stands_for_the_recipe_that_it_states) {
  using enum KernelKind;
  EXPECT_EQ(precision_of("checkpoint", with_bf16), precision_of("bf16", with_bf16));
  PrecisionFacts facts{
      .packed = {{qkv, ffn}}, .weights = Dtype::f8_e4m3fn, .quantizes_inputs = true};
  facts.kv_cache = Dtype::s8;
  const Precision fp8 = precision_of("checkpoint", facts);
  EXPECT_EQ(fp8, precision_of("fp8", facts)) << "the cache is the recipe's";
  EXPECT_EQ(fp8.name, "fp8");
  EXPECT_EQ(fp8.output, Dtype::bf16) << "kept";
  EXPECT_EQ(fp8.kv_cache, Dtype::s8);
  EXPECT_EQ(precision_of("checkpoint+kv_cache=bf16", facts).name, "fp8+kv_cache=bf16");
  EXPECT_EQ(precision_of("int8", facts).ffn, Dtype::s8) << "not stored: asked for";
  EXPECT_EQ(precision_of("bf16", facts).kv_cache, Dtype::bf16) << "one type for everything";
  facts.quantizes_inputs = false;
  EXPECT_EQ(precision_of("checkpoint", facts).name, "w8a16");
  EXPECT_EQ(precision_of("checkpoint", facts).packed, PackedWeights::weights_only);
  facts.weights = Dtype::s4;
  facts.format = PackedWeights::gptq;
  EXPECT_EQ(precision_of("checkpoint", facts).name, "gptq");
  EXPECT_EQ(precision_of("checkpoint", facts).qkv, Dtype::s4);
  facts.format = PackedWeights::as_stated;
  EXPECT_EQ(precision_of("checkpoint", facts).name, "w4a16");
  facts.packed.reset();
  EXPECT_EQ(precision_of("checkpoint", facts).name, "bf16+kv_cache=s8");
}

const std::string minimal =
    "name = 'a'\n"
    "model = 'qwen3-0.6b'\n"
    "dtypes = ['bf16', 'int8']\n"
    "[[workload]]\n"
    "phase = 'decode'\n"
    "batch = 1\n"
    "context = 8\n";

std::vector<std::string> names_of(const Sweep& sweep) {
  std::vector<std::string> out;
  for (const Precision& p : precisions_of(sweep, sweep.workloads.front(), with_bf16)) {
    out.push_back(p.name);
  }
  return out;
}

TEST(SweptPrecisions, are_the_recipes_without_a_table) {
  EXPECT_THAT(names_of(parse_sweep(minimal, "s.toml")), ElementsAre("bf16", "int8"));
}

TEST(SweptPrecisions, have_a_cache_of_their_own_where_their_name_says_so) {
  std::string text = minimal;
  text.replace(text.find("'int8'"), 6, "'fp8+kv_cache=fp8', 'checkpoint'");
  EXPECT_THAT(names_of(parse_sweep(text, "s.toml")), ElementsAre("bf16", "fp8+kv_cache=f8_e4m3fn"))
      << "without a statement a checkpoint is bf16, which is there already";
  text.replace(text.find("cache=fp8"), 9, "cache=fp9");
  EXPECT_THAT(
      refusal_of([&] { parse_sweep(text, "s.toml"); }),
      testing::AllOf(HasSubstr("s.toml:3:10"), HasSubstr("unknown dtype 'fp9' of kv_cache")));
}

TEST(SweptPrecisions, are_every_combination_with_a_table) {
  const Sweep s = parse_sweep(
      minimal + "[precision]\nkv_cache = ['bf16', 'f8_e4m3fn']\nhead = 'bf16'\n", "s.toml");
  EXPECT_THAT(names_of(s), ElementsAre("bf16", "bf16+kv_cache=f8_e4m3fn", "int8+head=bf16",
                                       "int8+head=bf16+kv_cache=f8_e4m3fn"));
}

TEST(SweptPrecisions, one_that_two_combinations_give_is_there_once) {
  const Sweep s = parse_sweep(minimal + "[precision]\nkv_cache = ['bf16', 'bfloat16']\n", "s.toml");
  EXPECT_THAT(names_of(s), ElementsAre("bf16", "int8"));
}

TEST(SweptPrecisions, refusals_have_a_place) {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { parse_sweep(minimal + text, "s.toml"); });
  };
  EXPECT_THAT(refusal("[precision]\nkv_cahe = 's8'\n"),
              testing::AllOf(HasSubstr("s.toml:9:1"), HasSubstr("kv_cache")));
  EXPECT_THAT(refusal("[precision]\nkv_cache = 'f8_e4m'\n"),
              testing::AllOf(HasSubstr("s.toml:9:"), HasSubstr("unknown dtype 'f8_e4m'"),
                             HasSubstr("f8_e4m3fn")));
}

TEST(PrecisionNames, refusals_suggest_recipes_and_types) {
  EXPECT_THAT(refusal_of([] { precision_of("chekpoint", with_bf16); }), HasSubstr("'checkpoint'"));
  EXPECT_THAT(refusal_of([] {
                std::string text = minimal;
                parse_sweep(text.replace(text.find("'int8'"), 6, "'chekpoint'"), "s.toml");
              }),
              testing::AllOf(HasSubstr("'dtypes'"), HasSubstr("'checkpoint'")));
  const std::string help = precision_help();
  EXPECT_TRUE(help.starts_with("A type per kernel kind, by name: f32, bf16, f16, int8")) << help;
  EXPECT_THAT(help, HasSubstr(", checkpoint (what the configuration of the model states"));
}

// Widths of what the checkpoint stores: packed recipes take what is narrower than 8 bits, w8a16
// what has 8.
TEST(PrecisionRecipes, of_stored_weights_go_by_their_width) {
  using enum Dtype;
  const auto ffn_of = [](const char* name, Dtype weights, bool quantizes_inputs) {
    return precision_of(name, {.packed = {{KernelKind::ffn}},
                               .weights = weights,
                               .quantizes_inputs = quantizes_inputs})
        .ffn;
  };
  EXPECT_EQ(ffn_of("w4a16", s4, false), s4);
  EXPECT_EQ(ffn_of("w4a16", s8, false), s4) << "not stored: asked for";
  EXPECT_EQ(ffn_of("w8a16", s8, false), s8);
  EXPECT_EQ(ffn_of("w8a16", f8_e4m3fn, false), f8_e4m3fn);
  EXPECT_EQ(ffn_of("w8a16", s4, false), s8) << "not stored: asked for";
  const PrecisionFacts narrow_ffn = {
      .packed = {{KernelKind::ffn}}, .weights = s8, .quantizes_inputs = true};
  EXPECT_EQ(precision_of("int8", narrow_ffn).qkv, bf16) << "kept as it is stored";
  EXPECT_EQ(precision_of("int8", narrow_ffn).ffn, s8);
  EXPECT_EQ(precision_of("checkpoint", narrow_ffn).name, "int8");
  EXPECT_EQ(precision_of("w8a16", with_bf16).qkv, s8);
  EXPECT_EQ(precision_of("awq", with_bf16).packed, PackedWeights::awq);
  EXPECT_EQ(precision_of("gptq", with_bf16).packed, PackedWeights::gptq);
}

}  // namespace
}  // namespace halmark
