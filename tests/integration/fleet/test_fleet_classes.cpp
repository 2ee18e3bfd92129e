// A fleet of machines of two classes, planned for from a machine of neither: the second class is
// this machine with one core (`taskset -c 0`), whose peaks are a file of their own.
#include "fleet_fixture.hpp"
#include "tests/checkout.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

// Far above any machine, and telling: a row's bound follows from these and from nothing else.
std::string ceilings(const std::string& flops_per_s, int threads) {
  const std::string of = "threads = " + std::to_string(threads) + '\n';
  return "[[peak]]\npath = \"f32_vector\"\ndtype = \"f32\"\n" + of +
         "flops_per_s = " + flops_per_s +
         "\nsource = \"a test\"\n[[bandwidth]]\nlevel = \"memory\"\n" + of +
         "bytes_per_s = 4e14\nworking_set_bytes = 1073741824\naccess = \"read\"\nsource = \"a "
         "test\"\n";
}

class FleetClasses : public FleetTest {
 protected:
  void SetUp() override {
    FleetTest::SetUp();
    if (IsSkipped()) return;
    if (!has_two_cores()) GTEST_SKIP() << "one core is one class";
    small_ = class_of_one_core();
    device_file("state", small_, ceilings("4e15", 1));
  }

  static Launch on_one_core(Launch command) {
    Arguments words = {"taskset", "-c", "0"};
    command.arguments.insert(command.arguments.begin(), words.begin(), words.end());
    return command;
  }
  // Without the sweep's plugin, without peaks or rows of its own.
  Launch on_login(Launch command) const {
    command.environment["HALMARK_PLUGIN_PATH"] = path("nothing");
    command.environment["XDG_STATE_HOME"] = path("login");
    return command;
  }
  Launch agent_words(const std::string& name, Arguments more = {}) const {
    Arguments all = {"agent", url_,      "--node",           name,         "--lease",
                     "2",     "--spool", path(name + ".db"), "--sentinel", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return launch(all);
  }
  std::unique_ptr<Process> entered(const Launch& words) const {
    auto out = std::make_unique<Process>(words);
    EXPECT_TRUE(out->await_lines("halmark: agent ", 1)) << out->err();
    return out;
  }
  Launch tune_words(Arguments more = {}) const {
    Arguments all = {"tune", "tiny.toml", "--fleet", url_, "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return launch(all);
  }
  void device_file(const std::string& state, const std::string& fingerprint,
                   const std::string& text) const {
    std::filesystem::create_directories(path(state + "/halmark/devices"));
    write(state + "/halmark/devices/" + fingerprint + ".toml",
          "id = \"test-cpu\"\nname = \"test\"\nkind = \"cpu\"\nfingerprint = \"" + fingerprint +
              "\"\nmemory_bytes = 1073741824\n" + text);
  }
  std::string fake_class(const std::string& node) const {
    const Json agent = agent_of(node);
    for (const auto& one : agent["classes"]) {
      if (one.get<std::string>().starts_with("device-")) return one;
    }
    return "";
  }

  std::string small_;  // fingerprint of the processor with one core

 private:
  std::string class_of_one_core() const {
    const Outcome o = run(on_one_core(launch({"doctor", "--json"})));
    const Json data = envelope_of(o.out)["data"];
    for (const Json& check : data["checks"]) {
      const std::string text = check["text"], label = "fingerprint: ";
      if (text.starts_with(label)) return text.substr(label.size());
    }
    throw std::runtime_error("doctor tells no fingerprint");
  }
};

std::map<std::string, double> bounds_of(const Json& report) {
  std::map<std::string, double> out;
  for (const Json& k : report["kernels"]) out[k["key"]] = k["lower_bound_ns"];
  return out;
}

TEST_F(FleetClasses, a_login_node_plans_and_reports_with_the_facts_of_the_class_that_measures) {
  const auto one = entered(on_one_core(agent_words("one")));
  const Outcome o = run(on_login(tune_words()));
  ASSERT_TRUE(o.exit_code == 0 || o.exit_code == 4) << o.err;
  const Json fleet = envelope_of(o.out)["data"];
  EXPECT_FALSE(fleet["front"].empty());
  expect_whole();
  // The same sweep on a machine of the class, alone, has the same kernels and the same bounds.
  const Outcome alone = run(on_one_core(launch({"tune", "tiny.toml", "--json"})));
  ASSERT_TRUE(alone.exit_code == 0 || alone.exit_code == 4) << alone.err;
  const auto expected = bounds_of(envelope_of(alone.out)["data"]);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(bounds_of(fleet), expected);
  EXPECT_EQ(server_->value(url_, "SELECT fingerprint FROM halmark.run"),
            fake_class("one") + "@fleet");
  EXPECT_EQ(count("SELECT count(*) FROM halmark.entry WHERE kind = 'peaks' AND "
                  "body::json->>'device_text' LIKE '%" +
                  small_.substr(0, small_.find('@')) + "@fleet%'"),
            1);
}

TEST_F(FleetClasses, commands_of_two_machines_on_one_sweep_and_class_share_its_run) {
  const auto one = entered(on_one_core(agent_words("one")));
  const auto two = entered(agent_words("two"));
  const std::string wanted = fake_class("one");
  Process login(on_login(tune_words({"--fleet-class", wanted})));
  Process same_class(on_one_core(tune_words({"--fleet-class", wanted})));
  const Outcome first = login.wait(), second = same_class.wait();
  EXPECT_TRUE(first.exit_code == 0 || first.exit_code == 4) << first.err;
  EXPECT_TRUE(second.exit_code == 0 || second.exit_code == 4) << second.err;
  expect_whole();
  EXPECT_EQ(count("SELECT count(*) FROM halmark.run"), 1);
  EXPECT_EQ(agent_of("two")["measured"], 0);
}

TEST_F(FleetClasses, several_classes_and_none_named_are_refused_in_one_line_that_lists_them) {
  const auto one = entered(on_one_core(agent_words("one")));
  const auto two = entered(agent_words("two"));
  const Outcome o = run(on_login(launch({"tune", "tiny.toml", "--fleet", url_})));
  EXPECT_EQ(o.exit_code, 2) << o.err;
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
  EXPECT_THAT(o.err, HasSubstr(fake_class("one") + " (one)"));
  EXPECT_THAT(o.err, HasSubstr(fake_class("two") + " (two)"));
  const Outcome named = run(on_login(launch(
      {"tune", "tiny.toml", "--fleet", url_, "--plan", "--fleet-class", fake_class("two")})));
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(halmark({"tune", "tiny.toml", "--fleet-class", "cpu-1"}).exit_code, 2);
  EXPECT_EQ(count("SELECT count(*) FROM halmark.run"), 0);
}

TEST_F(FleetClasses, a_node_whose_peaks_are_not_of_its_class_is_turned_away) {
  const auto honest = entered(on_one_core(agent_words("honest")));
  device_file("liar", small_, ceilings("4e16", 1));
  Launch words = on_one_core(agent_words("liar"));
  words.environment["XDG_STATE_HOME"] = path("liar");
  const Outcome o = run(words);
  EXPECT_EQ(o.exit_code, 2) << o.err;
  EXPECT_TRUE(is_one_line(o.err)) << o.err;
  EXPECT_THAT(o.err, HasSubstr("4e+07 GFLOP/s, and that of class"));
  EXPECT_EQ(agent_of("liar")["state"], "refused");
  Launch check = words;
  check.arguments.insert(check.arguments.end(), "--check");
  EXPECT_EQ(run(check).exit_code, 2);
  const Outcome swept = run(on_login(tune_words()));
  EXPECT_TRUE(swept.exit_code == 0 || swept.exit_code == 4) << swept.err;
  expect_whole();
  EXPECT_EQ(agent_of("liar")["measured"], 0);
}

TEST_F(FleetClasses, facts_that_do_not_make_their_class_and_work_of_another_machine_are_refused) {
  entered(on_one_core(agent_words("one", {"--idle", "0.1"})))->wait();
  const Arguments plan = {"tune", "tiny.toml", "--fleet", url_};
  Launch validated = on_login(launch(plan));
  validated.arguments.push_back("--validate");
  const Outcome elsewhere = run(validated);
  EXPECT_EQ(elsewhere.exit_code, 2) << elsewhere.err;
  EXPECT_TRUE(is_one_line(elsewhere.err)) << elsewhere.err;
  EXPECT_THAT(elsewhere.err, HasSubstr("validation and nights run on this machine"));
  ASSERT_TRUE(server_->sql(url_,
                           "UPDATE halmark.agent SET facts = jsonb_set(facts, "
                           "'{machine,cpu_model}', '\"Another\"')"));
  const Outcome forged = run(on_login(launch(plan)));
  EXPECT_EQ(forged.exit_code, 2) << forged.err;
  EXPECT_TRUE(is_one_line(forged.err)) << forged.err;
  EXPECT_THAT(forged.err, HasSubstr("agent 1: says that it is of class"));
  EXPECT_EQ(count("SELECT count(*) FROM halmark.run"), 0);
}

TEST_F(FleetClasses, a_check_says_what_a_node_offers_and_takes_nothing) {
  const Json idle = data_of({"agent", url_, "--check"});
  EXPECT_EQ(idle["verdict"], "no work waits");
  EXPECT_EQ(idle["devices"][0]["device"], "fake:0");
  EXPECT_EQ(idle["devices"][0]["plugin_hash"].get<std::string>().size(), 64u);
  EXPECT_EQ(count("SELECT count(*) FROM pg_class WHERE relname = 'agent'"), 0) << "made a table";
  entered(agent_words("two", {"--idle", "0.1"}))->wait();  // its facts are enough to plan for it
  Process waiting(tune_words());
  ASSERT_TRUE(await([&] { return data_of({"agent", url_, "--check"})["waiting"] > 0; }));
  const Outcome other = run(on_one_core(agent_words("one", {"--check"})));
  EXPECT_EQ(other.exit_code, 4) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("fail: "));
  EXPECT_THAT(other.out, HasSubstr("no agent has the class"));
  const Outcome without = run(on_login(agent_words("none", {"--check"})));
  EXPECT_EQ(without.exit_code, 4) << without.out;  // it has no plugin of the sweep
  EXPECT_EQ(count("SELECT count(*) FROM halmark.unit WHERE state <> 'ready'"), 0);
  EXPECT_EQ(fleet()["agents"].size(), 1u);
  EXPECT_EQ(halmark({"agent", "postgresql://nobody@127.0.0.1:9/none", "--check"}).exit_code, 1);
  waiting.signal(SIGINT);
  EXPECT_EQ(waiting.wait().exit_code, 130);
}

TEST_F(FleetClasses, a_cable_that_is_cut_loses_no_row_and_doubles_none) {
  Launch cut = base_;
  cut.limit_s = 280;
  cut.arguments = {"python3",
                   "-B",
                   test::in_source("/tests/integration/fleet/cut.py"),
                   test::in_build("/bin/halmark"),
                   test::in_build("/tests/plugins/hm_fake.so"),
                   tiny_model()};
  const Outcome o = run(cut);
  if (o.exit_code == 77) GTEST_SKIP() << o.out;
  EXPECT_EQ(o.exit_code, 0) << o.out << o.err;
}

}  // namespace
}  // namespace halmark::integration
