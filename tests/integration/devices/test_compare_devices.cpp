// halmark compare-devices and devices --known: whole commands, no device, no database written.
#include <filesystem>

#include "journal/store.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/shared_data.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CompareDevices : public HalmarkTest {
 protected:
  // Gemms of 4096 x 4096 in bf16 that take `a` us and `b` us a row.
  std::string table(const std::string& name, double base_ms, double ms_per_row) const {
    std::string text = "gemm_dtype,m,n,k,latency,power\n";
    for (int m = 1; m <= 4096; m *= 4) {
      text += "bfloat16," + std::to_string(m) + ",4096,4096," +
              std::to_string(base_ms + ms_per_row * m) + ",350\n";
    }
    return write(name, text);
  }

  // Three rounds of the gemm m = 16 of the tables.
  std::string database(double ns) const {
    const std::unique_ptr<Store> store = open_store(path("a.db"));
    const std::int64_t run = store->begin_run({.command = "halmark bench",
                                               .fingerprint = "class@host",
                                               .tool_version = "0.1",
                                               .started_utc = "2026-01-01T02:00:00Z"});
    for (int round = 0; round < 3; ++round) {
      Measurement row;
      row.kernel_case.problem = {"gemm",
                                 {{"m", 16},
                                  {"n", 4096},
                                  {"k", 4096},
                                  {"src_dtype", 5},
                                  {"wei_dtype", 5},
                                  {"dst_dtype", 5},
                                  {"wei_trans", 1}}};
      row.kernel_case.backend = "cpu";
      row.round = round;
      row.status = Status::ok;
      row.phase = "sample";
      row.plugin_name = "cpu";
      row.duration_ns_median = ns * (1 + 0.001 * round);
      row.duration_ns_interval = {ns, ns};
      row.samples = {{.wall_ns = ns, .cpu_ns = ns}};
      store->append(run, row);
    }
    return "a.db";
  }
};

TEST_F(CompareDevices, tables_show_who_is_ahead_where_it_changes_and_what_it_costs) {
  table("h100.csv", 0.02, 0.0002);
  table("a100.csv", 0.03, 0.0001);
  const Json data = data_of({"compare-devices", "h100.csv=h100-sxm", "a100.csv=mi300x", "--price",
                             "h100-sxm=3.6", "--what-if", "bandwidth=+20%"});
  const Json& pair = data["pairs"][0];
  EXPECT_EQ(pair["kernels"], 7);
  const Json& first = pair["classes"][0];
  EXPECT_EQ(first["op"], "gemm");
  EXPECT_EQ(first["shapes"], "m 1");
  EXPECT_EQ(first["ahead"], "first");
  EXPECT_NEAR(first["ratio"].get<double>(), 0.0301 / 0.0202, 1e-9);
  // 32 MiB of weights at 3.35 TB/s.
  const double bound_us = 4096.0 * 4096 * 2 / 3.35e6;
  EXPECT_NEAR(first["first"]["roofline_fraction"].get<double>(), bound_us / 20.2, 1e-3);
  EXPECT_EQ(first["first"]["limiter"], "memory");
  EXPECT_NEAR(first["first"]["mfu"].get<double>(), 2.0 * 4096 * 4096 / 20.2e-6 / 989.4e12, 1e-6);
  const double units = 2.0 * 4096 * 4096 / 1e15;
  EXPECT_NEAR(first["first"]["usd_per_unit"].get<double>() / (20.2e-6 * 3.6 / 3600 / units), 1,
              1e-6);
  EXPECT_NEAR(first["first"]["joule_per_unit"].get<double>() / (20.2e-6 * 350 / units), 1, 1e-6)
      << "the power that the rows state";
  EXPECT_TRUE(first["second"]["usd_per_unit"].is_null());
  ASSERT_EQ(pair["crossovers"].size(), 1u);
  EXPECT_EQ(pair["crossovers"][0]["below"], 64) << "0.02 + 0.0002 m < 0.03 + 0.0001 m up to 100";
  EXPECT_EQ(pair["crossovers"][0]["above"], 256);
  const Json& model = data["what_if"]["pairs"][0]["classes"][0];
  EXPECT_NEAR(model["ratio"].get<double>() / first["ratio"].get<double>(), 1.2, 1e-9);
}

TEST_F(CompareDevices, a_database_stands_beside_the_bound_of_a_device) {
  database(40e3);
  const Json data = data_of({"compare-devices", "a.db", "h100-sxm"});
  EXPECT_EQ(data["sides"][0]["basis"], "measured");
  EXPECT_TRUE(data["sides"][0]["device"].is_null()) << "its runs know no peaks";
  EXPECT_EQ(data["sides"][1]["basis"], "bound");
  const Json& row = data["pairs"][0]["classes"][0];
  EXPECT_EQ(row["shapes"], "m 2-16");
  EXPECT_EQ(row["ahead"], "open");
  EXPECT_TRUE(row["first"]["roofline_fraction"].is_null());
  const Outcome o = halmark({"compare-devices", "a.db=h200", "h100-sxm"});
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("bound"), HasSubstr("open"), HasSubstr("peaks of h200")));
}

