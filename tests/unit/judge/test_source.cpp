// What a source is built of: the words of its entry in every language, its launch, its compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "../error_of.hpp"
#include "../kernels/written.hpp"
#include "../scratch_folder.hpp"
#include "judge/build.hpp"
#include "judge/compiler.hpp"
#include "judge/entry.hpp"
#include "judge/problems.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Problem typed_gemm(Dtype src, Dtype dst) {
  return complete_problem(
      {"gemm", test::written("m=5 n=6 k=7 src_dtype=? wei_dtype=? dst_dtype=?", src, src, dst)});
}
const OpContract& gemm_contract() { return *find_contract("gemm"); }

TEST(EntryTypes, are_those_of_the_language) {
  const auto source_type = [](Dtype dtype, Language language) {
    const Dtype output = dtype == Dtype::s8 ? Dtype::s32 : Dtype::f32;
    const std::string text =
        entry_text(gemm_contract(), typed_gemm(dtype, output).params, language);
    const std::size_t begin = text.find("const ") + 6;
    return text.substr(begin, text.find('*') - begin);
  };
  const std::vector<std::pair<Dtype, std::array<const char*, 3>>> rows = {
      {Dtype::f32, {"float", "float", "float"}},
      {Dtype::f16, {"hm_f16", "half", "__half"}},
      {Dtype::bf16, {"hm_bf16", "ushort", "__nv_bfloat16"}},
      {Dtype::s8, {"int8_t", "char", "int8_t"}}};
  for (const auto& [dtype, names] : rows) {
    EXPECT_EQ(source_type(dtype, Language::c), names[0]);
    EXPECT_EQ(source_type(dtype, Language::cpp), names[0]);
    EXPECT_EQ(source_type(dtype, Language::opencl), names[1]);
    EXPECT_EQ(source_type(dtype, Language::cuda), names[2]);
  }
}

TEST(EntryCall, casts_every_operand_and_passes_every_size) {
  const Params params = typed_gemm(Dtype::f32, Dtype::f32).params;
  EXPECT_EQ(entry_call(gemm_contract(), params, Language::cpp),
            "extern \"C\" void hm_judged_run(void* const* operands, const int64_t* sizes) {\n"
            "  run((const float*)operands[0], (const float*)operands[1], (float*)operands[2], "
            "sizes[0], sizes[1], sizes[2]);\n}\n");
  EXPECT_EQ(entry_call(gemm_contract(), params, Language::cuda),
            "extern \"C\" __attribute__((visibility(\"default\"))) int hm_judged_run(void* const* "
            "operands, const int64_t* sizes, cudaStream_t stream) {\n"
            "  run((const float*)operands[0], (const float*)operands[1], (float*)operands[2], "
            "sizes[0], sizes[1], sizes[2], stream);\n  return (int)cudaGetLastError();\n}\n");
  EXPECT_EQ(entry_call(gemm_contract(), params, Language::opencl), "");
  EXPECT_THAT(entry_sizes(gemm_contract()), ElementsAre("m", "n", "k"));
}

TEST(EntryHeader, declares_types_and_the_entry_for_its_language) {
  const Params f32 = typed_gemm(Dtype::f32, Dtype::f32).params;
  const std::string c = entry_header(gemm_contract(), f32, Language::c);
  EXPECT_THAT(c, HasSubstr("typedef uint16_t hm_bf16;"));
  EXPECT_THAT(c, HasSubstr("#define HM_WEI_TRANS 0\n"));
  EXPECT_THAT(c, testing::EndsWith("int64_t k);\n"));
  EXPECT_THAT(c, HasSubstr("#ifdef __cplusplus\nextern \"C\"\n#endif\nvoid run("));
  const std::string cuda = entry_header(gemm_contract(), f32, Language::cuda);
  EXPECT_THAT(cuda, testing::StartsWith("#include <stdint.h>\n#include <cuda_bf16.h>\n"));
  EXPECT_THAT(cuda, Not(HasSubstr("hm_bf16")));
  const std::string opencl = entry_header(gemm_contract(), f32, Language::opencl);
  EXPECT_THAT(opencl, Not(HasSubstr("cl_khr_fp16")));
  EXPECT_THAT(opencl, Not(HasSubstr("#include")));
  EXPECT_THAT(
      entry_header(gemm_contract(), typed_gemm(Dtype::f16, Dtype::f32).params, Language::opencl),
      testing::StartsWith("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"));
}

