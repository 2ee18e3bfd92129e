// The command line that a run records reproduces its request. Options are the parser's own, so that
// a new one is held to it, too.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "program.hpp"
#include "simulate/sharding/plan_answer.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::cli {
namespace {

// Options that no recorded command has: what is shown and where it is written.
const std::set<std::string> output_only = {"halmark --json",
                                           "halmark --quiet",
                                           "halmark --color",
                                           "halmark --progress",
                                           "judge --keep",
                                           "tune --out",
                                           "tune --brief",
                                           "tune --pick",
                                           "tune --proof",
                                           "tune --as",
                                           "tune --server-version",
                                           "tune --engine",
                                           "tune --nodes",
                                           "tune --image",
                                           "tune --checkpoint",
                                           "export --as",
                                           "export --server-version",
                                           "export --engine",
                                           "export --nodes",
                                           "export --image",
                                           "export --checkpoint",
                                           "export --overwrite"};

// Values that the option takes, of those that a shell or a parser could take apart.
Words values_of(CLI::Option& option) {
  Words out;
  const std::string type = option.get_type_name();  // "TEXT:{front,all}" of a closed set
  if (const std::size_t open = type.find('{'); open != type.npos) {
    out = CLI::detail::split(type.substr(open + 1, type.find('}') - open - 1), ',');
  }
  for (const char* value : {"7", "3", "0.5", "200", "2", "a b", "it's $HOME", "x=[1,2]*3", "-5",
                            "--odd", "'", "100%;", "ü", ""}) {
    out.emplace_back(value);
  }
  std::erase_if(out, [&](const std::string& value) {
    const bool is_word = !value.empty() && !value.starts_with('-');
    if ((option.get_positional() || is_list(option)) && !is_word) return true;
    if (is_list(option) && value.find(',') != value.npos) return true;
    option.clear();
    try {
      option.add_result(value);
      option.run_callback();
    } catch (const CLI::ParseError&) {
      return true;
    }
    return false;
  });
  option.clear();
  return out;
}

// A command that a user could type: some options of `path` and of the program, or with `only` this
// one and what is required.
class Typist {
 public:
  Typist(const Command& command, const Words& path, std::mt19937& random,
         const std::string& only = {})
      : program_(command), random_(random), words_(path) {
    for (const bool is_positional : {true, false}) {
      for (const auto& [key, option] : offered(program_, path)) {
        if (option->get_positional() != is_positional) continue;
        const bool is_wanted = only.empty() ? below(2) == 0 : is_positional || only == key;
        if (is_wanted || option->get_required()) {
          type(*option);
        } else if (is_positional) {
          break;  // the next one would stand in its place
        }
      }
    }
  }
  const Words& words() const { return words_; }

 private:
  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  void type(CLI::Option& option) {
    const auto is_typed = [&](CLI::Option* other) { return typed_.contains(other); };
    if (std::ranges::any_of(option.get_excludes(), is_typed)) return;
    for (CLI::Option* needed : option.get_needs()) {
      if (std::ranges::any_of(needed->get_excludes(), is_typed)) return;
    }
    if (!typed_.insert(&option).second) return;
    for (CLI::Option* needed : option.get_needs()) type(*needed);
    const std::string name = option.get_name();
    if (is_flag(option)) return words_.push_back(name);
    const Words values = values_of(option);
    ASSERT_FALSE(values.empty()) << name << " takes none of the values that are tried";
    Words own;
    const std::size_t count = is_list(option) ? 1 + below(3) : 1;
    while (own.size() < count) own.push_back(values[below(values.size())]);
    if (option.get_delimiter() != '\0' && below(2) == 0) {
      own = {CLI::detail::join(own, std::string(1, option.get_delimiter()))};
    }
    for (const std::string& value : own) {
      if (option.get_positional()) {
        words_.push_back(value);
      } else if (value.empty()) {
        words_.insert(words_.end(), {name, value});
      } else {
        words_.push_back(name + '=' + value);
      }
    }
  }

