// Many machines by their records, by hand.
#include "history/devices/board.hpp"

#include <gmock/gmock.h>

#include "history/view/board_view.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RecordSum sum(const char* dtype, const char* shapes, double flops, double ns, double share) {
  return {.op = "gemm",
          .dtype = dtype,
          .shapes = shapes,
          .kernels = 2,
          .ns = ns,
          .bounded_ns = ns,
          .bound_ns = share * ns,
          .matmul_flops = flops,
          .bytes = 4000};
}

// 1e12 and 4e12 FLOP/s, at 40 % of the peaks; metered at 100 W.
BoardMachine metered() {
  BoardMachine out{.device = {.id = "a", .name = "A"}, .steps = {{50, "s"}, {7, "own"}}};
  out.classes = {sum("f32", "m 1", 1e6, 1e3, 0.2), sum("bf16", "m 1", 4e6, 1e3, 0.8)};
  for (RecordSum& of : out.classes) of.joules = 1e-4;
  out.all = {.ns = 2e3, .bounded_ns = 2e3, .bound_ns = 8e2, .joules = 2e-4};
  out.device.bandwidths = {{.level = "memory", .bytes_per_s = 1e11}};
  return out;
}

// 2e12 FLOP/s at 50 % of the peaks; a device of 200 W.
BoardMachine stated() {
  BoardMachine out{.device = {.id = "b", .name = "B"}, .steps = {{80, "s"}}};
  out.classes = {sum("f32", "m 1", 4e6, 2e3, 0.5), sum("f32", "m > 256", 1e6, 2e3, 0.5)};
  out.all = {.ns = 4e3, .bounded_ns = 4e3, .bound_ns = 2e3};
  out.device.power_w = 200;
  return out;
}

TEST(Board, ranks_by_the_share_of_the_peaks_and_counts_by_watt_and_by_price) {
  std::vector<BoardMachine> machines = {metered(), stated()};
  set_price(machines, "B", 3.6);
  const Board board = ranked_board(machines, {});
  ASSERT_EQ(board.machines.size(), 2u);
  const BoardMachine &first = board.machines[0], &second = board.machines[1];
  EXPECT_EQ(first.name, "1 B");
  EXPECT_NEAR(*first.share, 0.5, 1e-12);
  EXPECT_NEAR(*second.share, 0.4, 1e-12);
  EXPECT_NEAR(first.flops_per_s->value, 2e12, 1);
  EXPECT_EQ(first.flops_per_s->of, "f32");
  EXPECT_NEAR(second.flops_per_s->value, 4e12, 1);
  EXPECT_EQ(second.flops_per_s->of, "bf16");
  EXPECT_NEAR(*first.flops_per_joule, 2e12 / 200, 1);
  EXPECT_EQ(first.power_w->of, "stated");
  EXPECT_NEAR(*second.flops_per_joule, 4e12 / 100, 1);
  EXPECT_NEAR(second.power_w->value, 100, 1e-9);
  EXPECT_NEAR(*first.flops_per_usd, 2e12 * 1000, 1e6) << "3.6 USD are an hour";
  EXPECT_FALSE(second.flops_per_usd);
  EXPECT_NEAR(*second.bytes_per_s, 1e11, 1);
  EXPECT_EQ(board.classes, 3u);
}

TEST(Board, says_what_each_record_lacks_and_compares_tokens_where_all_steps_are_there) {
  BoardMachine bare = stated();
  bare.device = {.id = "c", .name = "C"};
  bare.steps.clear();
  const Board board = ranked_board({metered(), stated(), stated(), bare}, {"x.json: sha256"});
  EXPECT_THAT(board.steps, ElementsAre("own", "s"));
  EXPECT_FALSE(board.machines[0].tokens_per_s) << "it lacks a step";
  EXPECT_NEAR(*board.machines[3].tokens_per_s, std::sqrt(350.0), 1e-9);
  EXPECT_THAT(board.machines[0].lacks, ElementsAre("gemm bf16", "step own", "price"));
  EXPECT_THAT(board.machines[2].lacks,
              ElementsAre("gemm bf16", "step own", "step s", "power", "price"));
  EXPECT_THAT(board.machines[3].lacks, ElementsAre("1 size", "price"));
  const std::string text = board_view(board, 200).text;
  EXPECT_THAT(text, HasSubstr("4 A"));
  EXPECT_THAT(text, HasSubstr("left out: x.json: sha256"));
}

TEST(Board, a_price_of_no_machine_and_an_unknown_format_are_refused) {
  std::vector<BoardMachine> machines = {metered()};
  EXPECT_THAT(test::error_of([&] { set_price(machines, "AA", 1); }).line(), HasSubstr("'A'"));
  const Board board = ranked_board(machines, {});
  EXPECT_THAT(test::error_of([&] {
                write_board(board, {"b.html", "b.pdf"});
              }).line(),
              HasSubstr(".html, .json, .md"));
}

}  // namespace
}  // namespace halmark::history