TEST(Languages, have_an_ending_and_a_backend) {
  for (const auto& [name, language, backend] : {std::tuple("a.c", Language::c, "cpu"),
                                                {"a.cpp", Language::cpp, "cpu"},
                                                {"a/b.cc", Language::cpp, "cpu"},
                                                {"a.cxx", Language::cpp, "cpu"},
                                                {"a.cl", Language::opencl, "opencl"},
                                                {"a.cu", Language::cuda, "cuda"}}) {
    EXPECT_EQ(language_of(name), language) << name;
    EXPECT_STREQ(backend_of(language), backend);
  }
  EXPECT_THAT(test::error_of([] { (void)language_of("b.f90"); }).line(),
              HasSubstr("says no language"));
  EXPECT_FALSE(is_device_language(Language::c));
  EXPECT_TRUE(is_device_language(Language::cuda));
  const test::ScratchFolder folder;
  test::write_file(folder / "mine.cl", "text");
  const Source source = read_source(folder / "mine.cl");
  EXPECT_EQ(source.name, "mine.cl");
  EXPECT_EQ(source.path, folder / "mine.cl");
  EXPECT_EQ(source.text, "text");
  EXPECT_EQ(source.language, Language::opencl);
}

TEST(LaunchStatement, is_what_a_comment_says_without_blanks) {
  EXPECT_EQ(launch_statement("a\n// halmark: global = n/4, m ; local = 2\nb"),
            "global=n/4,m;local=2");
  EXPECT_EQ(launch_statement("/* halmark: global = m */ x"), "global=m");
  EXPECT_EQ(launch_statement("x"), "");
}

TEST(LaunchRange, has_one_to_three_sizes_of_whole_numbers) {
  const auto range = [](const char* statement) {
    return launch_range(statement, gemm_contract(), typed_gemm(Dtype::f32, Dtype::f32).params);
  };
  EXPECT_TRUE(range("global=m,n,k").local.empty());
  const std::pair<const char*, std::vector<std::int64_t>> globals[] = {
      {"global=m,n,k", {5, 6, 7}},
      {"global=m*n/7", {5}},  // 30 / 7, up
      {"global=m*n/5", {6}},
      {"global=4*m;local=10", {20}},
      {"global=4*m;local=16", {32}},
      {"global=1", {1}},
      {"", {30}}};  // an element of the output each
  for (const auto& [statement, global] : globals) {
    EXPECT_THAT(range(statement).global, testing::ElementsAreArray(global)) << statement;
  }
  for (const char* bad : {"global=m,n,k,m", "local=4", "global=m,n;local=4", "global=0",
                          "global=m/0", "global=m/x", "global=-1", "global=1.5", "other=2"}) {
    EXPECT_EQ(test::error_of([&] { (void)range(bad); }).exit_code(), ExitCode::refused) << bad;
  }
}

TEST(AlikeProblems, differ_in_their_sizes_alone) {
  const Params f32 = typed_gemm(Dtype::f32, Dtype::f32).params;
  Params larger = f32;
  larger.set("m", 500);
  EXPECT_TRUE(are_alike(gemm_contract(), larger, f32));
  EXPECT_FALSE(are_alike(gemm_contract(), typed_gemm(Dtype::bf16, Dtype::f32).params, f32));
}

TEST(CarriedText, has_a_line_for_everything_that_a_plugin_is_told) {
  const std::vector<Problem> problems{typed_gemm(Dtype::f32, Dtype::f32)};
  const std::string text =
      carried_text(gemm_contract(), problems,
                   {.kernel = "mine", .source = "a.cl", .launch = "global=m;local=4"});
  EXPECT_THAT(text, testing::StartsWith("kernel mine\nop gemm\nsource a.cl\nproblem\nparam "));
  EXPECT_THAT(text, HasSubstr("\nparam k 7\nparam m 5\nparam n 6\n"));
  EXPECT_THAT(text, HasSubstr("\noperand src 1 2 5 7\noperand wei 4 2 7 6\noperand dst 2 2 5 6\n"));
  EXPECT_THAT(text, HasSubstr("\nsize 5\nsize 6\nsize 7\nglobal 8\nlocal 4\n"));
  EXPECT_THAT(carried_text(gemm_contract(), problems, {.kernel = "m", .source = "a", .launch = ""}),
              HasSubstr("\nglobal 30\n"));
}

