// What commands are asked: words that become values, and what is refused.
// What stands in the place of a sweep's own words, and what a sweep cannot follow.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "host/machine.hpp"
#include "kernels/contract.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"
#include "tune/devices/devices_here.hpp"
#include "tune/search/kernels/bench_request.hpp"
#include "tune/search/outcome.hpp"
#include "tune/sources/stated_price.hpp"
#include "tune/steer/tune_request.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
using testing::HasSubstr;

TEST(StatedPrice, is_an_owner_and_a_positive_number) {
  const StatedPrice price = parse_price("h100-sxm=2.5");
  EXPECT_EQ(price.owner, "h100-sxm");
  EXPECT_EQ(price.usd_per_hour, 2.5);
  EXPECT_EQ(parse_price("a=b=0.01").owner, "a=b") << "the last sign divides";
  for (const char* text :
       {"", "h100", "=2", "h100=", "h100=0", "h100=-1", "h100=inf", "h100=nan", "h100=2x"}) {
    EXPECT_THAT(error_of([&] { parse_price(text); }).what(), HasSubstr("is no price")) << text;
  }
}

TEST(Outcome, of_a_row_tells_wrong_results_from_missing_ones) {
  for (const Status wrong : {Status::wrong_result, Status::nan_result}) {
    EXPECT_EQ(exit_code_of(wrong), ExitCode::incorrect);
  }
  for (const Status failed : {Status::crashed, Status::timed_out, Status::out_of_memory}) {
    EXPECT_EQ(exit_code_of(failed), ExitCode::partial);
  }
  for (const Status fine : {Status::ok, Status::suspect, Status::unsupported, Status::refused}) {
    EXPECT_EQ(exit_code_of(fine), ExitCode::ok);
  }
}

TEST(Outcome, of_several_kernels_is_that_of_the_worst) {
  std::vector<KernelPoint> points(3);
  for (KernelPoint& p : points) p.status = Status::ok;
  EXPECT_EQ(exit_code_of(std::span<const KernelPoint>(points)), ExitCode::ok);
  points[0].status = Status::crashed;
  EXPECT_EQ(exit_code_of(std::span<const KernelPoint>(points)), ExitCode::partial);
  points[1].status = Status::wrong_result;
  EXPECT_EQ(exit_code_of(std::span<const KernelPoint>(points)), ExitCode::incorrect);
}

TEST(Outcome, a_sweep_without_a_front_is_no_success_but_a_night_with_rows_is) {
  TuneRun run;
  Sweep sweep;
  EXPECT_EQ(exit_code_of(run, sweep), ExitCode::partial);
  run.rows.resize(1);
  run.rows[0].status = Status::ok;
  EXPECT_EQ(exit_code_of(run, sweep), ExitCode::partial);
  sweep.nightly.emplace();
  EXPECT_EQ(exit_code_of(run, sweep), ExitCode::ok);
  run.rows[0].status = Status::crashed;
  EXPECT_EQ(exit_code_of(run, sweep), ExitCode::partial);
  run.rows[0].status = Status::ok;
  run.validations.resize(1);
  run.validations[0].status = Status::crashed;
  EXPECT_EQ(exit_code_of(run, sweep), ExitCode::partial);
  run.validations[0].status = Status::wrong_result;
  EXPECT_EQ(exit_code_of(run, sweep), ExitCode::incorrect);
}

BenchRequest gemm_request() {
  BenchRequest out;
  out.asked.op = "gemm";
  out.asked.params = "m=1,n=64,k=64";
  out.asked.dtypes = {"bf16", "f32"};
  return out;
}

std::string refusal_of(const BenchRequest& request) {
  return error_of([&] { check_request(request); }).what();
}

