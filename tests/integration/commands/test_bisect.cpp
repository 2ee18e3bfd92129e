// halmark bisect over real git repositories. The figure is deterministic: a step at one commit, and
// noise of 1 % that a counter in the revision's folder seeds, so that no neighbour changes it.
#include <csignal>
#include <fstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int changed = 5;  // of commits 0 to 7: the figure is 5 % larger from it on

class Bisect : public HalmarkTest {
 protected:
  // `builds`: per commit what its build does instead of succeeding.
  void make_repository(const std::map<int, std::string>& builds = {}, double step = 1.05) const {
    std::string script =
        "set -e; git init -q -b main repo; cd repo\n"
        "git config user.email a@b.c; git config user.name n\n";
    for (int commit = 0; commit < 8; ++commit) {
      const auto build = builds.find(commit);
      script += "printf '%s\\n' '" + (build == builds.end() ? "true" : build->second) +
                "' > build.sh; echo " + std::to_string(commit >= changed ? 100 * step : 100.0) +
                " > level; git add .; git commit -q --allow-empty -m 'change " +
                std::to_string(commit) + "'; git tag c" + std::to_string(commit) + "\n";
    }
    write("make.sh", script);
    write("bench.sh",
          "n=$(cat count 2>/dev/null || echo 0); echo $((n+1)) > count\n"
          "echo x >> " +
              path("runs") +
              "\n"
              "awk -v n=$n -v level=$(cat level) 'BEGIN { srand(n * 7919 + level * 31); s = 0;\n"
              "  for (i = 0; i < 12; i++) s += rand(); printf \"run %d took %.4f ms\\n\", n,"
              " level * (1 + 0.01 * (s - 6)) }'\n");
    Launch made = base_;
    made.arguments = {"/bin/sh", path("make.sh")};
    const Outcome o = run(made);
    ASSERT_EQ(o.exit_code, 0) << o.err;
  }

  Arguments bisect(Arguments more = {}, const std::string& good = "c0",
                   const std::string& bad = "main") const {
    Arguments out{"bisect",       "--good",    good,
                  "--bad",        bad,         "--build",
                  "sh build.sh",  "--measure", "sh " + path("bench.sh"),
                  "--repository", path("repo")};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  std::size_t runs() const {
    std::ifstream file(path("runs"));
    std::size_t out = 0;
    for (std::string line; std::getline(file, line);) ++out;
    return out;
  }
};

TEST_F(Bisect, ends_with_the_commit_its_probability_and_the_size_of_the_change) {
  make_repository();
  const Json data = data_of(bisect({"--json"}));
  EXPECT_EQ(data["state"], "found");
  EXPECT_EQ(data["commit"]["title"], "change 5");
  EXPECT_EQ(data["commit"]["hash"].get<std::string>().size(), 40U);
  EXPECT_GE(data["probability"], 0.98);
  EXPECT_NEAR(data["ratio"].get<double>(), 1.05, 0.02);
  EXPECT_LE(data["ratio_interval"][0], 1.05);
  EXPECT_GE(data["ratio_interval"][1], 1.05);
  EXPECT_EQ(data["direction"], "worse");
  EXPECT_EQ(data["revisions"].size(), 8U);
  EXPECT_EQ(2 * data["pairs"].get<std::size_t>(), runs());
  EXPECT_LT(data["pairs"], 40);
  // The pairs are kept: the same request answers without a run, in words.
  const std::size_t before = runs();
  const Outcome again = halmark(bisect());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("change 5\n  is the first changed commit, probability"),
                               HasSubstr(" worse; ")));
  EXPECT_EQ(runs(), before);
  EXPECT_EQ(halmark(bisect({"--rerun"})).exit_code, 0);
  EXPECT_GT(runs(), before);
}

TEST_F(Bisect, revisions_that_do_not_build_or_hang_are_skipped_and_named) {
  make_repository({{4, "echo nothing; exit 3"}, {5, "sleep 60"}});
  const Outcome o = halmark(bisect({"--build-limit", "2"}));
  ASSERT_EQ(o.exit_code, 0) << o.err << o.out;
  EXPECT_THAT(o.out, AllOf(HasSubstr("change 6\n  is the first changed"),
                           HasSubstr("change 5, which cannot be measured"),
                           HasSubstr("change 4, which cannot be measured"),
                           HasSubstr("it did not end within 2 s (--build-limit)"),
                           HasSubstr("it does not build: exit code 3: nothing")));
  EXPECT_THAT(o.err, HasSubstr("skips "));
}

// What a build lacked may have been installed since.
TEST_F(Bisect, a_revision_that_did_not_build_is_built_again_by_the_next_call) {
  make_repository();
  Arguments asked = bisect();
  *(std::ranges::find(asked, "--build") + 1) = "test -e " + path("installed");
  EXPECT_EQ(halmark(asked).exit_code, 5);
  write("installed", "");
  EXPECT_EQ(halmark(asked).exit_code, 0);
}

TEST_F(Bisect, a_figure_by_an_expression_that_grows_where_bigger_is_better_is_an_improvement) {
  make_repository();
  const Json data =
      data_of(bisect({"--figure", "took ([0-9.]+)", "--bigger-is-better", "--json"}, "c2", "c6"));
  EXPECT_EQ(data["commit"]["title"], "change 5");
  EXPECT_EQ(data["direction"], "better");
  EXPECT_EQ(data["revisions"].size(), 5U);
}