TEST_F(CompareDevices, two_devices_without_rows_compare_bounds_of_plain_gemms) {
  const Json data = data_of({"compare-devices", "h100-sxm", "l4"});
  EXPECT_EQ(data["pairs"][0]["classes"][0]["ahead"], "first");
  const Json& row = data["pairs"][0]["classes"][0];
  // Both are bound by memory at m = 1: 3.35 TB/s against 300 GB/s.
  EXPECT_NEAR(row["ratio"].get<double>(), 3350.0 / 300, 0.01 * 3350 / 300);
}

TEST_F(CompareDevices, writes_every_format_and_nothing_where_one_is_unknown) {
  table("a.csv", 0.02, 0.0002);
  const Arguments command = {"compare-devices", "a.csv=h100-sxm", "h100-sxm"};
  const auto before = files();
  Arguments unknown = command;
  for (const char* out : {"-o", "c.json", "-o", "c.pdf"}) unknown.emplace_back(out);
  const Outcome refused = halmark(unknown);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(is_one_line(refused.err));
  EXPECT_EQ(files(), before);
  Arguments all = command;
  for (const char* out : {"c.html", "c.json", "c.csv", "c.md"}) {
    all.emplace_back("-o");
    all.emplace_back(out);
  }
  EXPECT_EQ(halmark(all).exit_code, 0);
  EXPECT_THAT(read("c.html"), HasSubstr("</html>"));
  EXPECT_THAT(read("c.csv"), HasSubstr("times,first,second"));
  EXPECT_THAT(read("c.md"), HasSubstr("| gemm |"));
  EXPECT_THAT(read("c.json"), HasSubstr("\"pairs\""));
}

TEST_F(CompareDevices, refuses_in_one_line_what_does_not_compare) {
  table("a.csv", 0.02, 0.0002);
  write("other.csv", "num_gpus,message_size,latency\n2,1024,0.01\n");
  write("noise.csv", "a,b\n1,2\n");
  write("cut.db", "SQLite format 3");
  database(40e3);
  // What SQLite keeps beside a database that was read is there from now on.
  EXPECT_EQ(halmark({"compare-devices", "a.db", "h100-sxm"}).exit_code, 0);
  const auto before = files();
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"a.csv", "h100-sxm"}, "does not say of which device"},
      {{"a.csv=h100-sxm", "h10-sxm"}, "h100-sxm"},
      {{"a.csv=h100-sxn", "l4"}, "h100-sxm"},
      {{"a.csv=h100-sxm", "other.csv=h100-sxm"}, "no kernel in common"},
      {{"noise.csv=l4", "h100-sxm"}, "known layout"},
      {{"cut.db", "h100-sxm"}, "cut.db"},
      {{"absent.db", "h100-sxm"}, "absent.db"},
      {{"a.db:7", "h100-sxm"}, "7"},
      {{"h100-sxm"}, "1 sides"},
      {{"h100-sxm", "l4", "--what-if", "clock=+20%"}, "bandwidth=+20%"},
      {{"h100-sxm", "l4", "--price", "b200=3"}, "h100-sxm"},
      {{"a.csv=h100-sxm", "l4", "--op", "gem"}, "gemm"},
  };
  for (const auto& [arguments, expected] : cases) {
    Arguments command = {"compare-devices"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome o = halmark(command);
    EXPECT_EQ(o.exit_code, 2) << arguments[0] << ' ' << o.out;
    EXPECT_TRUE(is_one_line(o.err)) << o.err;
    EXPECT_THAT(o.err, HasSubstr(expected));
  }
  EXPECT_EQ(files(), before);
}

TEST_F(CompareDevices, known_devices_are_filtered_and_sorted) {
  const Json known = data_of({"devices", "--known", "--where",
                              "memory_bytes >= 80e9 and vendor == \"NVIDIA\" and kind == \"gpu\"",
                              "--sort", "bandwidth"})["known"];
  ASSERT_GT(known.size(), 3u);
  double last = 1e30;
  for (const Json& device : known) {
    EXPECT_EQ(device["vendor"], "NVIDIA");
    EXPECT_GE(device["memory_bytes"].get<double>(), 80e9);
    const double bytes_per_s = device["bandwidths"][0]["bytes_per_s"].get<double>();
    EXPECT_LE(bytes_per_s, last);
    last = bytes_per_s;
  }
  const Outcome o = halmark({"devices", "--where", "power_w < 100"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_THAT(o.err, HasSubstr("--known"));
}

// Tables of a folder that others published; skipped where it is not there.
TEST_F(CompareDevices, published_tables_of_two_devices_compare) {
  const std::filesystem::path folder = test::shared_data("kernels");
  const std::filesystem::path h100 = folder / "gemm_h100_trtllm_1.3.0rc20.csv.gz",
                              h200 = folder / "gemm_power_h200_vllm_0.22.0.csv.gz";
  if (!std::filesystem::exists(h100) || !std::filesystem::exists(h200)) {
    GTEST_SKIP() << "no published tables beside the tree";
  }
  const Json data =
      data_of({"compare-devices", h100.string() + "=h100-sxm", h200.string() + "=h200"});
  EXPECT_GT(data["pairs"][0]["kernels"].get<int>(), 1000);
  for (const Json& row : data["pairs"][0]["classes"]) {
    EXPECT_LE(row["first"]["roofline_fraction"].get<double>(), 1.02) << row;
    EXPECT_LE(row["second"]["roofline_fraction"].get<double>(), 1.02) << row;
    EXPECT_FALSE(row["second"]["joule_per_unit"].is_null()) << "the H200's rows state power";
  }
}

}  // namespace
}  // namespace halmark::integration