  Program program_;
  std::mt19937& random_;
  Words words_;
  std::set<CLI::Option*> typed_;
};

void expect_same(const GlobalOptions& typed, const GlobalOptions& again) {
  EXPECT_EQ(again.db, typed.db);
  EXPECT_EQ(again.plugins, typed.plugins);
  EXPECT_EQ(again.allows_insecure_plugins, typed.allows_insecure_plugins);
  EXPECT_EQ(again.worker_memory, typed.worker_memory);
  EXPECT_EQ(again.phase_limits, typed.phase_limits);
}

TEST(RecordedCommand, parses_back_to_the_same_request) {
  std::mt19937 random(11);
  constexpr int commands_of_each = 25;
  for (const Command& command : commands()) {
    for (const Words& path : paths_of(command)) {
      for (int i = 0; i < commands_of_each; ++i) {
        Program typed(command), again(command);
        typed.parse(Typist(command, path, random).words());
        const std::string recorded = typed.command_line();
        SCOPED_TRACE(recorded);
        Words words = shell_words(recorded);
        ASSERT_EQ(words.front(), "halmark");
        words.erase(words.begin());
        ASSERT_NO_THROW(again.parse(words));
        Request wanted = typed.request();
        std::erase_if(wanted, [](const auto& given) { return output_only.contains(given.first); });
        ASSERT_EQ(again.request(), wanted);
        expect_same(typed.global, again.global);
      }
    }
  }
}

// What `halmark run` is told of its deployment.
DeploymentOptions deployment_in(Words words) {
  CLI::App app;
  OptionSet options(app);
  std::string command, model;
  DeploymentOptions out;
  options.add_option("command", command, "");
  options.add_option("model", model, "");
  add_deployment_options(options, out);
  std::ranges::reverse(words);
  app.parse(words);
  return out;
}

// Each option by itself, so that none is missed by chance.
TEST(RecordedCommand, omits_output_options_alone) {
  std::mt19937 random(12);
  std::set<std::string> left_out;
  for (const Command& command : commands()) {
    for (const Words& path : paths_of(command)) {
      Program program(command);
      for (const auto& [key, option] : offered(program, path)) {
        Program typed(command), again(command);
        typed.parse(Typist(command, path, random, key).words());
        ASSERT_TRUE(typed.request().contains(key)) << key;
        const std::string recorded = typed.command_line();
        Words words = shell_words(recorded);
        words.erase(words.begin());
        ASSERT_NO_THROW(again.parse(words)) << recorded;
        if (!again.request().contains(key)) left_out.insert(key);
      }
    }
  }
  EXPECT_EQ(left_out, output_only);
}

TEST(RecordedCommand, hides_passwords) {
  const auto tune = std::ranges::find(commands(), "tune", &Command::name);
  Program program(*tune);
  program.parse({"tune", "s.toml", "--fleet", "postgresql://u:secret@h/db", "--latency",
                 "roofline,journal:postgresql://h/db?user=u&password=secret", "--db",
                 "postgresql://u:secret@h/db"});
  EXPECT_EQ(program.command_line(),
            "halmark tune s.toml --fleet postgresql://u@h/db --latency "
            "'roofline,journal:postgresql://h/db?user=u&password=...' --db postgresql://u@h/db");
}

// Of a plan of shards: no one typed it, so that its values are compared.
TEST(RunCommand, reproduces_the_configuration_of_a_plan) {
  const ModelSpec spec =
      load_model("qwen3-30b-a3b", {std::filesystem::path(test::in_source()) / "configs/models"});
  const auto run = std::ranges::find(commands(), "run", &Command::name);
  std::mt19937 random(13);
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  for (int i = 0; i < 300; ++i) {
    DeploymentOptions wanted{.phase = random() % 2 == 0 ? "decode" : "prefill",
                             .batch = one_of({1, 8}),
                             .new_tokens = one_of({0, 1, 4, 512}),
                             .context = one_of({0, 512, 1024, 4096}),
                             .tp = int(one_of({1, 2})),
                             .pp = int(one_of({1, 2})),
                             .dp = int(one_of({1, 2})),
                             .ep = int(one_of({1, 2})),
                             .routing_skew = one_of({0, 50})};
    if (wanted.pp == 2 && random() % 2 == 0) wanted.stages = {20, 28};
    if (random() % 2 == 0) wanted.expert_imbalance = random() % 2 == 0 ? "uniform" : "1.37";
    if (random() % 2 == 0) wanted.precision = "kv_cache=f8_e4m3fn";
    const Configuration planned = deployment_from(wanted, spec, true);
    const std::string command = simulate::run_command(planned);
    Words words = shell_words(command);
    words.erase(words.begin());
    ASSERT_NO_THROW(Program(*run).parse(words)) << command;
    EXPECT_EQ(deployment_from(deployment_in(words), spec, true), planned) << command;
  }
}

}  // namespace
}  // namespace halmark::cli