TEST(FirstError, is_the_line_that_says_what_is_wrong) {
  for (const auto& [said, line] :
       {std::pair{"a.c: note\na.c:3: error: no\nlast\n", "a.c:3: error: no"},
        {"x\ncollect2: error: ld returned 1\n", "collect2: error: ld returned 1"},
        {"ld: multiple definition of `run'\ncollect2: error\n", "ld: multiple definition of `run'"},
        {"ld: undefined reference to `f'\nmore", "ld: undefined reference to `f'"},
        {"first\nlast\n\n", "last"},
        {"first\n\nlast", "last"},
        {"", ""}}) {
    EXPECT_EQ(first_error(said), line);
  }
}

TEST(FindCompiler, is_what_is_named_or_the_first_in_the_path) {
  const test::ScratchFolder folder;
  const std::string own = folder / "hm-compiler";
  test::write_file(own, "#!/bin/sh\n");
  const std::string old = std::getenv("PATH");
  const test::ScopedVariable path("PATH", folder.path().string() + ":" + old);
  const test::ScopedVariable none("HM_TEST_CC");
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"hm-compiler"}), "") << "nobody may run it";
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"hm-absent", "hm-compiler", "sh"}), own);
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"/bin/sh"}), "/bin/sh");
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"hm-absent"}), "");
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"/hm/absent", "hm-compiler"}), own);
  {
    const test::ScopedVariable relative("PATH", ":relative:" + folder.path().string());
    EXPECT_EQ(find_compiler("HM_TEST_CC", {"hm-compiler"}), own);
    const test::ScopedVariable absent("PATH");
    EXPECT_THAT(find_compiler("HM_TEST_CC", {"sh"}), testing::EndsWith("/bin/sh"));
  }
  const test::ScopedVariable said("HM_TEST_CC", "hm-compiler");
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"sh"}), own);
  const test::ScopedVariable empty("HM_TEST_CC", "");
  EXPECT_EQ(find_compiler("HM_TEST_CC", {"hm-compiler"}), own);
}

TEST(RunCompiler, ends_with_its_output_its_first_error_or_its_limit) {
  const test::ScratchFolder folder;
  const auto run = [&](const char* script, double seconds = 20) {
    return run_compiler("/bin/sh", {"-c", script}, {.seconds = seconds}, folder.path().string());
  };
  EXPECT_THAT(*run("echo fine; echo $TMPDIR; echo $LC_ALL"),
              HasSubstr("fine\n" + folder.path().string() + "\nC\n"));
  const auto failed = run("echo 'a.c: error: x'; exit 1");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.failure.status, Status::compile_failed);
  EXPECT_EQ(failed.failure.reason, "a.c: error: x");
  EXPECT_THAT(run("exit 3").failure.reason,
              testing::AllOf(HasSubstr("the compiler ended with "), HasSubstr("said nothing")));
  for (const char* words : {"out of memory", "virtual memory exhausted", "std::bad_alloc"}) {
    const auto lost = run(("echo 'cc1: " + std::string(words) + "'; exit 1").c_str());
    EXPECT_EQ(lost.failure.status, Status::out_of_memory);
    EXPECT_EQ(lost.failure.reason, "the compiler took more than 4096 MiB of memory");
  }
  EXPECT_EQ(run("kill -KILL $$").failure.status, Status::compile_failed);
  EXPECT_THAT(run("exit 1").failure.reason, HasSubstr("exit code 1"));
  const auto slow = run("sleep 30", 0.2);
  EXPECT_EQ(slow.failure.status, Status::timed_out);
  EXPECT_EQ(slow.failure.reason, "the compiler did not end within 0.2 s (--compile-limit)");
}

}  // namespace
}  // namespace halmark::judge
