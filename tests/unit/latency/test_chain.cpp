#include "latency/chain.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

// Knows times by size; below 10 ns they are quarantined.
using Times = std::map<std::int64_t, double>;

class Table final : public LatencySource {
 public:
  explicit Table(Times times) : times_(std::move(times)) {}
  void require(std::span<const KernelCase> cases) override {
    for (const KernelCase& c : cases) required.push_back(c.problem.params.at("bytes"));
  }
  std::optional<Latency> latency(const KernelCase& c) const override { return of(c.problem); }
  std::optional<Latency> latency(const Problem& problem, const Work&) const override {
    return of(problem);
  }
  std::vector<std::int64_t> required;

 private:
  std::optional<Latency> of(const Problem& problem) const {
    const auto found = times_.find(problem.params.at("bytes"));
    if (found == times_.end()) return std::nullopt;
    const bool is_false = found->second < 10;
    return Latency{.ns = found->second,
                   .status = is_false ? Status::quarantined : Status::ok,
                   .reason = is_false ? "too fast; t.csv" : ""};
  }
  Times times_;
};

TEST(LatencyChain, asks_in_order_of_trust_whatever_the_order_of_adding) {
  LatencyChain chain;
  chain.add(SourceKind::roofline, std::make_unique<Table>(Times{{1, 100}, {2, 100}, {3, 100}}));
  chain.add(SourceKind::imported, std::make_unique<Table>(Times{{1, 300}, {2, 300}}));
  chain.add(SourceKind::journal, std::make_unique<Table>(Times{{1, 200}}));
  EXPECT_EQ(chain.latency(copy_case(1))->ns, 200);
  EXPECT_EQ(chain.latency(copy_case(2))->ns, 300);
  EXPECT_EQ(chain.latency(copy_case(3).problem, {})->ns, 100);
  EXPECT_FALSE(chain.latency(copy_case(4)));
}

TEST(LatencyChain, of_one_kind_the_first_added_speaks_first) {
  LatencyChain chain;
  Table first(Times{{1, 20}}), second(Times{{1, 30}});
  chain.add(SourceKind::journal, first);
  chain.add(SourceKind::journal, second);
  EXPECT_EQ(chain.latency(copy_case(1))->ns, 20);
}

// A nanosecond for each device that lies between two ranks.
class ByPlace final : public PlacedSource {
 public:
  using PlacedSource::latency;
  std::optional<Latency> latency(const Problem&, const Work&, std::int64_t stride) const override {
    return Latency{.ns = 100 + static_cast<double>(stride), .provenance = Provenance::fabric};
  }
};

TEST(LatencyChain, asks_where_ranks_lie_only_of_who_knows_places) {
  LatencyChain chain;
  chain.add(SourceKind::roofline, std::make_unique<Table>(Times{{1, 90}, {2, 90}}));
  chain.add(SourceKind::fabric, std::make_unique<ByPlace>());
  chain.add(SourceKind::imported, std::make_unique<Table>(Times{{2, 300}}));
  EXPECT_EQ(chain.latency(copy_case(1), 8)->ns, 108);
  EXPECT_EQ(chain.latency(copy_case(1).problem, {}, 4)->ns, 104);
  EXPECT_EQ(chain.latency(copy_case(1))->ns, 101) << "neighbours";
  EXPECT_EQ(chain.latency(copy_case(2), 8)->ns, 300) << "a table is trusted first";
  // What is known of ranks holds for shares of a device as well.
  KernelCase share = copy_case(1);
  share.parts = 2;
  EXPECT_EQ(chain.latency(share, 8)->ns, 108);
}

TEST(LatencyChain, requires_only_what_no_more_trusted_source_knows) {
  Table measured(Times{{32, 100}}), journal(Times{{64, 500}, {96, 5}}), roofline(Times{{96, 50}});
  LatencyChain chain;
  chain.add(SourceKind::roofline, roofline);
  chain.add(SourceKind::measured, measured);
  chain.add(SourceKind::journal, journal);
  chain.require(std::vector{copy_case(32), copy_case(64), copy_case(96)});
  EXPECT_THAT(measured.required, ElementsAre(32, 64, 96));
  EXPECT_THAT(journal.required, ElementsAre(64, 96));
  EXPECT_THAT(roofline.required, ElementsAre(96)) << "a quarantined time is none";
}

TEST(LatencyChain, a_quarantined_time_is_counted_and_the_next_source_asked) {
  LatencyChain chain;
  chain.add(SourceKind::imported, std::make_unique<Table>(Times{{1, 5}, {2, 6}}));
  chain.add(SourceKind::roofline, std::make_unique<Table>(Times{{1, 50}}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(chain.latency(copy_case(1))->ns, 50);
    EXPECT_EQ(chain.latency(copy_case(1).problem, {})->ns, 50);
  }
  EXPECT_EQ(chain.asked().quarantined().kernels, 1u);
  EXPECT_THAT(lines_of(chain.asked().quarantined()),
              ElementsAre(HasSubstr("1 of 1 kernels"), "copy bytes=1", "too fast", "t.csv"));
  EXPECT_EQ(chain.latency(copy_case(1))->quarantined, "too fast; t.csv") << "the answer says so";
  const auto alone = chain.latency(copy_case(2));
  ASSERT_TRUE(alone) << "its reason says more than silence";
  EXPECT_EQ(alone->status, Status::quarantined);
  EXPECT_EQ(chain.asked().quarantined().kernels, 2u);
  EXPECT_FALSE(chain.latency(copy_case(3)));
  EXPECT_EQ(chain.asked().quarantined().asked, 3u) << "those that nobody knows count too";
}

TEST(LatencyChain, of_several_quarantined_times_the_most_trusted_is_given) {
  LatencyChain chain;
  chain.add(SourceKind::interpolated, std::make_unique<Table>(Times{{1, 7}}));
  chain.add(SourceKind::imported, std::make_unique<Table>(Times{{1, 5}}));
  EXPECT_EQ(chain.latency(copy_case(1))->ns, 5);
  EXPECT_EQ(chain.latency(copy_case(1).problem, {})->ns, 5);
  EXPECT_EQ(chain.asked().quarantined().kernels, 1u);
}

TEST(LatencyChain, asks_nobody_for_what_is_known) {
  Table journal(Times{{1, 20}}), roofline(Times{{1, 30}});
  LatencyChain chain;
  chain.add(SourceKind::roofline, roofline);
  chain.add(SourceKind::journal, journal);
  chain.require(std::vector{copy_case(1)});
  EXPECT_TRUE(roofline.required.empty());
  chain.require({});
  EXPECT_THAT(journal.required, ElementsAre(1));
}

TEST(LatencyChain, knows_which_kinds_it_has) {
  EXPECT_FALSE(LatencyChain().has_interval());
  for (const auto& [kind, has_interval] : {std::pair{SourceKind::measured, true},
                                           {SourceKind::journal, true},
                                           {SourceKind::interpolated, true},
                                           {SourceKind::forecast, true},
                                           {SourceKind::imported, false},
                                           {SourceKind::roofline, false}}) {
    LatencyChain chain;
    chain.add(kind, std::make_unique<Table>(Times{}));
    EXPECT_EQ(chain.has_interval(), has_interval) << "whether it states a spread";
    for (const SourceKind other :
         {SourceKind::measured, SourceKind::journal, SourceKind::imported, SourceKind::roofline}) {
      EXPECT_EQ(chain.has(other), other == kind);
      EXPECT_EQ(chain.has_only(other), other == kind);
    }
  }
}

}  // namespace
}  // namespace halmark
