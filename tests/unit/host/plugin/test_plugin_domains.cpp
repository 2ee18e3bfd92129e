// How many domains of how many labels a host takes of a kernel, and which ranges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "described_plugin.hpp"

namespace halmark {
namespace {

using namespace described_plugin;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PluginDomains, are_64_at_most_and_each_of_its_own_name) {
  Described plugin;
  domain_total = 64;
  EXPECT_EQ(plugin.domain(nullptr), "accepted");
  domain_total = 65;
  EXPECT_EQ(plugin.domain(nullptr), "a kernel claims 65 domains");
  domain_total = 2;
  EXPECT_EQ(plugin.domain([](hm_domain& d) { std::strcpy(d.name, "same"); }),
            "domain 'same' is listed twice");
  EXPECT_EQ(plugin.domain([](hm_domain& d) { d.name[0] = 0; }), "domain '' has no name");
  EXPECT_THAT(plugin.domain([](hm_domain& d) { std::memset(&d + 1, 0, 8); }),
              HasSubstr("kernel.domain wrote past"));
}

TEST(PluginDomains, have_labels_that_end_within_256_bytes) {
  Described plugin;
  static std::string longest(256, 'l');
  static const char* labels[] = {longest.c_str(), "short"};
  const auto labelled = [](hm_domain& d) {
    d.flags = HM_DOMAIN_ORDERED;
    d.labels = labels;
  };
  EXPECT_EQ(plugin.domain(labelled), "accepted");
  auto open = plugin.instance->open(0, {});
  const auto found = open->domains(0, {"copy", {}});
  EXPECT_TRUE(found->at(0).ordered);
  EXPECT_EQ(found->at(0).default_value, 2);
  EXPECT_THAT(found->at(0).labels, ElementsAre(longest, "short"));
  longest += 'l';
  labels[0] = longest.c_str();
  EXPECT_THAT(plugin.domain(labelled), HasSubstr("a label that does not end"));
  labels[0] = nullptr;
  EXPECT_THAT(plugin.domain(labelled), HasSubstr("a NULL label"));
  say_domain = nullptr;
  EXPECT_FALSE(open->domains(0, {"copy", {}})->at(0).ordered);
}

}  // namespace
}  // namespace halmark
