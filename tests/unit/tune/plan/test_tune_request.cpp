// What stands in the place of a sweep's own words, and what a sweep cannot follow.
#include "tests/unit/expect.hpp"
#include "tune/steer/tune_request.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "host/machine.hpp"
#include "tune/devices/devices_here.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
using testing::HasSubstr;

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
