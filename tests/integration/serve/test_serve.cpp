// halmark serve as clients meet it: honest ones, and a thousand that are not.
#include "serve_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Serve : public ServeTest {};

double figure(const Json& step, const std::string& key) {
  for (const Json& one : step["figures"]) {
    if (one["key"] == key) return one["value"].get<double>();
  }
  ADD_FAILURE() << "no figure " << key;
  return 0;
}

TEST_F(Serve, ends_by_one_interrupt_and_says_so) {
  start();
  EXPECT_THAT(got("/"), HasSubstr("<title>Halmark</title>"));
  process_->signal(SIGINT);
  const Outcome end = process_->wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
}

TEST_F(Serve, other_addresses_need_the_name_by_which_they_are_reached) {
  const Outcome refused = halmark({"serve", "--listen", "0.0.0.0"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--allow-host"));
}

// Figures of a step agree with each other, whoever computed them.
TEST_F(Serve, the_figures_of_a_step_fit_each_other) {
  start();
  const std::string state =
      "model=llama-3.1-70b&device=h100-sxm&fabric=nvlink-node&shards=8&batch=32&context=4096&"
      "dtype=bf16&strategy=dp1%20tp4%20pp2%20ep1";
  const Json step = answer("/api/step?" + state);
  const double seconds = figure(step, "step_ns") / 1e9;
  EXPECT_NEAR(figure(step, "tokens_per_s") * seconds, 32, 1e-6);
  EXPECT_NEAR(figure(step, "tokens_per_s_per_device") * 8, figure(step, "tokens_per_s"), 1e-6);
  EXPECT_NEAR(figure(step, "mfu") * 8 * 989.4e12, figure(step, "flops_per_s"), 1e12);
  // 70.55e9 parameters in two bytes, over the ranks of one replica.
  EXPECT_NEAR(step["sharding"]["sum"].get<double>(), 2 * 70.55e9, 0.02 * 2 * 70.55e9);
  const Json simulation = answer("/api/simulation?" + state);
  double critical = 0, last = 0;
  for (const Json& event : simulation["timeline"]["events"]) {
    last = std::max(last, event[1].get<double>());
    if (event[6] == 1) critical += event[1].get<double>() - event[0].get<double>();
  }
  const auto events = static_cast<double>(simulation["timeline"]["events"].size());
  EXPECT_NEAR(last, simulation["timeline"]["makespan_us"].get<double>(), 1e-3);
  EXPECT_NEAR(critical, last, 1e-3 * events);
  EXPECT_NEAR(last * 1e3, figure(step, "step_ns"), 1e-3 * figure(step, "step_ns"));
  const double watts = figure(simulation, "power");
  EXPECT_NEAR(figure(simulation, "j_per_token"), watts * seconds / 32, 1e-6 * watts * seconds);
  EXPECT_LT(watts, 8 * 700);  // of its datasheet
}

// Two programs: the server, and the command that a terminal runs.
TEST_F(Serve, agrees_with_halmark_simulate) {
  start();
  const Json simulation = answer(
      "/api/simulation?model=qwen3-235b-a22b&device=b200&fabric=nvl72&shards=16&batch=64&"
      "context=8192&strategy=dp1%20tp8%20pp2%20ep8");
  const Outcome command = halmark({"simulate",  "qwen3-235b-a22b",
                                   "--device",  "b200",
                                   "--fabric",  "nvl72",
                                   "--tp",      "8",
                                   "--pp",      "2",
                                   "--ep",      "8",
                                   "--batch",   "64",
                                   "--context", "8192",
                                   "--phase",   "decode",
                                   "--runs",    "0",
                                   "--json"});
  ASSERT_EQ(command.exit_code, 0) << command.err;
  const Json said = Json::parse(command.out)["data"];
  EXPECT_DOUBLE_EQ(figure(simulation, "step_ns"), said["latency"]["step_us"].get<double>() * 1e3);
  EXPECT_DOUBLE_EQ(figure(simulation, "tokens_per_s"),
                   said["throughput"]["tokens_per_s"].get<double>());
  EXPECT_DOUBLE_EQ(figure(simulation, "j_per_token"),
                   said["power"]["energy_j_per_token"].get<double>());
  EXPECT_EQ(simulation["critical"], said["critical_path"]);
  EXPECT_EQ(simulation["schedule"], said["schedule"]);
  double busiest = 0;
  for (const Json& link : said["links"]) {
    busiest = std::max(busiest, link["utilisation"].get<double>());
  }
  EXPECT_DOUBLE_EQ(simulation["load"]["busiest"].get<double>(), busiest);
}

TEST_F(Serve, one_shard_sends_nothing) {
  start();
  const std::string state = "model=qwen3-0.6b&shards=1&batch=1&fabric=nvlink-node";
  const Json simulation = answer("/api/simulation?" + state), step = answer("/api/step?" + state);
  EXPECT_EQ(simulation["load"]["links"].size(), 0u);
  EXPECT_EQ(figure(simulation, "communication"), 0);
  for (const Json& row : step["sharding"]["rows"]) EXPECT_EQ(row["strategy"], "replicate");
}

TEST_F(Serve, auto_takes_the_fastest_layout_that_fits) {
  start();
  const std::string state = "model=llama-3.1-70b&device=h100-sxm&shards=8&batch=64&dtype=bf16";
  const Json step = answer("/api/step?" + state);
  double least = 1e300;
  for (const Json& layout : step["layouts"]) {
    if (layout.contains("step_ns")) least = std::min(least, layout["step_ns"].get<double>());
  }
  EXPECT_NEAR(figure(step, "step_ns"), least, 1e-6 * least);
  EXPECT_TRUE(step["memory"]["fits"].get<bool>());
}

TEST_F(Serve, what_cannot_be_is_refused_in_one_line) {
  start();
  for (const char* state : {"model=no-such-model", "device=no-such-device", "shards=0", "batch=-1",
                            "strategy=xx4", "fabric=lite&shards=8", "dtype=f99"}) {
    const std::string said = got(std::string("/api/step?") + state);
    EXPECT_THAT(said, HasSubstr("\r\n\r\n{\"error\":\"")) << state;
  }
}

TEST_F(Serve, what_does_not_fit_is_shown_with_what_is_missing) {
  start();
  for (const char* state : {"phase=training", "model=llama-3.1-405b&shards=1&dtype=bf16"}) {
    const Json step = answer(std::string("/api/step?") + state);
    EXPECT_FALSE(step["memory"]["fits"]) << state;
    EXPECT_THAT(step["no_fit"].get<std::string>(), testing::StartsWith("does not fit in "));
  }
  EXPECT_THAT(got("/api/serving?phase=serving&model=llama-3.1-405b&shards=1&dtype=bf16"),
              HasSubstr("\r\n\r\n{\"error\":\""))
      << "no request would be served";
}

TEST_F(Serve, a_slider_move_over_64_devices_is_answered_within_50_ms) {
  start();
  const std::string state =
      "/api/step?model=qwen3-235b-a22b&device=b200&fabric=nvl72&shards=64&batch=";
  answer(state + "64");  // names are read once
  std::vector<double> seconds;
  for (int batch = 96; batch <= 1024; batch += 64) {
    const auto began = Clock::now();
    answer(state + std::to_string(batch));
    seconds.push_back(seconds_since(began));
  }
  std::ranges::sort(seconds);
  EXPECT_LT(seconds[seconds.size() / 2], 0.05);
}

// What is priced is kept for the next move, within bounds.
TEST_F(Serve, thousands_of_states_do_not_fill_the_memory) {
  start();
  for (int i = 1; i <= 60; ++i) {
    answer("/api/front?model=qwen3-30b-a3b&device=b200&fabric=nvl72&shards=64&context=" +
           std::to_string(1000 + 37 * i));
  }
  EXPECT_LT(resident_kib(), 256 * 1024);
}

TEST_F(Serve, only_the_token_starts_a_sweep) {
  start({"--writable"});
  const std::string sweep = R"({"sweep":"no-such-sweep"})";
  EXPECT_THAT(post("/api/start", sweep, "wrong"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(post("/api/start", sweep, token()), StartsWith("HTTP/1.1 422"));
  EXPECT_THAT(post("/api/start", R"({"sweep":"../sweeps/quickstart"})", token()),
              StartsWith("HTTP/1.1 422"));
  EXPECT_THAT(post("/api/stop", "{}", token()), HasSubstr("nothing runs"));
}

std::string attack(int i, const std::string& host) {
  switch (i % 10) {
    case 0:
      return "";  // says nothing
    case 1:
      return "GET / HT";  // never ends
    case 2:
      return "GET / HTTP/1.1\r\n" + host + "X: " + std::string(1 << 20, 'a');
    case 3:
      return "POST /api/start HTTP/1.1\r\n" + host + "Content-Length: 99999999999\r\n\r\n";
    case 4:
      return std::string(4096, static_cast<char>(i));
    case 5:
      return "GET /api/step HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    case 6:
      return "GET /api/step HTTP/1.1\r\n" + host + "Origin: http://evil.example\r\n\r\n";
    case 7:
      return "GET /../../etc/passwd HTTP/1.1\r\n" + host + "\r\n";
    case 8:  // asks for much and reads nothing
      return "GET /api/front?shards=64&model=qwen3-0.6b HTTP/1.1\r\n" + host + "\r\n";
    default:
      return "GET /api/events HTTP/1.1\r\n" + host + "\r\n";
  }
}

TEST_F(Serve, a_thousand_hostile_connections_keep_nobody_out) {
  start();
  answer("/api/step?shards=8");
  std::vector<std::unique_ptr<HttpClient>> hostile;
  double slowest = 0;
  for (int i = 0; i < 1000; ++i) {
    hostile.push_back(std::make_unique<HttpClient>(port_));
    ASSERT_TRUE(hostile.back()->is_open()) << i;
    hostile.back()->send(attack(i, host()));
    if (i % 100 != 99) continue;
    const auto began = Clock::now();
    EXPECT_THAT(got("/page.css"), StartsWith("HTTP/1.1 200")) << i;
    slowest = std::max(slowest, seconds_since(began));
  }
  EXPECT_LT(slowest, 5.0);
  const auto began = Clock::now();
  EXPECT_EQ(answer("/api/step?shards=8&batch=32")["state"]["batch"], 32);
  EXPECT_LT(seconds_since(began), 10.0);
  EXPECT_LT(resident_kib(), 256 * 1024);
  hostile.clear();
  EXPECT_THAT(got("/"), StartsWith("HTTP/1.1 200"));
  process_->signal(SIGINT);
  EXPECT_EQ(process_->wait().exit_code, 130);
}

TEST_F(Serve, writes_the_page_as_one_file) {
  const Outcome written =
      halmark({"serve", "--html", "grid.html", "--state", "model=qwen3-0.6b&shards=4"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string text = read("grid.html");
  EXPECT_LT(text.size(), 8u << 20);
  EXPECT_THAT(text, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(text, testing::Not(HasSubstr("src=\"")));
}

}  // namespace
}  // namespace halmark::integration
