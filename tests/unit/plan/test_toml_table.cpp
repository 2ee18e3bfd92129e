#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "plan/toml/toml_table.hpp"
#include "plan/toml/trim.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using Kept = std::vector<bool>;
using test::error_of;

TomlTable parse(const std::string& text) { return TomlTable::parse(text, "f.toml"); }

template <class Call>
std::string refusal(Call call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

template <class Call>
void refused(Call call, const std::string& part) {
  test::expect_error(call, part, ExitCode::refused);
}

TEST(TomlTable, values_are_read_by_type) {
  const TomlTable t = parse("s = 'x'\ni = -3\nd = 2.5\nb = true\nl = ['a', 'b']\nn = [1, 2]\n");
  EXPECT_EQ(t.string("s"), "x");
  EXPECT_EQ(t.integer("i", -3, 3), -3);
  EXPECT_EQ(t.number("d", 0, 3), 2.5);
  EXPECT_EQ(t.number("i", -3, 0), -3.0) << "an integer is a number";
  EXPECT_TRUE(t.boolean_or("b", false));
  EXPECT_EQ(t.strings("l"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(t.integers("n", 1, 2), (std::vector<std::int64_t>{1, 2}));
  EXPECT_NO_THROW(t.finish());
}

TEST(TomlTable, one_value_stands_for_a_list_of_one) {
  EXPECT_EQ(parse("l = 'a'\n").strings("l"), std::vector<std::string>{"a"});
  EXPECT_EQ(parse("n = 4\n").integers("n", 1, 9), std::vector<std::int64_t>{4});
}

TEST(TomlTable, absent_keys_take_their_fallback_or_are_named) {
  const TomlTable t = parse("\nx = 1\n");
  EXPECT_EQ(t.string_or("s", "f"), "f");
  EXPECT_EQ(t.integer_or("i", 0, 9, 7), 7);
  EXPECT_EQ(t.number_or("d", 0, 9, 1.5), 1.5);
  EXPECT_TRUE(t.boolean_or("b", true));
  EXPECT_FALSE(t.table("t"));
  EXPECT_TRUE(t.tables("ts").empty());
  refused([&] { t.string("s"); }, "key 's' is missing");
}

TEST(TomlTable, a_wrong_type_says_where_what_and_what_was_expected) {
  const TomlTable t = parse("a = 1\n  b = 'text'\nc = [1, 'x']\nd = []\n");
  EXPECT_EQ(refusal([&] { t.string("a"); }), "f.toml:1:5: key 'a' is 1; expected a string");
  const std::string said = refusal([&] { t.integer("b", 0, 9); });
  EXPECT_TRUE(said.starts_with("f.toml:2:7: key 'b' is ")) << said;
  EXPECT_TRUE(said.ends_with("expected an integer from 0 to 9")) << said;
  refused([&] { t.integers("c", 0, 9); }, "f.toml:3:9: ");
  refused([&] { t.strings("d"); }, "a list");
  refused([&] { t.table("a"); }, "expected a table [a]");
  refused([&] { t.tables("a"); }, "expected tables [[a]]");
  refused([&] { t.boolean_or("a", true); }, "true or false");
}

TEST(TomlTable, numbers_that_are_not_finite_are_refused) {
  const TomlTable t = parse("a = nan\nb = inf\nc = -inf\n");
  for (const char* key : {"a", "b", "c"}) {
    refusal([&] { t.number(key, -1e308, 1e308); });
  }
}

TEST(TomlTable, a_choice_names_the_nearest_spelling) {
  const TomlTable t = parse("sampler = 'gird'\nlist = ['grid', 'nsga3']\n");
  EXPECT_EQ(refusal([&] {
              t.choice("sampler", {"grid", "nsga2"});
            }),
            "f.toml:1:11: key 'sampler': 'gird' is unknown; did you mean 'grid'?");
  refused([&] { t.choices("list", {"grid", "nsga2"}); }, "'nsga2'");
}

TEST(TomlTable, keys_that_nobody_asked_for_are_refused_with_place_and_spelling) {
  const TomlTable t = parse("name = 'x'\n[measure]\nroudns = 3\n");
  t.string("name");
  const auto measure = t.table("measure");
  measure->integer_or("rounds", 1, 9, 3);
  EXPECT_EQ(refusal([&] { t.finish(); }),
            "f.toml:3:1: unknown key 'roudns' in [measure]; did you mean 'rounds'?");
}

TEST(TomlTable, a_table_outlives_its_document) {
  std::vector<TomlTable> tables = parse("[[w]]\na = 1\n[[w]]\na = 2\n").tables("w");
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[1].integer("a", 0, 9), 2);
  EXPECT_EQ(tables[1].where("a"), "f.toml:4:5");
}

TEST(TomlTable, text_that_is_no_toml_is_refused_with_its_position) {
  refused([] { parse("a = 1\nb = = 2\n"); }, "f.toml:2:");
  refused([] { parse("a = 1\na = 2\n"); }, "f.toml:2:");
  refused([] { parse("a = \"\xff\"\n"); }, "f.toml:1:");
}

TEST(TomlTable, a_file_that_cannot_be_read_is_refused_by_name) {
  refused([] { TomlTable::parse_file("/nonexistent/a.toml", "sweep"); },
          "/nonexistent/a.toml: cannot be read");
  EXPECT_EQ(error_of([] { TomlTable::parse_file("/", "sweep"); }).exit_code(), ExitCode::refused);
}

TEST(TomlTable, an_empty_file_lacks_keys_and_is_not_unreadable) {
  const test::ScratchFolder folder;
  test::write_file(folder / "empty.toml", "");
  EXPECT_FALSE(TomlTable::parse_file(folder / "empty.toml", "limits").has("name"));
}

TEST(TomlTable, a_string_has_at_most_4096_bytes) {
  const auto text = [](std::size_t n) { return "s = '" + std::string(n, 'x') + "'\n"; };
  EXPECT_EQ(parse(text(4096)).string("s").size(), 4096u);
  refused([&] { parse(text(4097)).string("s"); }, "at most 4096 bytes");
}

TEST(TomlTable, values_are_any_scalars_each_once) {
  const TomlTable t =
      parse("a = [1, 2.5, 'x', true]\nb = [1, [2]]\nc = [1, 1]\nd = [inf]\ne = 3\nf = []\n");
  const std::vector<ParamValue> expected = {std::int64_t{1}, 2.5, std::string("x"), true};
  EXPECT_EQ(t.values("a"), expected);
  EXPECT_EQ(t.value("e"), ParamValue(std::int64_t{3}));
  for (const char* key : {"b", "d"}) {
    refused([&] { t.values(key); }, "a number, a string, true or false");
  }
  refused([&] { t.values("c"); }, "each value once");
  for (const char* key : {"e", "f"}) {
    refused([&] { t.values(key); }, "a list of values");
  }
  refused([&] { t.value("a"); }, "a list; expected a number");
  EXPECT_FALSE(t.is_string("e"));
  EXPECT_FALSE(t.is_string("absent"));
  EXPECT_TRUE(parse("s = 'x'\n").is_string("s"));
}

TEST(TomlTable, integers_are_a_list_of_such_within_their_range) {
  const TomlTable t = parse("a = [1, 10]\nb = [0]\nc = []\nd = [1.5]\ne = [2, 2]\n");
  EXPECT_EQ(t.integers("a", 1, 10), (std::vector<std::int64_t>{1, 10}));
  for (const char* key : {"b", "c", "d"}) {
    refused([&] { t.integers(key, 1, 10); }, "integers from 1 to 10");
  }
  refused([&] { t.integers("e", 1, 10); }, "each value once");
}

TEST(TomlTable, numbers_name_their_range) {
  EXPECT_EQ(refusal([] { parse("d = 9\n").number("d", 0.5, 2e6 - 1999992); }),
            "f.toml:1:5: key 'd' is 9; expected a number from 0.5 to 8");
  refused([] { parse("d = 'x'\n").number("d", 0, 1); }, "a number from 0 to 1");
}

TEST(TomlTable, a_table_of_a_table_is_named_by_both_and_open_ones_take_any_key) {
  const TomlTable t = parse("[a]\n[a.b]\nx = 1\n[facts]\nq = 2\np = 1\n");
  refused([&] { t.table("a")->table("b")->string("y"); }, "missing in [a.b]");
  EXPECT_EQ(t.table("facts")->keys(), (std::vector<std::string>{"p", "q"}));
}

// A slip in a key that has to be there is named instead of its absence; three letters are too few.
TEST(TomlTable, a_misspelt_key_says_more_than_the_absence_of_the_right_one) {
  refused([] { parse("modl = 'x'\n").string("model"); }, "unknown key 'modl'");
  refused([] { parse("nam = 'x'\n").string("name"); }, "unknown key 'nam'");
  refused([] { parse("lo = 1\n").integer("low", 0, 9); }, "key 'low' is missing");
  const TomlTable t = parse("modl = 'x'\n");
  t.string("modl");
  refused([&] { t.string("model"); }, "key 'model' is missing");
}

TEST(TomlTable, a_place_is_the_keys_or_without_it_the_tables) {
  const TomlTable t = parse("a = 1\n[t]\nb = 2\n");
  EXPECT_EQ(t.table("t")->where("b"), "f.toml:3:5");
  EXPECT_EQ(t.table("t")->where("absent"), "f.toml:2:1");
}

TEST(Trim, the_dearest_group_goes_first_and_is_named) {
  const TrimResult r =
      trim_to_budget({{"a", "d", {0}}, {"b", "d", {1}}, {"c", "d", {2}}}, {10, 30, 20}, 0, 35);
  EXPECT_EQ(r.is_kept, (Kept{true, false, true}));
  EXPECT_EQ(r.left_out, std::vector<std::string>{"b: would take 30 s of measuring"});
  EXPECT_DOUBLE_EQ(r.seconds, 30);
}

TEST(Trim, a_shared_kernel_counts_once_and_until_its_last_user_goes) {
  const TrimResult r =
      trim_to_budget({{"a", "d", {0}}, {"b", "p", {1, 2}}, {"c", "p", {1, 3}}, {"e", "p", {4}}},
                     {1, 50, 3, 2, 1}, 0, 10);
  EXPECT_EQ(r.is_kept, (Kept{true, false, false, true}));
  EXPECT_DOUBLE_EQ(r.seconds, 2);
  ASSERT_EQ(r.left_out.size(), 2u);
  // Each by itself: both need kernel 1, so the shared 50 s count in either.
  EXPECT_EQ(r.left_out[0], "b: would take 53 s of measuring");
  EXPECT_EQ(r.left_out[1], "c: would take 52 s of measuring");
}

TEST(Trim, the_last_group_of_a_class_stays_even_over_the_budget) {
  const TrimResult r = trim_to_budget(
      {{"decode", "decode", {0}}, {"prefill 1", "prefill", {1}}, {"prefill 4", "prefill", {2}}},
      {50, 60, 90}, 10, 20);
  EXPECT_EQ(r.is_kept, (Kept{true, true, false}));
  EXPECT_DOUBLE_EQ(r.seconds, 120) << "the prediction is honest about what is kept";
}

TEST(Trim, groups_without_cost_stay) {
  const TrimResult r = trim_to_budget({{"a", "d", {}}, {"b", "d", {0}}}, {100}, 0, 20);
  EXPECT_EQ(r.is_kept, (Kept{true, false}));
}

TEST(Trim, nothing_to_trim_is_no_loop) {
  const TrimResult r = trim_to_budget({}, {}, 30, 20);
  EXPECT_TRUE(r.is_kept.empty());
  EXPECT_DOUBLE_EQ(r.seconds, 30);
}

// What the trimmer promises, summed anew at every step.
TrimResult by_definition(const std::vector<TrimGroup>& groups, const std::vector<double>& seconds,
                         double base, double budget) {
  std::vector<bool> kept(groups.size(), true);
  std::vector<std::size_t> dropped;
  const auto total = [&](const std::vector<bool>& of) {
    std::set<std::int32_t> used;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (of[g]) used.insert(groups[g].kernels.begin(), groups[g].kernels.end());
    }
    double out = base;
    for (const std::int32_t k : used) out += seconds[static_cast<std::size_t>(k)];
    return out;
  };
  const auto own = [&](std::size_t g) {
    std::vector<bool> with = kept, without = kept;
    with[g] = true;
    without[g] = false;
    return total(with) - total(without);
  };
  while (total(kept) > budget) {
    std::size_t most_expensive = groups.size();
    double most = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      int of_class = 0;
      for (std::size_t h = 0; h < groups.size(); ++h) {
        of_class += kept[h] && groups[h].keep_class == groups[g].keep_class;
      }
      if (!kept[g] || of_class == 1 || own(g) <= most) continue;
      most = own(g);
      most_expensive = g;
    }
    if (most_expensive == groups.size()) break;
    kept[most_expensive] = false;
    dropped.push_back(most_expensive);
  }
  double room = budget - total(kept);
  for (auto it = dropped.rbegin(); it != dropped.rend(); ++it) {
    const double costs = own(*it);
    if (costs > room) continue;
    kept[*it] = true;
    room -= costs;
  }
  return {.is_kept = kept, .seconds = total(kept)};
}

