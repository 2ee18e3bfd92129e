// The fake plugin's gemm has two domains, block {8, 16, 32, 64} and impl {naive, wide}, of which
// wide with block 8 is unsupported.
#include "measure/campaign/variants.hpp"

#include <gmock/gmock.h>

#include "fake_campaign.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

const protocol::DomainDescription block{.name = "block", .values = {8, 16}, .default_value = 16};
const protocol::DomainDescription impl{
    .name = "impl", .values = {0, 1, 2}, .labels = {"a", "b", "c"}, .default_value = 1};

std::vector<std::string> texts(const std::vector<Config>& configs) {
  std::vector<std::string> out;
  for (const Config& c : configs) out.push_back(c.text());
  return out;
}

TEST(ConfigsOf, are_all_combinations_with_the_default_first_and_empty) {
  const std::vector domains{block, impl};
  EXPECT_THAT(texts(configs_of(domains, 6)),
              ElementsAre("", "block=8 impl=a", "block=8 impl=b", "block=8 impl=c",
                          "block=16 impl=a", "block=16 impl=c"));
}

TEST(ConfigsOf, beyond_the_limit_leave_the_default_in_one_parameter_at_a_time) {
  const std::vector domains{block, impl};
  EXPECT_THAT(texts(configs_of(domains, 5)),
              ElementsAre("", "block=8 impl=b", "block=16 impl=a", "block=16 impl=c"));
  EXPECT_THAT(texts(configs_of({}, 1)), ElementsAre(""));
}

// A plugin lists its domains as it likes; a config is one value whatever that order.
TEST(ConfigsOf, are_the_same_in_whatever_order_a_plugin_lists_its_domains) {
  const protocol::DomainDescription axis{
      .name = "axis", .values = {0, 1}, .labels = {"row", "column"}, .default_value = 0};
  const std::vector forward{axis, impl}, backward{impl, axis};
  auto one = configs_of(forward, 6), other = configs_of(backward, 6);
  ASSERT_EQ(one.size(), 6u);
  for (const Config& c : other) {
    EXPECT_TRUE(std::ranges::is_sorted(c.labels)) << c.text();
    EXPECT_EQ(std::ranges::count(one, c), 1) << c.text();
  }
}

std::vector<std::string> texts(const VariantSet& set) {
  std::vector<std::string> out;
  for (const Variant& v : set.variants) out.push_back(v.text() + (v.is_default ? " !" : ""));
  return out;
}

VariantSet ask(const KernelCase& question, std::vector<VariantFilter> filters = {}) {
  return find_variants(std::vector{question},
                       {.plugin_path = fake_plugin_path, .filters = std::move(filters)})
      .at(0);
}

TEST(FindVariants, lists_what_is_supported_and_says_what_is_not) {
  const VariantSet set = ask(gemm_case());
  EXPECT_EQ(set.variants.size(), 7u);
  EXPECT_EQ(texts(set).front(), "fake_gemm !");
  EXPECT_THAT(texts(set), testing::Contains("fake_gemm block=16 impl=wide"));
  EXPECT_THAT(texts(set), testing::Not(testing::Contains("fake_gemm block=8 impl=wide")));
  EXPECT_THAT(set.notes,
              ElementsAre(HasSubstr("1 configs of fake_gemm, the first block=8 impl=wide")));
}

TEST(FindVariants, keeps_the_default_beside_what_was_named) {
  const VariantSet set = ask(gemm_case(), {{"fake_gemm", {{"impl", "wide"}}}});
  EXPECT_THAT(texts(set), ElementsAre("fake_gemm !", "fake_gemm block=32 impl=wide"));
}

TEST(FindVariants, refuses_names_that_are_not_there) {
  const auto refusal = [](std::string name, std::string value) {
    return error_of([&] { ask(gemm_case(), {{"fake_gemm", {{name, value}}}}); });
  };
  EXPECT_EQ(refusal("blok", "8").exit_code(), ExitCode::refused);
  EXPECT_THAT(refusal("blok", "8").line(), HasSubstr("'block'"));
  EXPECT_THAT(refusal("impl", "wid").line(), HasSubstr("'wide'"));
  EXPECT_THAT(refusal("block", "9").line(), HasSubstr("no value '9'"));
}

TEST(FindVariants, of_a_problem_that_nothing_supports_are_none_with_the_reason) {
  KernelCase question = gemm_case();
  question.problem.params.set("src_dtype", static_cast<std::int64_t>(Dtype::s8));
  question.problem.params.set("wei_dtype", static_cast<std::int64_t>(Dtype::s8));
  question.problem.params.set("dst_dtype", static_cast<std::int64_t>(Dtype::s32));
  const VariantSet set =
      find_variants(std::vector{question},
                    {.plugin_path = fake_plugin_path,
                     .environment = {{"HALMARK_FAKE_SCRIPT", "unsupported=gemm"}}})
          .at(0);
  EXPECT_TRUE(set.variants.empty());
  EXPECT_THAT(set.notes, ElementsAre(HasSubstr("not measured")));
}

TEST(FindVariants, a_plugin_that_dies_is_an_error_of_the_machine_with_its_name) {
  const Error error = error_of([] {
    find_variants(std::vector{gemm_case()}, {.plugin_path = test::in_build("/no/hm_x.so")});
  });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_THAT(error.line(), HasSubstr("hm_x.so"));
}

}  // namespace
}  // namespace halmark
