// What messages that share links get: textbook cases.

#include "simulate/events/simulation.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::events {
namespace {

constexpr double gb = 1e9;

struct Links {
  TaskGraph graph;
  std::vector<LinkIndex> links;

  explicit Links(std::initializer_list<double> gigabytes_per_s) {
    for (const double rate : gigabytes_per_s) links.push_back(graph.add_link(rate * gb));
  }
  TaskIndex send(std::initializer_list<std::size_t> over, double gigabytes, double latency_s = 0,
                 double weight = 1) {
    std::vector<Hop> hops;
    for (const std::size_t i : over) hops.push_back({links[i], weight});
    return graph.add({.kind = EventKind::p2p,
                      .place = Place::over(graph.add_path(hops)),
                      .duration_ps = picoseconds(latency_s),
                      .bytes = gigabytes * gb});
  }
  std::vector<double> ends() {
    std::vector<double> out;
    const EventList events = timed(graph);
    for (const Picoseconds end : events.end_ps) out.push_back(seconds_of(end));
    return out;
  }
};

auto are(std::vector<double> seconds) {
  return testing::Pointwise(testing::DoubleNear(1e-9), seconds);
}

TEST(SharedLinks, a_message_alone_takes_its_bytes_over_the_bandwidth_and_the_latency) {
  Links one({2});
  one.send({0}, 1, 0.25);
  EXPECT_THAT(one.ends(), are({0.75}));
  Links two({2, 4});
  two.send({0, 1}, 1, 0.25);
  EXPECT_THAT(two.ends(), are({0.75}));
}

// 1 GB and 3 GB at 1 GB/s: shared for 2 s, then the second alone.
TEST(SharedLinks, two_on_a_link_have_half_of_it_each_until_one_ends) {
  Links links({1});
  links.send({0}, 1);
  links.send({0}, 3);
  EXPECT_THAT(links.ends(), are({2, 4}));
}

TEST(SharedLinks, who_comes_later_slows_those_that_are_there) {
  Links links({1});
  links.send({0}, 1);
  const TaskIndex wait = links.graph.add({.duration_ps = picoseconds(0.5)});
  links.graph.wait(links.send({0}, 1), wait);
  EXPECT_THAT(links.ends(), are({1.5, 0.5, 2}));
}

// Bertsekas and Gallager, Data Networks, 6.5.2: a long path over links that others use as well.
// Link 0 has 1, link 1 has 2; A over both, B over 0, C over 1: A and B 0.5 each, C 1.5.
TEST(SharedLinks, rates_over_several_links_are_max_min_fair) {
  Links links({1, 2});
  links.send({0, 1}, 1);  // A
  links.send({0}, 1);     // B
  links.send({1}, 3);     // C
  EXPECT_THAT(links.ends(), are({2, 2, 2}));
}

TEST(SharedLinks, the_rest_of_a_link_goes_to_who_can_use_it) {
  Links links({1, 10});
  for (int i = 0; i < 4; ++i) links.send({0, 1}, 1);  // 0.25 each
  links.send({1}, 18);                                // 9 while the four last
  EXPECT_THAT(links.ends(), are({4, 4, 4, 4, 2}));
}

// Two of three bytes over every link of three: a message that is spread.
TEST(SharedLinks, a_weight_is_bytes_of_the_link_per_byte_of_the_message) {
  Links one({1});
  one.send({0}, 1, 0, 0.5);
  EXPECT_THAT(one.ends(), are({0.5}));
  Links shared({1});
  shared.send({0}, 1, 0, 3);  // both at 0.25: 3/4 and 1/4 of the link
  shared.send({0}, 1, 0, 1);
  EXPECT_THAT(shared.ends(), are({4, 4}));
  Links spread({1, 1, 1});
  spread.send({0, 1, 2}, 3, 0, 1.0 / 3);
  EXPECT_THAT(spread.ends(), are({1}));
}

TEST(SharedLinks, a_message_of_no_bytes_takes_the_latency) {
  Links links({1});
  links.send({0}, 0, 0.5);
  links.send({0}, 1);
  EXPECT_THAT(links.ends(), are({0.5, 1}));
}

TEST(SharedLinks, bytes_and_busy_time_of_a_link_are_counted) {
  Links links({1, 2});
  links.send({0, 1}, 1);
  const TaskIndex first = links.send({1}, 1);
  const TaskIndex wait = links.graph.add({.duration_ps = picoseconds(3)});
  links.graph.wait(wait, first);
  links.graph.wait(links.send({1}, 1), wait);
  const EventList events = timed(links.graph);
  EXPECT_NEAR(events.link_bytes[0], 1 * gb, 1);
  EXPECT_NEAR(events.link_bytes[1], 3 * gb, 1);
  EXPECT_NEAR(seconds_of(events.link_busy_ps[0]), 1, 1e-9);
  EXPECT_NEAR(seconds_of(events.link_busy_ps[1]), 1.5, 1e-9);
}

}  // namespace
}  // namespace halmark::events
