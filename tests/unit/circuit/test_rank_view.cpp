// Ranks by hand: routing on each kind of device, times with its swaps, and what is shown of them;
// files of devices; and what a command asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "circuit/qasm.hpp"
#include "circuit/rank.hpp"
#include "circuit/rank_request.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::circuit {
namespace {

using halmark::test::error_of;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

QpuDevice device(const std::string& connectivity, int qubits = 100) {
  QpuDevice out;
  out.id = connectivity;
  out.name = "A " + connectivity;
  out.qubits = qubits;
  out.connectivity = connectivity;
  out.one_qubit_error = 0.001;
  out.two_qubit_error = 0.02;
  out.readout_error = 0.01;
  out.errors_source = "paper";
  return out;
}

// Pairs as given, on `qubits` qubits.
Circuit pairs(int qubits, const std::vector<std::pair<int, int>>& of) {
  Circuit out{.qubits = qubits, .gates = {}, .measured = {}};
  for (const auto& [a, b] : of) out.gates.push_back({"cz", {}, {a, b}});
  return out;
}

double swaps(const Circuit& circuit, const std::string& connectivity) {
  return rank(circuit, {device(connectivity)}, 1).at(0).swaps;
}

// A star of four on nine qubits, placed at random: a pair is 2/3 sqrt(9) = 2 hops apart on a grid,
// 4 on a heavy hexagon, 9/3 = 3 on a line; all but one of them are swaps, half of which a router
// saves.
TEST(Routing, of_pairs_that_form_no_line_takes_half_of_the_hops_between) {
  const Circuit star = pairs(9, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  EXPECT_DOUBLE_EQ(swaps(star, "grid"), 4 * 0.5 * 1);
  EXPECT_DOUBLE_EQ(swaps(star, "heavy_hex"), 4 * 0.5 * 3);
  EXPECT_DOUBLE_EQ(swaps(star, "line"), 4 * 0.5 * 2);
  EXPECT_EQ(swaps(star, "all_to_all"), 0);
  const Circuit small = pairs(4, {{0, 1}, {0, 2}, {0, 3}});
  EXPECT_DOUBLE_EQ(swaps(small, "line"), 3 * 0.5 / 3) << "4/3 of a hop";
  EXPECT_DOUBLE_EQ(swaps(small, "grid"), 3 * 0.5 / 3);
  const Circuit two = pairs(2, {{0, 1}, {1, 0}});
  EXPECT_EQ(swaps(two, "heavy_hex"), 0) << "one pair, whichever comes first";
}

TEST(Routing, of_lines_is_none_and_of_a_ring_is) {
  EXPECT_EQ(swaps(pairs(5, {{0, 1}, {1, 2}, {3, 4}}), "grid"), 0) << "two lines";
  EXPECT_EQ(swaps(pairs(9, {{8, 0}, {0, 4}, {4, 2}}), "line"), 0);
  const Circuit ring =
      pairs(9, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 0}});
  EXPECT_DOUBLE_EQ(swaps(ring, "line"), 9 * 0.5 * 2);
}

TEST(Routing, of_a_toffoli_counts_its_six_gates_and_all_of_its_pairs) {
  Circuit circuit{.qubits = 9, .gates = {{"ccx", {}, {0, 1, 2}}, {"h", {}, {0}}}, .measured = {}};
  EXPECT_EQ(swaps(circuit, "line"), 0) << "three pairs among nine qubits, two of each";
  circuit.gates.push_back({"cz", {}, {0, 5}});
  EXPECT_DOUBLE_EQ(swaps(circuit, "line"), (6 + 1) * 0.5 * 2);
}

