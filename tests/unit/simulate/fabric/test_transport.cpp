#include "simulate/fabric/transport.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric {
namespace {

TEST(TransportNames, read_back) {
  for (const std::string& name : transport_names()) {
    ASSERT_TRUE(parse_transport(name)) << name;
    EXPECT_EQ(transport_name(*parse_transport(name)), name);
  }
  EXPECT_FALSE(parse_transport("ethernet"));
}

// A round trip of 2.5 us over kernel TCP, as some pages print, is none: it needs RDMA.
TEST(LatencyFloor, of_a_round_trip_of_2500_ns_allows_rdma_and_no_tcp) {
  constexpr double one_way_ns = 2500.0 / 2;
  EXPECT_GT(latency_floor_ns(Transport::tcp, 2, 0), one_way_ns);
  EXPECT_LT(latency_floor_ns(Transport::ib, 2, 0), one_way_ns);
  EXPECT_LT(latency_floor_ns(Transport::roce, 2, 0), one_way_ns);
}

// ITU-T G.652 fibre: about 4.9 us a kilometre.
TEST(LatencyFloor, grows_with_the_fibre) {
  const double ns_per_km =
      (latency_floor_ns(Transport::roce, 0, 1000) - latency_floor_ns(Transport::roce, 0, 0)) / 1000;
  EXPECT_NEAR(ns_per_km, 4900, 50);
}

}  // namespace
}  // namespace halmark::fabric
