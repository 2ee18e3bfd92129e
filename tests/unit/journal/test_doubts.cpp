// What was learnt of a row later stands beside it: every reader finds the row suspect, and nothing
// of the row itself has changed.
#include <gtest/gtest.h>

#include <algorithm>

#include "journal_fixture.hpp"

namespace halmark {
namespace {

using namespace test;

class DoubtedRows : public testing::Test {
 protected:
  void SetUp() override {
    run_ = store_->begin_run(run_info());
    for (int round = 1; round <= 3; ++round) {
      Measurement row = numbered_measurement(static_cast<std::uint64_t>(round));
      row.status = round == 3 ? Status::invalid : Status::ok;
      row.reason = round == 3 ? "clock moved" : "";
      row.round = round;
      key_ = row.kernel_case.key();
      store_->append(run_, row);
    }
  }

  ScratchFolder folder_;
  std::unique_ptr<Store> store_ = open_store(folder_ / "d.db");
  std::int64_t run_ = 0;
  std::string key_;
};

std::vector<Status> statuses_of(const std::vector<Measurement>& rows) {
  std::vector<Status> out;
  for (const Measurement& m : rows) out.push_back(m.status);
  return out;
}

TEST_F(DoubtedRows, are_suspect_for_every_reader_and_worse_ones_stay_what_they_are) {
  const std::vector<Doubt> doubts{{key_, 2, "W-NODE-01: slow"}, {key_, 3, "W-NODE-01: slow"}};
  store_->append(run_, doubts);
  const std::vector<Status> expected{Status::ok, Status::suspect, Status::invalid};
  EXPECT_EQ(statuses_of(store_->run_measurements(run_)), expected);
  EXPECT_EQ(statuses_of(store_->measurements(key_, run_info().fingerprint)), expected);
  const std::vector<Measurement> rows = store_->run_measurements(run_);
  EXPECT_EQ(rows[1].reason, "W-NODE-01: slow");
  EXPECT_EQ(rows[2].reason, "clock moved");
  EXPECT_EQ(rows[1].duration_ns_median, rows[0].duration_ns_median);
  for (const auto& figures : {store_->run_figures(run_), store_->case_figures(key_, 3)}) {
    std::vector<Measurement> read;
    for (const RowFigures& f : figures) read.push_back(f.row);
    EXPECT_EQ(statuses_of(read), expected);
  }
  EXPECT_EQ(store_->case_figures(key_, 2).front().row.status, Status::suspect);
  EXPECT_TRUE(store_->damaged().empty());
}

TEST_F(DoubtedRows, of_one_run_are_not_those_of_another) {
  const std::int64_t other = store_->begin_run(run_info("11bb"));
  Measurement row = numbered_measurement(9);
  row.status = Status::ok;
  row.round = 2;
  store_->append(other, row);
  store_->append(run_, std::vector<Doubt>{{key_, 2, "W-NODE-01: slow"}});
  EXPECT_EQ(store_->run_measurements(other).front().status, Status::ok);
  const auto all = statuses_of(store_->measurements(key_, run_info().fingerprint));
  EXPECT_EQ(std::ranges::count(all, Status::suspect), 1);
  EXPECT_EQ(std::ranges::count(all, Status::ok), 2);
}

TEST_F(DoubtedRows, of_another_case_or_round_are_no_doubt_of_this_one) {
  store_->append(run_, std::vector<Doubt>{{key_ + "x", 1, "slow"}, {key_, 7, "slow"}});
  EXPECT_EQ(statuses_of(store_->run_measurements(run_)),
            (std::vector{Status::ok, Status::ok, Status::invalid}));
}

TEST_F(DoubtedRows, are_told_by_the_last_doubt) {
  store_->append(run_, std::vector<Doubt>{{key_, 1, "slow"}});
  store_->append(run_, std::vector<Doubt>{{key_, 1, "slower"}});
  EXPECT_EQ(store_->run_measurements(run_).front().reason, "slower");
}

}  // namespace
}  // namespace halmark