TEST(BenchRequest, names_an_op_and_a_type_or_a_sweep_with_variants) {
  EXPECT_NO_THROW(check_request(gemm_request()));
  BenchRequest sweep;
  sweep.sweep = "s.toml";
  EXPECT_THAT(refusal_of(sweep), HasSubstr("--sweep is for --variants"));
  sweep.variants = {"all"};
  EXPECT_NO_THROW(check_request(sweep));
  for (const bool has_params : {false, true}) {
    BenchRequest both = sweep;
    if (has_params) both.asked.params = "m=1";
    if (!has_params) both.asked.dtypes = {"bf16"};
    EXPECT_THAT(refusal_of(both), HasSubstr("brings its own problems"));
  }
}

// Products of a layer: 1024 x 1024 x 1024 in f32, 12 MiB of operands, which no cache of a core
// holds.
TEST(BenchRequest, what_is_left_out_is_a_usual_problem_that_is_said) {
  CaseRequest gemm{.op = "gemm"};
  EXPECT_EQ(take_usual(gemm), "--params m=1024,n=1024,k=1024 --dtype f32");
  const auto cases = kernel_cases(gemm);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].problem.params.value_or("k", 0), 1024);
  EXPECT_EQ(take_usual(gemm), "") << "nothing is left out any more";
  CaseRequest typed{.op = "gemm", .params = "m=1,n=2,k=3"};
  EXPECT_EQ(take_usual(typed), "--dtype f32");
  EXPECT_EQ(typed.params, "m=1,n=2,k=3");
  CaseRequest sized{.op = "gemm", .dtypes = {"bf16"}};
  EXPECT_EQ(take_usual(sized), "--params m=1024,n=1024,k=1024");
  EXPECT_EQ(sized.dtypes, std::vector<std::string>{"bf16"});
}

TEST(BenchRequest, every_op_that_is_measured_has_a_usual_problem) {
  for (const OpContract* op : all_contracts()) {
    if (!op->is_measurable()) continue;
    CaseRequest request{.op = std::string(op->name())};
    EXPECT_THAT(take_usual(request), HasSubstr("--dtype ")) << request.op;
    EXPECT_EQ(kernel_cases(request).size(), 1u) << request.op;
  }
}

TEST(BenchRequest, all_that_is_missing_is_named_at_once_with_words_that_miss_nothing) {
  CaseRequest none;
  EXPECT_THAT(error_of([&] { take_usual(none); }).what(), HasSubstr("--op is required"));
  const Error error =
      error_of([] { kernel_cases({.op = "gemm", .params = "m=512", .dtypes = {"f32"}}); });
  EXPECT_THAT(error.what(), HasSubstr("op gemm lacks 'n' (columns of dst), 'k' (columns of src"));
  EXPECT_EQ(error.remedy(), "as in --params m=512,n=1024,k=1024 --dtype f32");
}

TEST(BenchRequest, a_winner_that_is_kept_needs_three_rounds) {
  BenchRequest request = gemm_request();
  request.variants = {"all"};
  request.keeps_winners = true;
  EXPECT_NO_THROW(check_request(request)) << "as many as this machine needs";
  request.rounds = 2;
  EXPECT_THAT(refusal_of(request), HasSubstr("3 rounds or more"));
  request.rounds = 3;
  EXPECT_NO_THROW(check_request(request));
  request.rounds = 2;
  request.keeps_winners = false;
  EXPECT_NO_THROW(check_request(request));
  request.keeps_winners = true;
  request.variants.clear();
  EXPECT_NO_THROW(check_request(request)) << "no winner is chosen";
}

