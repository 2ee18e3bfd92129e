// The entry of a source as a person writes it from the page, and what its plugin is told.
#include "judge/entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <halmark_judged.hpp>

#include "../error_of.hpp"
#include "../kernels/written.hpp"
#include "judge/problems.hpp"

namespace halmark::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype = Dtype::f32) {
  return complete_problem({"gemm", test::written("m=? n=? k=? src_dtype=? wei_dtype=? dst_dtype=?",
                                                 m, n, k, dtype, dtype, dtype)});
}
const OpContract& contract(const char* op) { return *find_contract(op); }

TEST(Entry, has_the_operands_and_the_sizes_of_the_contract) {
  EXPECT_EQ(entry_text(contract("gemm"), gemm(1, 1, 1).params, Language::cpp),
            "void run(const float* src, const float* wei, float* dst, int64_t m, int64_t n, "
            "int64_t k)");
  EXPECT_EQ(entry_text(contract("gemm"), gemm(1, 1, 1, Dtype::bf16).params, Language::cuda),
            "void run(const __nv_bfloat16* src, const __nv_bfloat16* wei, __nv_bfloat16* dst, "
            "int64_t m, int64_t n, int64_t k, cudaStream_t stream)");
  EXPECT_EQ(entry_text(contract("gemm"), gemm(1, 1, 1).params, Language::opencl),
            "__kernel void run(__global const float* src, __global const float* wei, __global "
            "float* dst, long m, long n, long k)");
}

TEST(Entry, has_choices_as_macros) {
  const Problem problem = complete_problem(
      {"activation", {{"rows", 1}, {"cols", 1}, {"kind", 2}, {"src_dtype", 2}, {"dst_dtype", 2}}});
  EXPECT_THAT(entry_header(contract("activation"), problem.params, Language::c),
              HasSubstr("#define HM_KIND 2\n"));
  EXPECT_EQ(entry_text(contract("activation"), problem.params, Language::c),
            "void run(const float* src, float* dst, int64_t rows, int64_t cols)");
}

TEST(Entry, exists_for_every_op_that_one_process_can_measure) {
  int ops = 0;
  for (const OpContract* op : all_contracts()) {
    if (!op->is_measurable() || op->is_collective()) continue;
    const std::vector<Dtype> dtypes{Dtype::f32, Dtype::s8, Dtype::s32, Dtype::c64};
    const auto params = op->conformance_params(dtypes);
    ASSERT_FALSE(params.empty()) << op->name();
    const Problem problem = complete_problem({std::string(op->name()), params.front()});
    const std::string text = entry_text(*op, problem.params, Language::cpp);
    for (const OperandSpec& o : op->operands(problem.params)) EXPECT_THAT(text, HasSubstr(o.name));
    ++ops;
  }
  EXPECT_GE(ops, 15);
}

// An op that there is not: an operand of every kind of type, one of which is read and written.
class ManyTypes : public OpContract {
 public:
  std::string_view name() const override { return "many_types"; }
  std::string_view summary() const override { return ""; }
  std::span<const ParamSpec> params() const override { return specs_; }
  std::vector<OperandSpec> operands(const Params& params) const override {
    const std::int64_t n = params.at("n");
    return {{.name = "a", .role = Role::input, .dtype = Dtype::f64, .dims = {n}},
            {.name = "b", .role = Role::state, .dtype = Dtype::s32, .dims = {n}},
            {.name = "c", .role = Role::constant, .dtype = Dtype::s8, .dims = {n}},
            {.name = "d", .role = Role::in_out, .dtype = Dtype::f8_e4m3fn, .dims = {n, 2}},
            {.name = "e", .role = Role::output, .dtype = Dtype::u8, .dims = {n, 3}}};
  }
  Work work(const Params&) const override { return {}; }
  void reference(const Params&, const InputReader&, int, std::size_t, std::span<const std::int64_t>,
                 std::span<Expected>) const override {}
  std::vector<Params> conformance_params(std::span<const Dtype>) const override {
    return {{{"n", 1}, {"az", 3}}, {{"n", 2}, {"az", 4}}, {{"n", 1}, {"az", 3}}};
  }

 private:
  static constexpr ParamSpec specs_[] = {{.name = "type", .kind = ParamKind::dtype},
                                         {.name = "az", .kind = ParamKind::choice},
                                         {.name = "n", .kind = ParamKind::size},
                                         {.name = "`{", .kind = ParamKind::flag}};
};
const Params many{{"n", 7}, {"az", 3}, {"`{", 1}, {"type", 2}};

