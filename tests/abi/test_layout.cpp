#include <gtest/gtest.h>
#include <halmark_plugin.hpp>

#include <algorithm>
#include <string>

#include "core/dtype.hpp"
#include "kernels/contract.hpp"
#include "layout.hpp"
#include "tests/checkout.hpp"

extern "C" int header_works_in_c11(void);
int header_works_in_cxx20();

namespace halmark::abi_test {
namespace {

const std::string tests_folder = test::in_source("/tests/abi");
const std::string abi_folder = test::in_source("/framework/abi");

TEST(AbiHeader, compiles_pedantically_as_c11_and_as_cxx20) {
  EXPECT_EQ(header_works_in_c11(), 1);
  EXPECT_EQ(header_works_in_cxx20(), 1);
}

TEST(AbiHeader, no_struct_has_a_padding_hole) {
  for (const Layout& layout : current_layout()) {
    std::size_t end = 0;
    for (const Field& field : layout.fields) {
      EXPECT_EQ(field.offset, end) << "hole before " << layout.name << "." << field.name;
      end = field.offset + field.size;
    }
    EXPECT_EQ(layout.size, end) << layout.name << " has a hole at its end, or an unlisted field";
  }
}

TEST(AbiHeader, todays_structs_begin_with_the_pinned_ones) {
  if (sizeof(void*) != 8 || sizeof(long) != 8) GTEST_SKIP() << "layouts are pinned for LP64";
  const std::vector<Layout> today = current_layout();
  const std::vector<Layout> pinned = parse_layout(read_text(tests_folder + "/layout_1.0.txt"));
  ASSERT_GE(pinned.size(), 20u);
  for (const Layout& old : pinned) {
    const auto now = std::find_if(today.begin(), today.end(),
                                  [&](const Layout& layout) { return layout.name == old.name; });
    ASSERT_NE(now, today.end()) << old.name << " is gone";
    ASSERT_GE(now->fields.size(), old.fields.size()) << old.name;
    EXPECT_GE(now->size, old.size) << old.name;
    for (std::size_t i = 0; i < old.fields.size(); ++i) {
      EXPECT_EQ(now->fields[i], old.fields[i])
          << old.name << "." << old.fields[i].name << " moved or changed its size";
    }
  }
}

TEST(AbiHeader, array_elements_are_frozen) {
  EXPECT_EQ(sizeof(hm_param), 16u);
  EXPECT_EQ(sizeof(hm_arguments), 24u);
}

TEST(AbiHeader, every_growing_struct_begins_with_its_size) {
  for (const Layout& layout : current_layout()) {
    if (layout.name == "hm_param" || layout.name == "hm_arguments") continue;
    EXPECT_EQ(layout.fields.front().name, "struct_size") << layout.name;
  }
}

TEST(AbiHeader, a_changed_contract_has_a_line_in_the_changelog) {
  const std::string header = declarations(read_text(abi_folder + "/halmark_plugin.h"));
  const std::string now = hash(header + to_text(current_layout()));
  EXPECT_NE(read_text(abi_folder + "/CHANGELOG.md").find(now), std::string::npos)
      << "the contract's hash is " << now
      << "; add a line with it to CHANGELOG.md, and freeze the header under tests/abi/headers/";
}

TEST(AbiHeader, the_frozen_header_is_the_one_that_was_released) {
  const std::string frozen = read_text(tests_folder + "/headers/1.0/halmark_plugin.h");
  const std::string pinned = read_text(tests_folder + "/layout_1.0.txt");
  const std::string then = hash(declarations(frozen) + pinned);
  EXPECT_NE(read_text(abi_folder + "/CHANGELOG.md").find("1.0 | " + then), std::string::npos)
      << "hash of the frozen 1.0 is " << then;
}

TEST(AbiHeader, the_hash_sees_signatures_and_numbers_but_not_prose) {
  EXPECT_EQ(declarations("int /* why */ a;\n"), declarations("int a; /* else */"));
  EXPECT_NE(hash(declarations("int a(int);")), hash(declarations("int a(long);")));
  EXPECT_EQ(hash(""), "cbf29ce484222325");   // the algorithm's published offset basis
  EXPECT_EQ(hash("a"), "af63dc4c8601ec8c");  // and its published test vector
}

TEST(AbiNumbers, core_dtypes_equal_the_headers) {
  const std::pair<Dtype, int> pairs[] = {
      {Dtype::f64, HM_DTYPE_F64},
      {Dtype::f32, HM_DTYPE_F32},
      {Dtype::tf32, HM_DTYPE_TF32},
      {Dtype::f16, HM_DTYPE_F16},
      {Dtype::bf16, HM_DTYPE_BF16},
      {Dtype::f8_e4m3fn, HM_DTYPE_F8_E4M3FN},
      {Dtype::f8_e5m2, HM_DTYPE_F8_E5M2},
      {Dtype::f8_e4m3fnuz, HM_DTYPE_F8_E4M3FNUZ},
      {Dtype::f8_e5m2fnuz, HM_DTYPE_F8_E5M2FNUZ},
      {Dtype::f8_e8m0, HM_DTYPE_F8_E8M0},
      {Dtype::f6_e3m2, HM_DTYPE_F6_E3M2},
      {Dtype::f6_e2m3, HM_DTYPE_F6_E2M3},
      {Dtype::f4_e2m1, HM_DTYPE_F4_E2M1},
      {Dtype::s64, HM_DTYPE_S64},
      {Dtype::s32, HM_DTYPE_S32},
      {Dtype::s16, HM_DTYPE_S16},
      {Dtype::s8, HM_DTYPE_S8},
      {Dtype::s2, HM_DTYPE_S2},
      {Dtype::s4, HM_DTYPE_S4},
      {Dtype::u64, HM_DTYPE_U64},
      {Dtype::u32, HM_DTYPE_U32},
      {Dtype::u16, HM_DTYPE_U16},
      {Dtype::u8, HM_DTYPE_U8},
      {Dtype::u4, HM_DTYPE_U4},
      {Dtype::u1, HM_DTYPE_U1},
      {Dtype::c64, HM_DTYPE_C64},
      {Dtype::c128, HM_DTYPE_C128},
  };
  EXPECT_EQ(std::size(pairs), all_dtypes().size());
  for (const auto& [dtype, number] : pairs) EXPECT_EQ(static_cast<int>(dtype), number);
}

TEST(AbiNumbers, operand_roles_equal_the_headers) {
  EXPECT_EQ(static_cast<int>(Role::input), HM_ROLE_INPUT);
  EXPECT_EQ(static_cast<int>(Role::output), HM_ROLE_OUTPUT);
  EXPECT_EQ(static_cast<int>(Role::in_out), HM_ROLE_IN_OUT);
  EXPECT_EQ(static_cast<int>(Role::constant), HM_ROLE_CONSTANT);
  EXPECT_EQ(static_cast<int>(Role::state), HM_ROLE_STATE);
}

TEST(AbiNumbers, sugar_and_core_agree_on_widths) {
  for (const Dtype dtype : all_dtypes()) {
    EXPECT_EQ(plugin::dtype_bits(static_cast<int>(dtype)), dtype_bits(dtype)) << dtype_name(dtype);
  }
}

}  // namespace
}  // namespace halmark::abi_test
