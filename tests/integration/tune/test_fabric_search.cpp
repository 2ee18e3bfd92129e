// Sweeps that name a fabric: whole commands, no device.
#include <fstream>
#include <map>
#include <thread>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FabricSearch : public HalmarkTest {
 protected:
  // Line 4 is that of the fabric.
  static std::string head(const std::string& model, const std::string& fabric,
                          const std::string& shards) {
    return "name = \"f\"\nmodel = \"" + model + "\"\ndevice_file = \"h100-sxm\"\n" +
           (fabric.empty() ? "# none\n" : "fabric = \"" + fabric + "\"\n") +
           "latency = [\"roofline\"]\nshards = " + shards +
           "\ndtypes = [\"bf16\"]\nstrategies = [\"data\", \"tensor\", \"pipeline\"]\n";
  }
  static std::string steps(const std::string& fabric, const std::string& shards) {
    return head("qwen3-0.6b", fabric, shards) +
           "[[workload]]\nphase = \"decode\"\nbatch = [1, 16]\ncontext = 512\n"
           "[[workload]]\nphase = \"prefill\"\nbatch = 1\nnew_tokens = 512\n";
  }
  static std::string requests(const std::string& fabric, const std::string& shards) {
    return head("llama-3.1-70b", fabric, shards) +
           "[request]\ninput_tokens = 1000\noutput_tokens = 50\nconcurrency = [1, 16]\n"
           "token_budget = 512\nmodes = [\"aggregated\", \"disaggregated\"]\n";
  }
  Json tuned(const std::string& sweep, const std::vector<std::string>& more = {}) {
    write("s.toml", sweep);
    std::vector<std::string> command = {"tune", "s.toml"};
    command.insert(command.end(), more.begin(), more.end());
    return data_of(command);
  }
  // "decode b16 dp1 tp2 pp1"
  static std::string key_of(const Json& deployment) {
    const Json &load = deployment["workload"], &parallel = deployment["parallel"];
    std::string out = load["phase"].get<std::string>() + " b" + load["batch"].dump();
    for (const char* degree : {"dp", "tp", "pp"}) out += ' ' + (degree + parallel[degree].dump());
    return out;
  }
  // Of all configurations.
  std::map<std::string, Json> estimates(const std::string& fabric, const std::string& shards) {
    std::map<std::string, Json> out;
    const Json data = tuned(steps(fabric, shards));
    for (const Json& e : data["evaluations"]) {
      if (!e["estimate"].is_null()) out[key_of(e["deployment"])] = e["estimate"];
    }
    return out;
  }
};

TEST_F(FabricSearch, a_slower_fabric_never_gives_a_faster_step_and_one_device_needs_none) {
  const auto without = estimates("", "[1, 2, 8]"), nvlink = estimates("nvlink-node", "[1, 2, 8]"),
             leaf = estimates("leaf-25gbe", "[1, 2, 8]");
  ASSERT_EQ(nvlink.size(), without.size());
  ASSERT_EQ(leaf.size(), without.size());
  int slower = 0;
  for (const auto& [key, bound] : without) {
    const double none = bound["step_ns"], fast = nvlink.at(key)["step_ns"],
                 slow = leaf.at(key)["step_ns"];
    if (key.find("tp1 pp1") != std::string::npos) {
      EXPECT_EQ(fast, none) << key;
      EXPECT_EQ(slow, none) << key;
      EXPECT_EQ(nvlink.at(key), bound) << key;
      continue;
    }
    EXPECT_GE(fast, none) << key;
    EXPECT_GE(slow, fast) << key;
    slower += slow > fast && fast > none ? 1 : 0;
    EXPECT_LT(nvlink.at(key)["low_ns"], nvlink.at(key)["high_ns"]) << key;
  }
  EXPECT_GT(slower, 3);
}

TEST_F(FabricSearch, rows_say_that_a_fabric_priced_their_collectives_and_how) {
  const auto nvlink = estimates("nvlink-node", "[8]");
  int collectives = 0;
  for (const auto& [key, estimate] : nvlink) {
    for (const Json& op : estimate["operators"]) {
      const std::string name = op["name"];
      const bool is_collective =
          name.find("all_") != std::string::npos || name.find("send_recv") != std::string::npos;
      EXPECT_EQ(op["provenance"] == "fabric", is_collective) << op;
      if (!is_collective) continue;
      ++collectives;
      EXPECT_THAT(op["origin"].get<std::string>(), HasSubstr("fabric nvlink-node: "));
      EXPECT_THAT(op["implementation"].get<std::string>(),
                  HasSubstr(name == "stage_send_recv" ? "closed form" : "curve of NVLink"));
      EXPECT_GE(op["ns"], op["lower_bound_ns"]);
    }
  }
  EXPECT_GT(collectives, 6);
  const Outcome text = halmark({"tune", "s.toml"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("collectives and transfers over fabric nvlink-node"),
                              testing::ContainsRegex("fabric [0-9.]+ %")));
}

