// Numbers of fabric files, both sides of every bound, and what follows from them.

#include "fabric_texts.hpp"
#include "simulate/fabric/fabric_file.hpp"

namespace halmark::fabric {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_fabric("id = \"f\"\nname = \"f\"\n" + text, "f.toml");
  } catch (const Error& error) {
    return error.line();
  }
  return "accepted";
}

const std::string entities =
    "[[entity]]\nname = \"a\"\nkind = \"device\"\n[[entity]]\nname = \"b\"\nkind = \"device\"\n";

std::string link(const std::string& figure, const std::string& rest = {}) {
  return entities + "[[link]]\nfrom = \"a\"\nto = \"b\"\n" + rest + figure;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

// Of a link with the value of one key.
std::string with(const std::string& key, double value) {
  std::string figure;
  for (const auto& [name, given] :
       {std::pair<std::string, double>{"latency_us", 1000}, {"bandwidth_gbs", 50}}) {
    figure += name + " = " + number(name == key ? value : given) + '\n';
  }
  if (key == "length_km") figure += "length_km = " + number(value) + '\n';
  return refusal(link("transport = \"ib\"\nsource = \"s\"\n" + figure));
}

TEST(FabricBounds, of_a_link_are_those_of_figures) {
  const std::tuple<const char*, double, const char*> rows[] = {
      {"latency_us", 1e7, "accepted"},
      {"latency_us", 1.0001e7, "latency_us"},
      {"bandwidth_gbs", 1e6, "accepted"},
      {"bandwidth_gbs", 1.0001e6, "bandwidth_gbs"},
      {"bandwidth_gbs", 1e-6, "accepted"},
      {"bandwidth_gbs", 0.99e-6, "bandwidth_gbs"},
      {"length_km", 0, "accepted"},
      {"length_km", -1, "length_km"},
      // 40,000 km take 195.9 ms: the length is no longer what is wrong.
      {"length_km", 40'000,
       "implausible_latency: 1000 us one way over ib and 40000 km of fibre, which takes at least"}};
  for (const auto& [key, value, said] : rows) says(with(key, value), said);
  EXPECT_THAT(with("length_km", 40'001), testing::Not(HasSubstr("implausible_latency")));
}

// 250 ns an end of InfiniBand, of which a link between two devices has two.
TEST(FabricBounds, of_latency_are_kept_at_themselves) {
  EXPECT_EQ(refusal(link(test::figure_text("ib", 0.5, 50))), "accepted");
  says(refusal(link(test::figure_text("ib", 0.499, 50))),
       "implausible_latency: 0.499 us one way over ib, which takes at least 0.5 us "
       "here; correct the latency or the transport");
  const std::string beside_a_switch =
      entities +
      "[[entity]]\nname = \"s\"\nkind = \"switch\"\n[[link]]\nfrom = \"a\"\nto = \"s\"\n" +
      test::figure_text("ib", 0.25, 50) + "[[link]]\nfrom = \"s\"\nto = \"b\"\n" +
      test::figure_text("ib", 0.25, 50);
  EXPECT_EQ(refusal(beside_a_switch), "accepted") << "one end each";
}

TEST(FabricBounds, of_counts_are_from_1_up) {
  const std::string good = test::figure_text("ib", 1, 50);
  EXPECT_EQ(refusal(link(good, "cables = 4096\n")), "accepted");
  says(refusal(link(good, "cables = 4097\n")), "cables");
  says(refusal(link(good, "cables = 0\n")), "cables");
  const auto place = [&](const std::string& key, int value) {
    return refusal("[[entity]]\nname = \"c\"\nkind = \"host\"\n" + key + " = " +
                   std::to_string(value) + "\n" + link(good));
  };
  for (const char* const key : {"node", "numa"}) {
    EXPECT_EQ(place(key, 0), "accepted");
    says(place(key, -1), key);
    EXPECT_EQ(place(key, 1 << 20), "accepted");
    says(place(key, (1 << 20) + 1), key);
  }
  for (const int devices : {0, 65'537}) {
    says(refusal("[node]\ndevices = " + std::to_string(devices) + "\n"), "devices");
  }
  says(refusal("[node]\ndevices = 65536\n"), "disconnected");
  says(refusal("[node]\ndevices = 1\ncount = 0\n"), "count");
  says(refusal("[node]\ndevices = 1\nnuma = 2\n"),
       "2 NUMA domains, but 1 devices to stand in them; at most one domain per "
       "device");
  EXPECT_EQ(refusal("[node]\ndevices = 2\nnuma = 2\n[scale_up]\nkind = \"switch\"\n" +
                    test::figure_text("nvlink", 1, 450)),
            "accepted")
      << "one per device, and no host that would need a link";
}

std::string tier(const std::string& key, double value) {
  std::string out =
      "[node]\ndevices = 1\n[[tier]]\nname = \"host\"\nscope = \"numa\"\nsource = \"s\"\n";
  for (const auto& [name, given] : {std::pair<std::string, double>{"bytes", 5},
                                    {"read_gbs", 2},
                                    {"write_gbs", 3},
                                    {"latency_us", 4}}) {
    if (name == key && value < 0) continue;  // left out
    out += name + " = " +
           (name == "bytes" ? std::to_string(static_cast<std::int64_t>(name == key ? value : given))
                            : number(name == key ? value : given)) +
           '\n';
  }
  return out;
}

TEST(FabricBounds, of_memories_are_those_of_figures) {
  for (const auto& [key, low, high] : {std::tuple<std::string, double, double>{"bytes", 1, 0x1p60},
                                       {"read_gbs", 1e-6, 1e6},
                                       {"write_gbs", 1e-6, 1e6},
                                       {"latency_us", 1e-3, 1e7}}) {
    EXPECT_EQ(refusal(tier(key, low)), "accepted") << key;
    EXPECT_EQ(refusal(tier(key, high)), "accepted") << key;
    says(refusal(tier(key, key == "bytes" ? 0 : 0.9 * low)), key);
    says(refusal(tier(key, 1.01 * high)), key);
  }
  const auto read = [](const std::string& text) {
    return parse_fabric("id = \"f\"\nname = \"f\"\n" + text, "f.toml").tiers.at(0);
  };
  const MemoryTier whole = read(tier("", 0));
  EXPECT_EQ(whole.name, "host");
  EXPECT_EQ(whole.scope, "numa");
  EXPECT_EQ(whole.bytes, 5);
  EXPECT_DOUBLE_EQ(whole.read_bytes_per_s, 2e9);
  EXPECT_DOUBLE_EQ(whole.write_bytes_per_s, 3e9);
  EXPECT_DOUBLE_EQ(whole.latency_ns, 4e3);
  EXPECT_DOUBLE_EQ(read(tier("write_gbs", -1)).write_bytes_per_s, 2e9) << "as reads";
}

std::string spines(const std::string& rest, const std::string& kind = "leaf_spine") {
  std::string text = test::leaf_spine_text(8, 4, 2, 2);
  text = text.substr(text.find("[node]"));
  text.replace(text.find("leaf_spine"), 10, kind);
  return text.insert(text.find("spines = "), rest);
}

// 4 x 50 GB/s below a leaf and 2 x 50 above are 2; a hundredth of what is stated is allowed.
TEST(FabricBounds, of_oversubscription_is_what_the_cables_make) {
  EXPECT_EQ(refusal(spines("oversubscription = 2\n")), "accepted");
  EXPECT_EQ(refusal(spines("oversubscription = 2.02\n")), "accepted");
  EXPECT_EQ(refusal(spines("oversubscription = 1.981\n")), "accepted");
  says(refusal(spines("oversubscription = 2.03\n")),
       "oversubscription is 2.03, but 4 x 50 GB/s below and 2 x 50 GB/s above make "
       "2; correct the figure or the cables");
  says(refusal(spines("oversubscription = 1.97\n")), "oversubscription is 1.97");
  EXPECT_EQ(refusal(spines("oversubscription = 4\nnics = 2\n")), "accepted")
      << "two adapters of each of four nodes";
  EXPECT_EQ(refusal(spines("oversubscription = 2\nnics = 2\n", "rail")), "accepted")
      << "a rail has one of each node";
}

TEST(FabricBounds, of_sites_are_two_to_64_that_share_the_nodes_out) {
  const auto sites = [](int nodes, int count) {
    std::string text = test::leaf_spine_text(nodes, 1, 1, 1);
    return refusal(text.substr(text.find("[node]")) + "[wan]\nsites = " + std::to_string(count) +
                   "\n" + test::figure_text("roce", 1000, 50));
  };
  EXPECT_EQ(sites(64, 64), "accepted");
  EXPECT_EQ(sites(2, 2), "accepted");
  says(sites(65, 65), "sites");
  says(sites(2, 1), "sites");
  says(sites(5, 2), "5 nodes cannot be shared out to 2 sites; make sites a divisor");
  says(refusal("[node]\ndevices = 1\n[wan]\nsites = 2\n" + test::figure_text("ib", 1, 50)),
       "sites are joined by their networks; add [network]");
}

TEST(FabricBounds, of_parts_are_divisors) {
  const std::string figure = test::figure_text("nvlink", 1, 450);
  const auto domains = [&](const std::string& kind, int nodes) {
    return refusal("[node]\ncount = 6\ndevices = 1\n[scale_up]\nkind = \"" + kind +
                   "\"\nnodes = " + std::to_string(nodes) + "\n" + figure);
  };
  EXPECT_EQ(domains("switch", 6), "accepted");
  says(domains("switch", 4), "6 nodes are no whole domains of 4");
  says(domains("switch", 3), "disconnected");
  says(domains("two_tier", 6),
       "nothing joins the switches of the nodes; add "
       "[scale_up.uplink], or use kind = \"switch\"");
  std::string leaves = test::leaf_spine_text(6, 4, 1, 1);
  says(refusal(leaves.substr(leaves.find("[node]"))),
       "6 nodes do not fill leaves of 4; make nodes_per_leaf a divisor");
  EXPECT_THAT(
      refusal("[node]\ncount = 4\ndevices = 1\n[node.host]\n" + test::figure_text("pcie", 1, 64) +
              "[network]\nkind = \"leaf\"\nnodes_per_leaf = 2\n" + test::figure_text("ib", 1, 50)),
      testing::AnyOf(HasSubstr("leaves without a spine are disconnected"),
                     HasSubstr("nodes_per_leaf")));
  says(refusal("[node]\ncount = 2\ndevices = 1\n[network]\nkind = \"leaf\"\n" +
               test::figure_text("ib", 1, 50)),
       "adapters need to be reached from the devices; add [node.host]");
}

TEST(FabricBounds, of_a_shape_are_lengths_of_at_least_1) {
  const auto shape = [](const std::string& text, int devices) {
    std::string whole = test::torus_text("torus", text, devices, 45);
    return refusal(whole.substr(whole.find("[node]")));
  };
  EXPECT_EQ(shape("1x1x3", 3), "accepted");
  says(shape("65536", 3), "a torus of 65536 devices, but the nodes have 3");
  for (const char* const bad : {"65537", "0", "-1", "", "x2", "2y2", "2xx2", "2 x2"}) {
    says(shape(bad, 3), "'" + std::string(bad) + "' is no shape of a torus");
  }
  EXPECT_THAT(shape("65536x65536x65536x65536x65536", 3),
              HasSubstr("a torus of 1099511627776 devices"))
      << "the product stops before it overflows";
}

// One way alone from a to b: b does not reach a.
TEST(FabricBounds, of_a_way_are_both_directions) {
  const std::string there = test::figure_text("ib", 1, 50) + "duplex = \"one_way\"\n";
  says(refusal(link(there)), "disconnected: 'b' and 'a' do not reach each other");
  EXPECT_EQ(refusal(link(there) + "[[link]]\nfrom = \"b\"\nto = \"a\"\n" + there), "accepted");
  says(refusal(entities + "[[link]]\nfrom = \"b\"\nto = \"a\"\n" + there), "disconnected");
}

TEST(FabricBounds, of_the_lite_profile_are_two_devices_and_a_switch) {
  const std::string lite = "profile = \"lite\"\n";
  const std::string tcp = test::figure_text("tcp", 10, 1);
  const std::string hub = "[[entity]]\nname = \"s\"\nkind = \"switch\"\n";
  const std::string join_a = "[[link]]\nfrom = \"a\"\nto = \"s\"\n" + tcp;
  const std::string join_b = "[[link]]\nfrom = \"b\"\nto = \"s\"\n" + tcp;
  EXPECT_EQ(refusal(lite + entities + hub + join_a + join_b), "accepted");
  says(refusal(lite + entities + hub + "[[entity]]\nname = \"t\"\nkind = \"switch\"\n" + join_a +
               join_b),
       "profile lite: 2 switches; at most 2 devices on one leaf without RDMA");
  says(refusal(lite + link(test::figure_text("ib", 1, 1))), "profile lite: RDMA in [link[0]]");
}

}  // namespace
}  // namespace halmark::fabric
