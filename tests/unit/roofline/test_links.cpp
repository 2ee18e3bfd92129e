// What of a collective some link has to carry, and what the best known algorithms take.
#include "core/numeric/cast.hpp"
#include "roofline/links.hpp"

#include <gtest/gtest.h>

#include "core/problem.hpp"
#include "kernels/contract.hpp"

namespace halmark::roofline {
namespace {

Device gpu() {
  Device out;
  out.links.push_back({.name = "PCIe", .bytes_per_s = 6e10});
  out.links.push_back({.name = "NVLink",
                       .bytes_per_s = 4e11,
                       .bytes_per_s_high = 4.5e11,
                       .domain_devices = 8,
                       .source = "sheet"});
  return out;
}

// `message` as nccl-tests counts it: all ranks' together for all_gather.
Work work(const char* op, std::int64_t message, std::int64_t ranks) {
  const std::int64_t bytes = std::string_view(op) == "all_gather" ? message / ranks : message;
  const Problem problem = complete_problem(
      {op,
       {{"bytes", bytes}, {"ranks", ranks}, {"dtype", static_cast<std::int64_t>(Dtype::bf16)}}});
  return find_contract(op)->work(problem.params);
}

TEST(Links, the_fastest_link_counts_with_both_ends_of_its_figure) {
  const Links links(gpu(), {});
  EXPECT_EQ(links.name, "NVLink");
  EXPECT_EQ(links.source, "sheet");
  EXPECT_EQ(links.link_bytes_per_s, 4e11);
  EXPECT_EQ(links.link_bytes_per_s_max, 4.5e11);
  EXPECT_FALSE(links.reduces_in_switch);
}

TEST(Links, of_equal_links_the_first_counts_and_an_upper_end_never_lowers) {
  Device d = gpu();
  d.links.push_back(d.links.back());
  d.links.back().name = "second";
  d.links.back().domain_devices = 72;
  d.links[1].bytes_per_s_high = 3e11;
  const Links links(d, {});
  EXPECT_EQ(links.name, "NVLink");
  EXPECT_EQ(links.domain_devices, 8);
  EXPECT_EQ(links.link_bytes_per_s_max, 4e11);
}

TEST(Links, the_network_begins_where_the_domain_ends) {
  const Links links(gpu(), 5e10);
  EXPECT_EQ(links.bytes_per_s(8), 4e11);
  EXPECT_EQ(links.bytes_per_s(9), 5e10);
  EXPECT_EQ(Links(gpu(), {}).bytes_per_s(9), 4e11) << "still a bound";
  EXPECT_EQ(Links(Device{}, 5e10).bytes_per_s(2), 5e10);
  EXPECT_FALSE(Links(Device{}, {}).bytes_per_s(2));
}

TEST(Links, in_a_domain_a_rank_passes_what_its_bus_bandwidth_counts) {
  const Links links(gpu(), 5e10);
  for (const char* op :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv"}) {
    const Work w = work(op, 1 << 20, 8);
    const auto least = links.least(w, 8);
    EXPECT_EQ(least[0].bytes, w.transfer_bytes) << op;
    EXPECT_EQ(least[0].over, Passage::Over::link) << op;
    EXPECT_EQ(least[1].bytes, 0) << op;
  }
}

// NCCL's NVLS reports bus bandwidths above the link: nccl-tests counts 2(n-1)/n of the message.
TEST(Links, a_switch_that_adds_leaves_a_rank_its_message) {
  Device d = gpu();
  d.links[1].reduces_in_switch = true;
  const Links links(d, {});
  const Work sum = work("all_reduce", 1 << 20, 8);
  EXPECT_EQ(links.least(sum, 8)[0].bytes, 1 << 20);
  const Work gather = work("all_gather", 1 << 20, 8);
  EXPECT_EQ(links.least(gather, 8)[0].bytes, gather.transfer_bytes) << "there is nothing to add";
}

// 4 GiB over 4 nodes of 8 B200 with an adapter of 50 GB/s for each: a flat ring over one adapter
// per rank would take 166 ms, somebody measured 22.05 ms (stas00/ml-engineering,
// network/README.md).
TEST(Links, beyond_a_domain_all_its_devices_share_the_border) {
  Device d = gpu();
  d.links[1].bytes_per_s = 9e11;
  d.links[1].bytes_per_s_high.reset();
  d.links[1].reduces_in_switch = true;
  const Links links(d, 5e10);
  const std::int64_t message = std::int64_t{4} << 30;
  const Work sum = work("all_reduce", message, 32);
  const auto least = links.least(sum, 32);
  const auto s = as_double(message);
  EXPECT_EQ(least[0].bytes, s);
  EXPECT_EQ(least[0].over, Passage::Over::both);
  EXPECT_EQ(least[1].bytes, s / 8);
  EXPECT_EQ(least[1].over, Passage::Over::network);
  EXPECT_NEAR(least[1].bytes / 5e10 * 1e3, 10.7, 0.05) << "switches of the network may add";
}

TEST(Links, a_device_that_shares_its_link_with_nobody_is_a_domain_of_one) {
  Device d = gpu();
  d.links.back().domain_devices = 1;
  const Links links(d, 5e10);
  const auto least = links.least(work("all_to_all", 1 << 20, 4), 4);
  EXPECT_DOUBLE_EQ(least[1].bytes, 0.75 * (1 << 20));
}

TEST(Links, borders_of_the_other_collectives) {
  const Links links(gpu(), 5e10);
  const std::int64_t message = 32 << 20;
  const double s = as_double(message);
  const auto border = [&](const char* op) {
    return links.least(work(op, message, 32), 32)[1].bytes;
  };
  EXPECT_DOUBLE_EQ(border("all_gather"), 24.0 / 32 * s / 8);
  EXPECT_DOUBLE_EQ(border("reduce_scatter"), 24.0 / 32 * s / 8);
  EXPECT_DOUBLE_EQ(border("all_to_all"), 24.0 / 32 * s);
  EXPECT_DOUBLE_EQ(border("broadcast"), s / 8);
  EXPECT_DOUBLE_EQ(border("send_recv"), s / 8);
  // Without a link every device is a domain.
  const Links bare(Device{}, 5e10);
  EXPECT_EQ(bare.least(work("all_gather", message, 32), 32)[0].over, Passage::Over::network);
  EXPECT_DOUBLE_EQ(bare.least(work("all_gather", message, 32), 32)[1].bytes, 31.0 / 32 * s);
}

}  // namespace
}  // namespace halmark::roofline
