// A report or a proof that cannot be written to its end: the file of before stays, or the new one
// is there, and nothing between the two; results are as they were.
#include <poll.h>
#include <sys/mount.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "../integration/halmark_fixture.hpp"
#include "tests/checkout.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

class Reports : public HalmarkTest {
 protected:
  Reports() {
    tiny_sweep("fake", "shards = [1]");
    tune_tiny("r.db");
  }
  Launch report(const std::string& to) const {
    return launch({"report", "--db", "r.db", "--out", to});
  }
};

TEST_F(Reports, that_are_killed_leave_the_old_file_or_the_new_one) {
  ASSERT_EQ(run(report("a.html")).exit_code, 0);
  const std::string whole = read("a.html"), rows = read("r.db");
  ASSERT_GT(whole.size(), 1000u);
  std::mt19937 random(20261127);
  int killed = 0;
  for (int i = 0; i < 12; ++i) {
    write("b.html", "old");
    Process process(report("b.html"));
    poll(nullptr, 0, static_cast<int>(random() % 60));
    process.signal(SIGKILL);
    if (process.wait().signal == SIGKILL) ++killed;
    EXPECT_TRUE(read("b.html") == "old" || read("b.html") == whole) << read("b.html").size();
  }
  EXPECT_GT(killed, 0);
  EXPECT_EQ(read("r.db"), rows);
  EXPECT_EQ(run(report("b.html")).exit_code, 0);
  EXPECT_EQ(read("b.html"), whole);
}

TEST_F(Reports, on_a_full_disk_are_one_line_with_the_path_and_the_old_file_stays) {
  fs::create_directory(path("small"));
  if (mount("tmpfs", path("small").c_str(), "tmpfs", 0, "size=8k") != 0) {
    GTEST_SKIP() << "a small tmpfs cannot be mounted here";
  }
  write("small/a.html", "old");
  const Outcome o = run(report("small/a.html"));
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
  EXPECT_NE(o.err.find("small/a.html"), std::string::npos) << o.err;
  EXPECT_EQ(read("small/a.html"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(path("small")), {}), 1) << "nothing else is left";
  umount2(path("small").c_str(), MNT_DETACH);
}

TEST_F(Reports, to_a_stream_that_takes_nothing_are_an_error) {
  Launch to_full;
  to_full = base_;
  to_full.arguments = {"/bin/sh", "-c",
                       test::in_build("/bin/halmark report --db r.db > /dev/full")};
  const Outcome o = run(to_full);
  EXPECT_EQ(o.exit_code, 1) << o.err;
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
}

}  // namespace
}  // namespace halmark::integration