TEST_F(FabricSearch, requests_are_served_over_it_and_the_command_line_goes_first) {
  const Json without = tuned(requests("", "[4, 8]")),
             node = tuned(requests("nvlink-node", "[4, 8]")),
             leaf = tuned(requests("nvlink-node", "[4, 8]"), {"--fabric", "leaf-25gbe"});
  const auto figures = [](const Json& data) {
    std::map<std::string, double> out;
    for (const Json& point : data["front"]) out[point["key"]] = point["figures"]["request_ns"];
    return out;
  };
  const auto none = figures(without), fast = figures(node), slow = figures(leaf);
  int compared = 0;
  for (const auto& [key, request_ns] : fast) {
    if (none.contains(key)) {
      EXPECT_GE(request_ns, none.at(key)) << key;
    }
    if (!slow.contains(key)) continue;
    EXPECT_GE(slow.at(key), request_ns) << key;
    ++compared;
  }
  EXPECT_GT(compared, 0);
  bool is_shown = false;
  for (const Json& point : node["front"]) {
    const bool is_alone = point["parallel"]["tp"] == 1 && point["parallel"]["pp"] == 1;
    if (point["mode"] == "aggregated") {
      EXPECT_NE(point["provenance"].contains("fabric"), is_alone) << point;
    }
    is_shown = is_shown || point["provenance"].value("fabric", 0.0) > 0;
  }
  EXPECT_TRUE(is_shown);
  const Outcome text = halmark({"tune", "s.toml", "--fabric", "leaf-25gbe"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("over fabric leaf-25gbe"),
                    HasSubstr("fabric leaf-25gbe: send_recv by "), HasSubstr("closed form: ")))
      << "of the choice, which has two stages";
}

TEST_F(FabricSearch, refusals_name_the_place) {
  const auto refusal = [&](const std::string& sweep) {
    write("s.toml", sweep);
    const Outcome o = halmark({"tune", "s.toml"});
    EXPECT_EQ(o.exit_code, 2);
    return o.err;
  };
  EXPECT_THAT(refusal(steps("nvlink-node", "[8, 16]")),
              AllOf(HasSubstr("s.toml:4:10: fabric 'nvlink-node' does not fit the configuration"),
                    HasSubstr("8 devices, and 16 are wanted")));
  EXPECT_THAT(refusal(steps("nvlink-nod", "[8]")),
              AllOf(HasSubstr("s.toml:4:10: "), HasSubstr("did you mean 'nvlink-node'")));
  EXPECT_THAT(refusal(steps("gone.toml", "[8]")), HasSubstr("gone.toml"));
  write("broken.toml", "id = \"x\"\nname = \"x\"\n[node]\ncount = 0\n");
  EXPECT_THAT(refusal(steps("broken.toml", "[8]")), HasSubstr("broken.toml:4:9: "));
  write("s.toml", steps("", "[8]"));
  EXPECT_THAT(halmark({"tune", "s.toml", "--latency", "fabric,roofline"}).err,
              HasSubstr("has no topology"));
  EXPECT_THAT(halmark({"tune", "s.toml", "--fabric", "lite"}).err,
              HasSubstr("--fabric: fabric 'lite' does not fit the configuration: it has 2"));
}