TEST_F(Bisect, keeps_builds_and_pairs_in_the_folder_that_is_named_until_it_is_sure) {
  make_repository();
  const Json usual = data_of(bisect({"--json", "--folder", path("kept")}));
  EXPECT_EQ(usual["folder"], path("kept"));
  EXPECT_TRUE(std::filesystem::exists(path("kept")));
  const Json surer =
      data_of(bisect({"--json", "--folder", path("kept"), "--confidence", "0.9999"}));
  EXPECT_GE(surer["probability"], 0.9999);
  EXPECT_GT(surer["pairs"], usual["pairs"]);
}

TEST_F(Bisect, no_change_between_the_two_is_said_in_a_line_with_an_exit_code_of_its_own) {
  make_repository();
  const Outcome o = halmark(bisect({}, "c0", "c4"));
  EXPECT_EQ(o.exit_code, 3) << o.err;
  EXPECT_THAT(o.out, testing::StartsWith("no change between "));
}

TEST_F(Bisect, resumes_where_it_was_left_and_after_an_interrupt) {
  make_repository();
  EXPECT_EQ(halmark(bisect({"--max-pairs", "3"})).exit_code, 4);
  EXPECT_EQ(runs(), 6U);
  const std::string slow = "sleep 0.2; sh " + path("bench.sh");
  Arguments request = bisect();
  request[8] = slow;
  Process process(launch(request));
  ASSERT_TRUE(process.await_lines("bisect", 4));
  process.signal(SIGINT);
  const Outcome stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  const Outcome o = halmark(bisect());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("resumes with 3 pairs"));
  const Outcome resumed = halmark(request);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("resumes with "));
}

TEST_F(Bisect, what_cannot_be_searched_is_refused_in_one_line) {
  make_repository({{0, "exit 7"}});
  const auto with = [&](const Arguments& more, const std::string& good, const std::string& bad) {
    return bisect(more, good, bad);
  };
  struct Case {
    Arguments arguments;
    int exit_code;
    const char* says;
  };
  const std::vector<Case> cases = {
      {with({"--repository", path("")}, "c1", "c7"), 2, "no git repository"},
      {with({"--repository", path("absent")}, "c1", "c7"), 2, "no git repository"},
      {with({}, "nosuch", "c7"), 2, "'nosuch' is no revision"},
      {with({}, "c7", "c1"), 2, "is no ancestor of the bad one"},
      {with({}, "c1", "c1"), 2, "the same commit"},
      {with({}, "c0", "c7"), 5, "the good revision cannot be measured: it does not build"},
      {with({"--measure", "echo none"}, "c1", "c7"), 5, "its output has no figure"},
      {with({"--measure", "exit 2"}, "c1", "c7"), 5, "exit code 2"},
      {with({"--measure", "echo -3"}, "c1", "c7"), 5, "ratios need one above 0"},
      {with({"--measure", "sleep 60", "--measure-limit", "1"}, "c1", "c7"), 5, "--measure-limit"},
      {with({"--figure", "("}, "c1", "c7"), 2, "no regular expression"},
      {with({"--built", "x.so"}, "c1", "c7"), 2, "a command or a plugin"},
  };
  for (const Case& c : cases) {
    Arguments arguments = c.arguments;
    // The last of an option that is given twice is the one that counts.
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      for (std::size_t k = i + 1; k < arguments.size(); ++k) {
        if (arguments[i] == arguments[k] && arguments[i].starts_with("--")) {
          arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                          arguments.begin() + static_cast<std::ptrdiff_t>(i) + 2);
        }
      }
    }
    const Outcome o = halmark(arguments);
    EXPECT_EQ(o.exit_code, c.exit_code) << c.says << o.err;
    EXPECT_THAT(o.err, HasSubstr(c.says));
  }
}

// Eight builds of the fake plugin, whose rope is 5 % slower from one commit on, on its own clock.
TEST_F(Bisect, finds_the_commit_that_made_a_kernel_of_a_plugin_slower) {
  make_repository();
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;noise=0.004;timer=device_event";
  const std::string build = "cp " + base_.environment.at("HALMARK_PLUGIN_PATH") +
                            " out.so && printf '\\nHALMARK_FAKE_SCRIPT=slow=rope:%s' "
                            "$(awk '{print $1 / 100}' level) >> out.so";
  Arguments request = {"bisect",
                       "--good",
                       "c0",
                       "--bad",
                       "c7",
                       "--repository",
                       path("repo"),
                       "--build",
                       build,
                       "--built",
                       "out.so",
                       "--backend",
                       "fake",
                       "--op",
                       "rope",
                       "--params",
                       "rows=4,heads=2,head_dim=64,rotary_dim=64",
                       "--dtype",
                       "f32",
                       "--seconds",
                       "0.01",
                       "--json"};
  const Json data = data_of(request);
  EXPECT_EQ(data["commit"]["title"], "change 5");
  EXPECT_NEAR(data["ratio"].get<double>(), 1.05, 0.02);
  request.insert(request.begin() + 1, "gemm");
  const Outcome other = halmark(request);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err + other.out, HasSubstr("no kernel begins with 'gemm'"));
  request[1] = "rope";
  request.insert(request.end(), {"--device", "7"});
  const Outcome absent = halmark(request);
  EXPECT_THAT(absent.err + absent.out, HasSubstr("has no device 7"));
}

}  // namespace
}  // namespace halmark::integration