// 4 gates and 6 swaps of three: 22 gates in the time of 4 layers, each 22 / 4 as long.
TEST(RankTimes, of_layers_are_stretched_by_the_swaps_among_them) {
  QpuDevice line = device("heavy_hex");
  line.one_qubit_ns = 10;
  line.two_qubit_ns = 100;
  line.readout_ns = 1000;
  line.usd_per_shot = 0.5;
  Circuit circuit = pairs(9, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  circuit.gates.push_back({"h", {}, {0}});
  const RankedQpu row = rank(circuit, {line}, 7).at(0);
  EXPECT_DOUBLE_EQ(row.swaps, 6);
  EXPECT_EQ(row.gates.two_qubit, 4 + 18);
  EXPECT_DOUBLE_EQ(row.shot_ns.value(), 10 + 4 * (22.0 / 4) * 100 + 1000);
  EXPECT_DOUBLE_EQ(row.cost_usd.value(), 3.5) << "no price of a task";
  EXPECT_NEAR(row.fidelity, 0.999 * std::pow(0.98, 22) * std::pow(0.99, 9), 1e-12);
  circuit.measured = {{0, 0}, {1, 1}};
  EXPECT_NEAR(rank(circuit, {line}, 7)[0].fidelity, 0.999 * std::pow(0.98, 22) * std::pow(0.99, 2),
              1e-12)
      << "two qubits are read";
  for (auto QpuDevice::*time :
       {&QpuDevice::one_qubit_ns, &QpuDevice::two_qubit_ns, &QpuDevice::readout_ns}) {
    QpuDevice silent = line;
    (silent.*time).reset();
    EXPECT_FALSE(rank(circuit, {silent}, 7)[0].shot_ns);
  }
  Circuit single{.qubits = 1, .gates = {{"h", {}, {0}}}, .measured = {}};
  EXPECT_DOUBLE_EQ(rank(single, {line}, 1)[0].shot_ns.value(), 1010);
}

TEST(RankBounds, of_an_error_that_the_circuit_does_not_meet_are_none) {
  QpuDevice silent = device("grid");
  silent.two_qubit_error.reset();
  const Circuit single{.qubits = 1, .gates = {{"h", {}, {0}}}, .measured = {}};
  EXPECT_FALSE(rank(single, {silent}, 1)[0].is_upper_bound);
  EXPECT_TRUE(rank(pairs(2, {{0, 1}}), {silent}, 1)[0].is_upper_bound);
  const RankedQpu whole = rank(pairs(100, {}), {device("grid", 100)}, 1).at(0);
  EXPECT_TRUE(whole.refusal.empty()) << "as many qubits as the device has";
}

TEST(RankView, has_a_row_for_every_device_with_its_reason) {
  QpuDevice good = device("heavy_hex");
  good.one_qubit_ns = 10;
  good.two_qubit_ns = 100;
  good.readout_ns = 1000;
  good.usd_per_task = 0.3;
  good.usd_per_shot = 0.01;
  good.times_source = "sheet";
  good.price_source = "list";
  QpuDevice bound = device("all_to_all"), small = device("line", 3);
  bound.readout_error.reset();
  const Circuit star = pairs(9, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  const auto rows = rank(star, {small, bound, good}, 200);
  const report::View view = rank_view(star, rows, 200);
  const auto expect = [](const Json& got, const char* wanted) {
    const Json all = Json::parse(wanted);
    for (const auto& [key, value] : all.items()) EXPECT_EQ(got.at(key), value) << key;
  };
  expect(view.data,
         R"({"qubits": 9, "one_qubit_gates": 0, "two_qubit_gates": 4, "depth": 4, "shots": 200})");
  const Json& devices = view.data.at("devices");
  ASSERT_EQ(devices.size(), 3u);
  expect(devices[0],
         R"({"id": "heavy_hex", "name": "A heavy_hex", "swaps": 6.0, "two_qubit_gates": 22,
      "one_qubit_gates": 0, "dominant": "two-qubit gates", "fidelity_is_upper_bound": false,
      "shot_ns": 3200.0, "cost_usd": 2.3, "errors_source": "paper", "times_source": "sheet",
      "price_source": "list", "why": "most is lost in two-qubit gates, 6 swaps of routing"})");
  expect(devices[1], R"({"id": "all_to_all", "shot_ns": null})");
  EXPECT_NEAR(devices[1].at("fidelity").get<double>(), std::pow(0.98, 4), 1e-12);
  EXPECT_THAT(devices[1].at("why").get<std::string>(),
              HasSubstr("; at most this: not every error is stated"));
  expect(devices[2], R"({"fidelity": null, "why": "the circuit has 9 qubits, the device 3"})");
  EXPECT_THAT(view.text, HasSubstr("9 qubits, 0 gates of one qubit and 4 of two, depth 4\n"));
  EXPECT_THAT(view.text, ContainsRegex("heavy_hex +0.586 +3.20 us +\\$2.3 +most is lost"));
  EXPECT_THAT(view.text, ContainsRegex("all_to_all +<= 0.922 +- +- +most is lost"));
  EXPECT_THAT(view.text, ContainsRegex("line +- +- +- +the circuit has 9 qubits"));
  EXPECT_THAT(view.text, HasSubstr("cost of 200 shots\nerrors as stated by\nheavy_hex: paper\n"));
}

TEST(RankView, of_a_device_that_states_nothing_says_so) {
  QpuDevice silent = device("grid");
  silent.one_qubit_error.reset();
  silent.two_qubit_error.reset();
  silent.readout_error.reset();
  const Circuit one = pairs(2, {{0, 1}});
  EXPECT_THAT(rank_view(one, rank(one, {silent}, 1), 1).text, HasSubstr("no error is stated"));
}

const std::string file =
    "id = 'a'\nname = 'A'\nvendor = 'V'\ntechnology = 'T'\nqubits = 5\nconnectivity = 'grid'\n"
    "errors_source = 'p'\n";

TEST(QpuFile, has_every_figure_at_its_key) {
  const QpuDevice d = parse_qpu(file +
                                    "one_qubit_error = 0.1\ntwo_qubit_error = 0.2\nreadout_error = "
                                    "0.3\none_qubit_ns = 1\ntwo_qubit_ns = 2\nreadout_ns = 3\n"
                                    "usd_per_task = 4\nusd_per_shot = 5\ntimes_source = 't'\n"
                                    "price_source = 'm'\n",
                                "a.toml");
  EXPECT_THAT((std::vector{d.id, d.name, d.vendor, d.technology, d.connectivity}),
              ElementsAre("a", "A", "V", "T", "grid"));
  EXPECT_EQ(d.qubits, 5);
  EXPECT_THAT((std::vector{d.one_qubit_error, d.two_qubit_error, d.readout_error, d.one_qubit_ns,
                           d.two_qubit_ns, d.readout_ns, d.usd_per_task, d.usd_per_shot}),
              ElementsAre(0.1, 0.2, 0.3, 1, 2, 3, 4, 5));
  EXPECT_THAT((std::vector{d.times_source, d.price_source}), ElementsAre("t", "m"));
  EXPECT_FALSE(parse_qpu(file, "a.toml").one_qubit_error);
}

TEST(QpuFile, limits_its_figures_and_asks_for_their_sources) {
  const auto refused = [](const std::string& more) {
    return error_of([&] { parse_qpu(file + more, "a.toml"); }).line();
  };
  for (const char* error : {"one_qubit_error", "two_qubit_error", "readout_error"}) {
    EXPECT_NO_THROW(parse_qpu(file + error + " = 0.5\n", "a.toml"));
    EXPECT_THAT(refused(std::string(error) + " = 0.51\n"), HasSubstr(error));
    EXPECT_THAT(refused(std::string(error) + " = -0.1\n"), HasSubstr(error));
  }
  const std::string sources = "times_source = 't'\nprice_source = 'm'\n";
  for (const auto& [key, most] : {std::pair{"one_qubit_ns", "1e12\n"},
                                  {"two_qubit_ns", "1e12\n"},
                                  {"readout_ns", "1e12\n"},
                                  {"usd_per_task", "1e6\n"},
                                  {"usd_per_shot", "1e6\n"}}) {
    EXPECT_NO_THROW(parse_qpu(file + sources + key + " = " + most, "a.toml"));
    EXPECT_THAT(refused(sources + key + " = 1." + most), HasSubstr(key));
  }
  EXPECT_THAT(refused("one_qubit_ns = 1\n"), HasSubstr("'times_source' is missing"));
  EXPECT_THAT(refused("two_qubit_ns = 1\n"), HasSubstr("'times_source' is missing"));
  EXPECT_THAT(refused("usd_per_shot = 1\n"), HasSubstr("'price_source' is missing"));
  std::string large = file;
  large.replace(large.find("= 5"), 3, "= 1048576");
  EXPECT_EQ(parse_qpu(large, "a.toml").qubits, 1 << 20);
  large.replace(large.find("1048576"), 7, "1048577");
  EXPECT_THAT(error_of([&] { parse_qpu(large, "a.toml"); }).line(), HasSubstr("'qubits'"));
}

TEST(QpuFiles, of_the_earlier_folder_go_first_and_are_sorted) {
  const test::ScratchFolder one, two;
  test::write_file(one / "x.toml", file);
  std::string other = file;
  test::write_file(two / "x.toml", other.replace(other.find("'A'"), 3, "'B'"));
  other = file;
  test::write_file(two / "y.toml", other.replace(other.find("'a'"), 3, "'Z'"));
  test::write_file(two / "readme.md", "no device");
  const auto found = known_qpus({one.path(), two.path(), "/no/such/folder"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, "Z");
  EXPECT_EQ(found[1].id, "a");
  EXPECT_EQ(found[1].name, "A");
}

TEST(RankRequests, are_for_text_for_counts_or_for_a_rank) {
  const test::ScratchFolder folder;
  test::write_file(folder / "c.qasm", "qreg q[2];creg c[2];x q[1];measure q -> c;");
  const std::string path = folder / "c.qasm";
  const report::View text = answer({.path = path, .version = 3});
  EXPECT_THAT(text.text, HasSubstr("OPENQASM 3.0;"));
  EXPECT_EQ(text.data.at("qasm"), text.text);
  const report::View counts = answer({.path = path, .samples = 30, .seed = 5});
  EXPECT_EQ(counts.data.at("shots"), 30);
  EXPECT_EQ(counts.data.at("seed"), 5);
  EXPECT_TRUE(counts.data.at("noise").is_null());
  EXPECT_EQ(counts.data.at("noise_unstated"), Json::array());
  EXPECT_EQ(counts.data.at("counts"), Json::parse(R"({"10": 30})"));
  EXPECT_THAT(counts.text, ContainsRegex("10 +30"));
  const report::View ranked = answer({.path = path, .shots = 12});
  EXPECT_EQ(ranked.data.at("shots"), 12);
  EXPECT_GE(ranked.data.at("devices").size(), 5u);
  EXPECT_THAT(ranked.text, Not(HasSubstr("OPENQASM")));
}

TEST(RankRequests, of_noise_are_of_a_known_device_and_of_samples) {
  const test::ScratchFolder folder;
  test::write_file(folder / "c.qasm", "qreg q[1];x q[0];");
  EXPECT_THAT(error_of([&] { answer({.path = folder / "c.qasm", .noise = "iqm-garnet"}); }).line(),
              HasSubstr("--noise says what --sample simulates"));
  const Error unknown =
      error_of([&] { answer({.path = folder / "c.qasm", .samples = 1, .noise = "iqm-garne"}); });
  EXPECT_THAT(unknown.line(), HasSubstr("--noise: unknown QPU 'iqm-garne'"));
  EXPECT_THAT(unknown.line(), HasSubstr("'iqm-garnet'"));
}

}  // namespace
}  // namespace halmark::circuit
