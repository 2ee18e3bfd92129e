#include "roofline/links.hpp"

#include <gtest/gtest.h>

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

TEST(Links, the_fastest_link_counts_with_both_ends_of_its_figure) {
  const Links links(gpu(), {});
  EXPECT_EQ(links.name, "NVLink");
  EXPECT_EQ(links.source, "sheet");
  EXPECT_EQ(links.link_bytes_per_s, 4e11);
  EXPECT_EQ(links.link_bytes_per_s_max, 4.5e11);
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

}  // namespace
}  // namespace halmark::roofline
