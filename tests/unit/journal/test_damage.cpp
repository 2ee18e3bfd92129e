#include "journal_fixture.hpp"

namespace halmark {
namespace {

using namespace test;

struct Edit {
  const char* name;
  const char* sql;
};

class Damage : public testing::TestWithParam<Edit> {};

TEST_P(Damage, of_any_column_takes_the_row_out_and_names_it) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  {
    const auto store = open_store(path);
    store->begin_run(run_info("second"));
  }
  raw_sql(path, GetParam().sql);
  const auto store = open_store_read_only(path);
  std::vector<std::uint64_t> seeds;
  for (const std::int64_t run : {1, 2}) {
    for (const Measurement& m : store->run_measurements(run)) seeds.push_back(m.seed);
    EXPECT_TRUE(store->evaluations(run).empty());
  }
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{1, 3}));
  ASSERT_EQ(store->damaged().size(), 1u);
  EXPECT_TRUE(store->damaged()[0].starts_with("entry 2:")) << store->damaged()[0];
}

INSTANTIATE_TEST_SUITE_P(
    Columns, Damage,
    testing::Values(
        Edit{"key", "UPDATE entry SET key = key || 'x' WHERE id = 2"},
        Edit{"body", "UPDATE entry SET body = replace(body, '1000.25', '1000.24') WHERE id = 2"},
        Edit{"samples",
             "UPDATE entry SET samples = CAST(substr(samples, 1, length(samples) - 1) || x'01' "
             "AS BLOB) WHERE id = 2"},
        Edit{"samples_gone", "UPDATE entry SET samples = NULL WHERE id = 2"},
        Edit{"kind", "UPDATE entry SET kind = 'evaluation' WHERE id = 2"},
        Edit{"run", "UPDATE entry SET run = 2 WHERE id = 2"},
        Edit{"checksum", "UPDATE entry SET checksum = checksum + 1 WHERE id = 2"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DamagedRows, are_left_out_of_the_rounds_of_a_case_too) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 3);
  raw_sql(path, "UPDATE entry SET body = replace(body, 'suspect', 'ok') WHERE id = 2");
  const auto store = open_store(path);
  EXPECT_EQ(store->measurements(full_case().key(), "machine-1").size(), 2u);
  EXPECT_EQ(store->damaged().size(), 1u);
}

TEST(DamagedRows, do_not_stop_new_ones_from_being_stored) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  make_database(path, 1);
  raw_sql(path, "UPDATE entry SET body = '[' WHERE id = 1");
  const auto store = open_store(path);
  store->append(1, numbered_measurement(2));
  const auto rows = store->run_measurements(1);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].seed, 2u);
}

}  // namespace
}  // namespace halmark
