// A board of a thousand machines in a real browser: small, quick, complete.
#include <filesystem>

#include "core/numeric/random.hpp"
#include "history/view/board_view.hpp"
#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using history::BoardMachine;

// Ten models of devices, classes as `halmark record` measures them, shares drawn.
BoardMachine machine(std::uint64_t i) {
  const std::string id = "made-up " + std::to_string(i % 10) + " of " + std::to_string(i);
  BoardMachine out{.device = {.id = id, .name = id, .kind = "cpu"}, .measured_on = "2026-11-30"};
  out.steps = {{20.0 + static_cast<double>(i % 7), "gpt2 decode b1"}};
  std::uint64_t drawn = 0;
  out.all = {.bounded_ns = 1e4, .bound_ns = 1e4 * uniform_01(hash_u64(i, 99))};
  for (const char* op : {"gemm", "attention", "rmsnorm", "copy"}) {
    for (const char* dtype : {"f32", "bf16"}) {
      for (const char* shapes : {"m 1", "m 2-16", "m 17-256", "m > 256"}) {
        const double share = 0.05 + 0.9 * uniform_01(hash_u64(i, drawn++));
        const double ns = 1e4 * static_cast<double>(1 + i % 5);
        out.classes.push_back({.op = op,
                               .dtype = dtype,
                               .shapes = shapes,
                               .kernels = 3,
                               .ns = ns,
                               .bounded_ns = ns,
                               .bound_ns = share * ns,
                               .matmul_flops = 1e8 * share,
                               .bytes = 1e3 * static_cast<double>(drawn * drawn),
                               .joules = 1e-9 * ns * static_cast<double>(20 + i % 13)});
      }
    }
  }
  return out;
}

class BoardPage : public HalmarkTest {};

TEST_F(BoardPage, of_a_thousand_machines_is_read_as_a_person_would) {
  const auto browser = found_browser();
  const auto python = found_program("python3");
  if (!browser || !python) GTEST_SKIP() << "chromium or python3 is not installed";
  std::vector<BoardMachine> machines;
  for (std::uint64_t i = 0; i < 1000; ++i) machines.push_back(machine(i));
  const history::Board board = history::ranked_board(std::move(machines), {});
  history::write_board(board, {path("board.html"), path("board.json")});
  EXPECT_LE(std::filesystem::file_size(path("board.html")), 10'000'000u);
  Launch launch = base_;
  launch.limit_s = 120;
  launch.arguments = {*python,
                      "-B",
                      test::in_source("/tests/integration/report/board_page_test.py"),
                      *browser,
                      path("board.html"),
                      path("board.json"),
                      base_.folder};
  const Outcome page = run(launch);
  ASSERT_EQ(page.exit_code, 0) << page.err;
  const Json said = Json::parse(page.out);
  EXPECT_EQ(said["failed"], Json::array());
  // How long depends on what else the machine does: it is told, and judges nothing.
  RecordProperty("open_s", said["seconds"]["open"].dump());
  RecordProperty("filter_s", said["seconds"]["filter"].dump());
  RecordProperty("filter_all_s", said["seconds"]["filter_all"].dump());
}

}  // namespace
}  // namespace halmark::integration