// Whole seconds, so that sums have no rounding to differ in.
TEST(Trim, keeps_what_its_definition_keeps_on_random_groups) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 300; ++trial) {
    const int kernels = 3 + below(12);
    std::vector<double> seconds;
    for (int k = 0; k < kernels; ++k) seconds.push_back(1 + below(30));
    std::vector<TrimGroup> groups;
    for (int g = 0; g < 2 + below(9); ++g) {
      std::set<std::int32_t> some;
      for (int i = 0; i < 1 + below(5); ++i) some.insert(below(kernels));
      groups.push_back({std::to_string(g), below(2) == 0 ? "d" : "p", {some.begin(), some.end()}});
    }
    const double budget = below(120), base = below(10);
    const TrimResult found = trim_to_budget(groups, seconds, base, budget);
    const TrimResult expected = by_definition(groups, seconds, base, budget);
    EXPECT_EQ(found.is_kept, expected.is_kept) << "trial " << trial;
    EXPECT_EQ(found.seconds, expected.seconds) << "trial " << trial;
  }
}

// Took time with the cube of the groups: 48 s for 800, and this many would not have ended.
TEST(Trim, four_thousand_groups_are_no_more_than_a_moment) {
  std::vector<TrimGroup> groups;
  std::vector<double> seconds;
  for (std::int32_t g = 0; g < 4096; ++g) {
    groups.push_back({std::to_string(g), "d", {g, 4096 + g / 2}});
    seconds.push_back(1 + g % 7);
  }
  seconds.resize(4096 + 2048, 1);
  const TrimResult r = trim_to_budget(groups, seconds, 0, 8);
  EXPECT_LE(r.seconds, 8);
  EXPECT_GE(std::ranges::count(r.is_kept, true), 1);
}

}  // namespace
}  // namespace halmark
