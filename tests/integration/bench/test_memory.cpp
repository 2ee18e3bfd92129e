// Memory of whole stacks through the program: every byte of every role, and the process that holds
// them.
#include <fstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Memory : public HalmarkTest {
 protected:
  // Two layers whose table and head are `vocabulary` rows of `hidden` values each.
  std::string model(std::int64_t vocabulary, int hidden) const {
    Json config = parse_json(read_text(tiny_model()), "tiny_model");
    config["vocab_size"] = vocabulary;
    config["hidden_size"] = hidden;
    return write("wide_model.json", config.dump());
  }

  Json run_of(const std::string& model, const std::string& backend, Arguments more = {}) {
    Arguments arguments = {"run",       model, "--phase",   "decode", "--batch",   "2",
                           "--context", "32",  "--dtype",   "f32",    "--backend", backend,
                           "--rounds",  "1",   "--seconds", "0.2",    "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome o = undisturbed(arguments);
    EXPECT_EQ(o.exit_code, 0) << o.out << o.err;
    return envelope_of(o.out)["data"]["run"];
  }

 private:
  static std::string read_text(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

std::int64_t available_mib() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    std::int64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) return kib / 1024;
  }
  return 0;
}

// Gives the bytes of all roles.
std::int64_t expect_explained(const Json& rank) {
  std::int64_t allocated = 0;
  for (const Json& role : rank["roles"]) {
    EXPECT_EQ(role["unexplained_bytes"], 0) << role.dump();
    std::int64_t causes = 0;
    for (const Json& cause : role["causes"]) causes += cause["bytes"].get<std::int64_t>();
    EXPECT_EQ(role["modelled_bytes"].get<std::int64_t>() + causes,
              role["allocated_bytes"].get<std::int64_t>());
    allocated += role["allocated_bytes"].get<std::int64_t>();
  }
  EXPECT_EQ(rank["allocated_bytes"], allocated);
  return allocated;
}

TEST_F(Memory, every_byte_of_a_run_is_the_models_or_has_a_cause) {
  const Json memory = run_of(tiny_model(), "fake")["memory"];
  ASSERT_TRUE(memory.is_object()) << memory.dump();
  ASSERT_EQ(memory["ranks"].size(), 1u);
  const Json& rank = memory["ranks"][0];
  EXPECT_GT(expect_explained(rank), 0);
  ASSERT_TRUE(rank["set_size"].is_object()) << rank.dump();
  EXPECT_EQ(rank["set_size"]["verdict"], "too_small");
}

TEST_F(Memory, every_rank_has_its_own) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (!found_program("mpirun")) GTEST_SKIP() << "mpirun is not installed";
  if (!has_two_cores()) GTEST_SKIP() << "one core cannot be cut in two";
  for (const char* axis : {"--tp", "--pp"}) {
    const Json memory = run_of(tiny_model(), "cpu", {axis, "2"})["memory"];
    ASSERT_TRUE(memory.is_object()) << memory.dump();
    ASSERT_EQ(memory["ranks"].size(), 2u) << axis;
    for (const Json& rank : memory["ranks"]) EXPECT_GT(expect_explained(rank), 0) << axis;
  }
}

// 512 MiB of tables, and some 15 kernels that keep 8 MiB each and do not say so.
TEST_F(Memory, a_plugin_that_takes_more_than_it_says_is_not_within_five_percent) {
  if (available_mib() < 4096) GTEST_SKIP() << "less than 4 GiB of memory available";
  base_.environment["HALMARK_FAKE_SCRIPT"] = "hoard_bytes=8388608";
  const Json rank = run_of(model(1 << 20, 64), "fake")["memory"]["ranks"][0];
  EXPECT_GT(expect_explained(rank), 512 << 20);
  ASSERT_TRUE(rank["set_size"].is_object()) << rank.dump();
  EXPECT_EQ(rank["set_size"]["verdict"], "beyond") << rank.dump();
  EXPECT_GT(rank["set_size"]["difference"].get<double>(), 0.05);
}

TEST_F(Memory, a_stack_of_half_a_gib_and_more_takes_what_is_said_within_five_percent) {
#ifndef HALMARK_HAS_CPU
  GTEST_SKIP() << "the cpu plugin was not built";
#endif
  if (available_mib() < 4096) GTEST_SKIP() << "less than 4 GiB of memory available";
  const Json run = run_of(model(1 << 16, 1024), "cpu");
  const Json& rank = run["memory"]["ranks"][0];
  EXPECT_GT(expect_explained(rank), 512 << 20);
  ASSERT_TRUE(rank["set_size"].is_object()) << rank.dump();
  EXPECT_EQ(rank["set_size"]["verdict"], "within") << rank.dump();
}

}  // namespace
}  // namespace halmark::integration