TEST(BenchRequest, several_backends_are_a_sweep_of_kernels_over_them) {
  BenchRequest request = gemm_request();
  EXPECT_FALSE(sweep_of_backends(request));
  request.asked.backend = "cpu:0/2,opencl";
  request.asked.mode = "hot";
  request.asked.sets = 7;
  request.rounds = 4;
  request.seconds = 0.5;
  request.search = {.sampler = "tpe", .trials = 9, .seed = 3};
  const KernelSweep sweep = sweep_of_backends(request).value();
  ASSERT_EQ(sweep.backends.size(), 2u);
  EXPECT_EQ(sweep.backends[0].text(), "cpu:0/2.0");
  EXPECT_EQ(sweep.backends[1].backend, "opencl");
  ASSERT_EQ(sweep.kernels.size(), 1u);
  EXPECT_EQ(sweep.kernels[0].op, "gemm");
  EXPECT_EQ(sweep.kernels[0].params, request.asked.params);
  EXPECT_EQ(sweep.kernels[0].dtypes, request.asked.dtypes);
  EXPECT_EQ(sweep.mode, CacheMode::hot);
  EXPECT_EQ(sweep.sets, 7);
  EXPECT_EQ(sweep.sampler, "tpe");
  EXPECT_EQ(sweep.trials, 9);
  EXPECT_EQ(sweep.seed, 3u);
  EXPECT_EQ(sweep.measure.limits.rounds, 4);
  EXPECT_EQ(sweep.measure.sample_budget_s, 0.5);
  EXPECT_GT(sweep.budget_s, 1e300) << "all that was asked for";
}

TEST(BenchRequest, several_backends_have_nothing_that_only_one_can_have) {
  BenchRequest several = gemm_request();
  several.asked.backend = "cpu,opencl";
  std::vector<BenchRequest> narrowed(8, several);
  narrowed[0].asked.kernel = "k";
  narrowed[1].asked.device = "1";
  narrowed[2].asked.parts = 2;
  narrowed[3].asked.shards = 2;
  narrowed[4].baseline = "mean";
  narrowed[5].keeps_winners = true;
  narrowed[6].sweep = "s.toml";
  narrowed[7].asked.backend = "cpu,cpu";
  for (const BenchRequest& request : narrowed) {
    EXPECT_EQ(error_of([&] { sweep_of_backends(request); }).exit_code(), ExitCode::refused);
  }
  EXPECT_TRUE(sweep_of_backends(several));
}

TEST(BenchRequest, points_are_read_in_the_order_of_the_question) {
  std::vector<KernelCase> cases(3);
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].kernel = std::string("c") + "zab"[i];
  std::vector<KernelPoint> points;
  for (const std::size_t i : {2u, 0u, 1u}) {
    points.emplace_back();
    points.back().key = cases[i].key();
  }
  const auto ordered = in_order_of(cases, points);
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(ordered[i].key, cases[i].key());
}

Sweep plain() {
  Sweep out;
  out.file = "s.toml";
  out.sampler = "grid";
  out.seed = 1;
  out.trials = 10;
  return out;
}

TEST(TuneRequest, its_words_stand_in_the_place_of_the_sweeps) {
  const Sweep same = changed_sweep({}, plain());
  EXPECT_EQ(same.sampler, "grid");
  EXPECT_EQ(same.seed, 1u);
  EXPECT_EQ(same.trials, 10);
  TuneRequest request;
  request.sampler = "nsga2";
  request.seed = 5;
  request.trials = 0;
  request.stages = "10,18";
  const Sweep sweep = changed_sweep(request, plain());
  EXPECT_EQ(sweep.sampler, "nsga2");
  EXPECT_EQ(sweep.sampler_where, "--sampler");
  EXPECT_EQ(sweep.seed, 5u);
  EXPECT_EQ(sweep.trials, 0);
  ASSERT_EQ(sweep.stages.size(), 1u);
  EXPECT_THAT(sweep.stages[0], testing::ElementsAre(10, 18));
  KernelSweep kernels;
  kernels.sampler = "grid";
  const KernelSweep changed = changed_sweep(request, kernels);
  EXPECT_EQ(changed.sampler, "nsga2");
  EXPECT_EQ(changed.seed, 5u);
  EXPECT_EQ(changed.trials, 0);
  EXPECT_EQ(changed_sweep(TuneRequest{}, kernels).sampler, "grid");
}