// Two servers of 8: what leaves one costs the network; what does not is as on one server.
TEST_F(FabricSearch, layouts_over_two_nodes_pay_for_the_network_where_they_cross_it) {
  const auto pair = estimates("ib-pair", "[8, 16]"), node = estimates("nvlink-node", "[8]");
  for (const auto& [key, estimate] : node) {
    for (const char* figure : {"step_ns", "low_ns", "high_ns"}) {
      EXPECT_EQ(pair.at(key)[figure], estimate[figure]) << key;
    }
  }
  // Two stages of eight are two servers, two stages of four the halves of one: the hand-over of 16
  // x 1024 bf16 takes a step of 2.8 us and 32 KiB at a quarter of 50 GB/s behind the 3.6 us with
  // which LL begins, and inside a server one of 3.3 us and a quarter of 450 GB/s.
  const auto hand_over_ns = [&](const std::string& key) {
    for (const Json& op : pair.at(key)["operators"]) {
      if (op["name"] != "stage_send_recv") continue;
      return op["ns"].get<double>() / op["count"].get<double>();
    }
    return 0.0;
  };
  const double bytes = 16.0 * 1024 * 2 / 2;  // a micro-batch is half of the batch
  EXPECT_NEAR(hand_over_ns("decode b16 dp1 tp8 pp2"), 3600 + 2800 + 4 * bytes / 50, 1);
  EXPECT_NEAR(hand_over_ns("decode b16 dp1 tp4 pp2"), 3600 + 3300 + 4 * bytes / 450, 1);
}

// The fake plugin has no collectives over ranks: what it cannot measure the fabric prices, and
// nothing else.
TEST_F(FabricSearch, a_measured_sweep_takes_what_cannot_be_measured_from_it) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  const std::string shards = "shards = [2]\nstrategies = [\"tensor\"]\n";
  const auto steps_of = [&](const std::string& more) {
    tiny_sweep("fake", shards + more);
    return envelope_of(halmark({"tune", "tiny.toml", "--again", "--json"}).out)["data"];
  };
  const Json bare = steps_of("");
  EXPECT_GE(bare["evaluations"].size(), 2u);
  for (const Json& e : bare["evaluations"]) EXPECT_TRUE(e["estimate"].is_null()) << e;
  const Json data = steps_of("fabric = \"one-host\"\n");
  int estimates = 0;
  for (const Json& e : data["evaluations"]) {
    ASSERT_FALSE(e["estimate"].is_null()) << e;
    ++estimates;
    EXPECT_EQ(e["estimate"]["provenance"], "fabric");
    for (const Json& op : e["estimate"]["operators"]) {
      const bool is_collective = op["name"].get<std::string>().find("all_") != std::string::npos;
      EXPECT_EQ(op["provenance"], is_collective ? "fabric" : "measured") << op;
    }
  }
  EXPECT_EQ(estimates, 2);
  EXPECT_EQ(halmark({"verify"}).exit_code, 0);
}

TEST_F(FabricSearch, a_step_on_paper_and_a_run_take_it_from_the_command_line) {
  const Arguments step = {"model",    "llama-3.1-8b", "--tp",      "8",
                          "--device", "h100-sxm",     "--latency", "roofline"};
  Arguments over = step;
  over.insert(over.end(), {"--fabric", "nvlink-node"});
  const Json bare = data_of(step), data = data_of(over);
  // Exchanges over a fabric are expected, no bounds: these stay.
  EXPECT_EQ(data["answer"]["floor_ms"], bare["answer"]["floor_ms"]);
  EXPECT_GT(data["answer"]["expected_ms"].get<double>(), data["answer"]["floor_ms"].get<double>());
  int collectives = 0;
  for (std::size_t i = 0; i < data["operators"].size(); ++i) {
    const Json& op = data["operators"][i];
    if (!op.contains("fabric")) {
      EXPECT_EQ(op["lower_bound_us"], bare["operators"][i]["lower_bound_us"]) << op;
      continue;
    }
    ++collectives;
    EXPECT_EQ(op["fabric"]["id"], "nvlink-node");
    EXPECT_LE(op["fabric"]["interval_us"][0], op["fabric"]["time_each_us"]);
  }
  EXPECT_GE(collectives, 3);
  EXPECT_THAT(halmark(over).out, HasSubstr("transfers over fabric nvlink-node"));
  const auto refusal = [&](Arguments command) {
    const Outcome o = halmark(std::move(command));
    EXPECT_EQ(o.exit_code, 2) << o.out;
    return o.err;
  };
  EXPECT_THAT(refusal({"model", "llama-3.1-8b", "--tp", "8", "--fabric", "nvlink-node"}),
              HasSubstr("--fabric: a fabric joins devices"));
  EXPECT_THAT(refusal({"run", tiny_model(), "--backend", "fake", "--tp", "4", "--fabric", "lite"}),
              HasSubstr("--fabric: fabric 'lite' does not fit the configuration: it has 2"));
}

}  // namespace
}  // namespace halmark::integration
