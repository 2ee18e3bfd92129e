// Words of --variants that name nothing are refused before any plugin is asked.
#include "tests/unit/error_of.hpp"
#include "tune/search/kernels/asked_variants.hpp"

#include <gmock/gmock.h>

namespace halmark::tune {
namespace {

using testing::HasSubstr;

Error refusal(const std::vector<std::string>& kernels, const std::string& op = "gemm") {
  protocol::PluginDescription plugin;
  plugin.name = "cpu";
  plugin.kernels = {{.name = "gemm_onednn", .op = "gemm"}, {.name = "copy_plain", .op = "copy"}};
  KernelCase question;
  question.problem = {op, {}};
  if (op == "all_reduce") question.problem.params.set("ranks", 2);
  const std::vector<KernelCase> questions = {question};
  return halmark::test::error_of([&] {
    asked_variants(questions,
                   {.kernels = kernels, .plugin_path = "/no/plugin.so", .plugin = plugin});
  });
}

TEST(AskedVariants, name_a_kernel_of_the_backend_and_of_an_op_that_is_measured) {
  EXPECT_EQ(refusal({"gemm_onedn"}).exit_code(), ExitCode::refused);
  EXPECT_THAT(refusal({"gemm_onedn"}).line(),
              testing::AllOf(HasSubstr("backend cpu has no kernel 'gemm_onedn'"),
                             HasSubstr("did you mean 'gemm_onednn'")));
  EXPECT_THAT(refusal({"copy_plain"}).line(),
              HasSubstr("kernel 'copy_plain' is of op copy, which is not measured here"));
  EXPECT_THAT(refusal({"gemm_onednn", "none"}).line(), HasSubstr("has no kernel 'none'"));
}

TEST(AskedVariants, parameters_have_a_name_and_a_value) {
  for (const auto& [text, item] : {std::pair{"gemm_onednn:packed", "packed"},
                                   {"gemm_onednn:=1", "=1"},
                                   {"gemm_onednn:", ""},
                                   {"gemm_onednn:a=1+", ""},
                                   {"gemm_onednn:a=1+b", "b"}}) {
    EXPECT_THAT(refusal({text}).line(), HasSubstr("--variants: '" + std::string(item) + "' of '" +
                                                  text + "' is not parameter=value"));
  }
}

TEST(AskedVariants, of_collectives_belong_to_their_library) {
  const Error error = refusal({"all"}, "all_reduce");
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("all_reduce is a collective"));
}

}  // namespace
}  // namespace halmark::tune