TEST(Entry, has_every_type_and_writes_what_is_written) {
  EXPECT_EQ(entry_text(ManyTypes(), many, Language::c),
            "void run(const double* a, const int32_t* b, const int8_t* c, uint8_t* d, uint8_t* e, "
            "int64_t n)");
  EXPECT_EQ(entry_text(ManyTypes(), many, Language::opencl),
            "__kernel void run(__global const double* a, __global const int* b, __global const "
            "char* c, __global uchar* d, __global uchar* e, long n)");
}

TEST(Entry, has_a_macro_for_each_choice_and_flag_in_capital_letters) {
  EXPECT_EQ(entry_header(ManyTypes(), many, Language::opencl),
            "#define HM_AZ 3\n#define HM_`{ 1\n" + entry_text(ManyTypes(), many, Language::opencl) +
                ";\n");
}

TEST(Entry, in_cuda_has_the_headers_of_its_types) {
  EXPECT_THAT(entry_header(ManyTypes(), many, Language::cuda),
              testing::StartsWith("#include <stdint.h>\n#include <cuda_bf16.h>\n"
                                  "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n#define "));
}

TEST(LaunchRange, without_a_word_of_it_is_the_first_operand_that_is_written) {
  EXPECT_THAT(launch_range("", ManyTypes(), many).global, ElementsAre(14)) << "7 x 2";
}

TEST(LaunchRange, multiplies_divides_and_pads) {
  const auto range = [](const char* source) {
    return launch_range(launch_statement(source), contract("gemm"), gemm(33, 130, 7).params);
  };
  const LaunchRange tiled = range("// halmark: global = n/4, m; local = 16, 16\nx");
  EXPECT_THAT(tiled.global, ElementsAre(48, 48));  // 33 of 130/4 and 33 rows, in groups of 16
  EXPECT_THAT(tiled.local, ElementsAre(16, 16));
  EXPECT_THAT(range("/* halmark: global = m*n/8 */").global, ElementsAre(537));  // 4290 / 8, up
  EXPECT_THAT(range("nothing said").global, ElementsAre(33 * 130));
  EXPECT_THAT(test::error_of([&] { (void)range("// halmark: global = rows\n"); }).line(),
              HasSubstr("'rows' is neither a size"));
  EXPECT_THAT(test::error_of([&] { (void)range("// halmark: local = 4\n"); }).line(),
              HasSubstr("one to three"));
}

TEST(Conformance, keeps_types_and_flags_and_changes_the_sizes) {
  const Problem asked = gemm(512, 512, 512);
  const auto problems = conformance_problems(contract("gemm"), asked);
  ASSERT_GE(problems.size(), 4u);
  bool has_prime = false;
  for (const Problem& p : problems) {
    EXPECT_EQ(p.params.at("wei_trans"), 0);
    EXPECT_EQ(p.params.dtype("src_dtype"), Dtype::f32);
    has_prime = has_prime || p.params.at("n") == 127;
  }
  EXPECT_TRUE(has_prime);
}

TEST(Conformance, has_each_shape_once_though_two_have_the_same_sizes) {
  // copy: 4096 and other sizes, whatever was asked.
  const Problem asked = complete_problem({"copy", {{"bytes", 64}}});
  const auto problems = conformance_problems(contract("copy"), asked);
  for (const Problem& p : problems) EXPECT_EQ(std::ranges::count(problems, p), 1) << p.text();
}

TEST(CarriedText, reads_back_in_the_plugin) {
  const std::vector<Problem> problems{gemm(2, 3, 4), gemm(500, 3, 4)};
  const std::string text = carried_text(contract("gemm"), problems,
                                        {.kernel = "mine", .source = "mine one.cl", .launch = ""});
  const plugin::judged::Carried carried = plugin::judged::parse(text);
  EXPECT_EQ(carried.kernel, "mine");
  EXPECT_EQ(carried.op, "gemm");
  EXPECT_EQ(carried.source, "mine one.cl");
  EXPECT_EQ(carried.problems.size(), 3u);  // both, and the small twin of the second
  const plugin::judged::Problem& first = carried.problems.front();
  EXPECT_EQ(first.operands.size(), 3u);
  EXPECT_EQ(first.operands[1].name, "wei");
  EXPECT_EQ(first.operands[1].role, HM_ROLE_CONSTANT);
  EXPECT_EQ(first.sizes.size(), 3u);
  EXPECT_EQ(plugin::judged::footer(12, 345).size(), plugin::judged::footer_bytes);
}

}  // namespace
}  // namespace halmark::judge