TEST(TuneRequest, a_night_is_a_date_of_a_sweep_with_nights) {
  TuneRequest request;
  request.night = "2026-11-22";
  expect_error([&] { changed_sweep(request, plain()); }, "[nightly]");
  Sweep nightly = plain();
  nightly.nightly.emplace();
  EXPECT_NO_THROW(changed_sweep(request, nightly));
  for (const char* night : {"2026-1-1", "today", "2026-11-22T10:00"}) {
    request.night = night;
    EXPECT_THAT(error_of([&] { changed_sweep(request, nightly); }).what(), HasSubstr("is no date"))
        << night;
  }
}

TEST(TuneRequest, a_proof_is_of_certify_alone) {
  TuneRequest request;
  request.certify.proof = "p.json";
  expect_error([&] { changed_sweep(request, plain()); }, "--proof");
  request.sampler = "certify";
  EXPECT_NO_THROW(changed_sweep(request, plain()));
}

TEST(TuneRequest, words_about_measuring_are_of_measured_sweeps_of_a_model) {
  const std::pair<const char*, std::function<void(TuneRequest&)>> words[] = {
      {"--validate", [](TuneRequest& r) { r.validate = "front"; }},
      {"--rerun", [](TuneRequest& r) { r.starts_new_run = true; }},
      {"--no-winners", [](TuneRequest& r) { r.takes_defaults = true; }},
      {"--gap", [](TuneRequest& r) { r.gap = 0; }},
      {"--safety", [](TuneRequest& r) { r.safety = 1.05; }},
      {"--brief", [](TuneRequest& r) { r.is_brief = true; }}};
  for (const auto& [word, say] : words) {
    TuneRequest request;
    request.sampler = "certify";
    say(request);
    EXPECT_NO_THROW(changed_sweep(request, plain())) << word;
    expect_error([&] { changed_sweep(request, KernelSweep{}); }, word);
    request.latency.sources = {"roofline"};
    expect_error([&] { changed_sweep(request, plain()); }, word);
  }
}

TEST(TuneRequest, gap_and_safety_are_of_certify_and_stand_in_the_place_of_its_own) {
  TuneRequest request;
  EXPECT_EQ(certify_settings(request).safety, CertifySettings{}.safety);
  request.gap = 0.1;
  request.safety = 2;
  EXPECT_EQ(certify_settings(request).eps, 0.1);
  EXPECT_EQ(certify_settings(request).safety, 2);
  expect_error([&] { changed_sweep(request, plain()); }, "--gap");
  request.gap.reset();
  expect_error([&] { changed_sweep(request, plain()); }, "--safety");
}

// Somebody else proposes, or a sampler, or the night itself.
TEST(Steering, is_one_way_of_choosing_among_others) {
  const ProposalChoice none, study{.location = "sqlite:///s.db"};
  Sweep sweep = plain();
  steer(sweep, none);
  EXPECT_EQ(sweep.sampler, "grid");
  steer(sweep, study);
  EXPECT_EQ(sweep.sampler, "proposals");
  expect_error([&] { steer(sweep, none); }, "takes what a study holds");
  sweep = plain();
  sweep.sampler_where = "--sampler";
  expect_error([&] { steer(sweep, study); }, "both say who proposes");
  sweep = plain();
  sweep.sampler_where = "s.toml:3:1";  // the file's own word gives way
  EXPECT_NO_THROW(steer(sweep, study));
  sweep = plain();
  sweep.nightly.emplace();
  expect_error([&] { steer(sweep, study); }, "[nightly]");
}

TEST(LocalMachine, computes_bf16_where_one_of_its_instruction_sets_does) {
  const std::vector<std::string> keys = isa_keys();
  const auto names = [&](const char* word) {
    return std::ranges::any_of(keys,
                               [&](const std::string& key) { return key.find(word) != key.npos; });
  };
  EXPECT_EQ(local_machine().has_bf16, names("bf16") || names("amx"));
}

}  // namespace
}  // namespace halmark::tune
