// An option that is accepted acts: of each there is a pair of commands that differ by it alone, and
// in what they print, write or end with; or a reason why only a device, a network or a terminal can
// show it. A new option without either fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <sstream>

#include "acting_options.hpp"
#include "program.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::cli {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int exit_code = 0;
  std::string text;  // printed, or the line of the error
  Json data;
  std::map<std::string, std::string> files;  // written, by path
  bool operator==(const Outcome&) const = default;
};

// Commands run in a folder with the same few inputs each time.
class Bench {
 public:
  Bench() {
    fs::copy(test::in_source("/tests/data/fixtures"), folder_ / "fixtures");
    for (const char* variable : {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME"}) {
      setenv(variable, (folder_ / "home").c_str(), 1);
    }
    std::freopen("/dev/null", "r", stdin);
  }
  ~Bench() { fs::current_path("/"); }

  Words words(const std::string& line) const {
    Words out = shell_words(line);
    for (std::string& word : out) {
      for (const auto& [name, path] : {std::pair("%f", folder_ / "fixtures"),
                                       std::pair("%d", test::in_source("/tests/data"))}) {
        if (const auto at = word.find(name); at != word.npos) word.replace(at, 2, path);
      }
    }
    return out;
  }

  // Throws CLI::ParseError.
  Outcome run(const Words& words, Request& request) const {
    const fs::path work = folder_.path() / "work";
    fs::current_path("/");
    fs::remove_all(work);
    fs::create_directories(work);
    fs::current_path(work);
    for (const Input& input : inputs) {
      test::write_file(input.name, input.text);
      fs::permissions(input.name, fs::perms::owner_all);
    }
    fs::copy(folder_ / "fixtures/tiny.json", work);
    const auto command = std::ranges::find(commands(), words.front(), &Command::name);
    if (command == commands().end()) throw std::invalid_argument(words.front());
    Program program(*command);
    program.parse(words);
    request = program.request();
    program.global.quiet = true;
    Outcome out;
    try {
      CommandResult result = program.run();
      result.data.erase("planning_s");
      out = {static_cast<int>(result.exit_code),
             std::regex_replace(result.text, std::regex("planned in .*"), ""),
             std::move(result.data),
             {}};
    } catch (const Error& error) {
      out = {static_cast<int>(error.exit_code()), error.line(), {}, {}};
    }
    for (const auto& entry : fs::recursive_directory_iterator(work)) {
      // A study has the hour of each trial.
      if (entry.is_regular_file() && entry.path().extension() != ".study")
        out.files[entry.path()] = test::file_bytes(entry.path());
    }
    return out;
  }

 private:
  test::ScratchFolder folder_;
};

// `words` with another value of the option, or of the positional, that `change` begins with.
Words changed(Words words, const Words& change, const Request& request, const std::string& key) {
  const auto stated = request.find(key);
  const bool is_positional = !change.front().starts_with('-');
  if (stated != request.end() && is_positional) {
    std::ranges::replace(words, stated->second.front(), change.at(1));
    return words;
  }
  const auto there = std::ranges::find(words, change.front());
  if (there != words.end()) words.erase(there, there + 2);
  words.insert(words.end(), change.begin() + (is_positional ? 1 : 0), change.end());
  return words;
}

// "simulate step --tp"; of an option of the program "halmark --db".
std::string key_in(const Words& words, const std::string& name) {
  const auto command = std::ranges::find(commands(), words.front(), &Command::name);
  Program program(*command);
  const CLI::App* app = &program.app();
  for (const std::string& word : words) {
    const auto named =
        app->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (named.empty()) break;
    app = named.front();
  }
  for (const CLI::App* level : {app, static_cast<const CLI::App*>(&program.app())}) {
    for (const CLI::Option* option : level->get_options()) {
      if (option->check_name(name)) return key_of(*level, *option);
    }
  }
  return {};
}

std::set<std::string> all_keys() {
  std::set<std::string> out;
  for (const Command& command : commands()) {
    for (const Words& path : paths_of(command)) {
      Program program(command);
      for (const auto& [key, option] : offered(program, path)) out.insert(key);
    }
  }
  return out;
}

// What each line of the table shows to act. Others fail here.
class Shown {
 public:
  void read(const std::string& table) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      SCOPED_TRACE(line);
      if (line.starts_with("> ")) {
        begin(line.substr(2));
      } else if (line.starts_with("  ! ")) {
        except(line.substr(4));
      } else if (!line.empty()) {
        change(line);
      }
    }
  }
  const std::set<std::string>& keys() const { return keys_; }

 private:
  struct Base {
    Words words;
    Request request;
    std::optional<Outcome> outcome;
  };

  void begin(const std::string& line) {
    bases_.clear();
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) {
      bases_.push_back({bench_.words(part), {}, {}});
    }
  }

  // It runs twice: what differs by itself shows nothing. Copies are called by their second, which
  // may end between two runs, but not between as many.
  void run(Base& base) {
    if (base.outcome) return;
    bool is_same = false;
    for (int turn = 0; turn < 4 && !is_same; ++turn) {
      base.outcome = bench_.run(base.words, base.request);
      is_same = bench_.run(base.words, base.request) == *base.outcome;
    }
    EXPECT_TRUE(is_same) << "it differs by itself";
  }

  void except(const std::string& line) {
    const std::size_t cut = line.find(": ");
    ASSERT_NE(cut, line.npos) << "no reason";
    std::istringstream names(line.substr(0, cut));
    for (std::string name; names >> name;) {
      for (const Base& base : bases_) add(key_in(base.words, name));
    }
  }

  void add(const std::string& key) {
    EXPECT_NE(key, "") << "no option";
    EXPECT_TRUE(keys_.insert(key).second) << key << " is there twice";
  }

  void change(const std::string& line) {
    const Words change = bench_.words(line);
    for (Base& base : bases_) {
      const std::string key = key_in(base.words, change.front());
      add(key);
      try {
        run(base);
        Request request;
        const Outcome outcome = bench_.run(changed(base.words, change, base.request, key), request);
        EXPECT_FALSE(outcome == *base.outcome)
            << key << " is accepted and dropped: " << outcome.text;
        EXPECT_TRUE(differ_in(base.request, request, key)) << "more than " << key << " differs";
      } catch (const CLI::ParseError& error) {
        ADD_FAILURE() << key << ": " << error.what();
      }
    }
  }

  static bool differ_in(Request base, Request request, const std::string& key) {
    const bool is_other = base[key] != request[key];
    base.erase(key);
    request.erase(key);
    return is_other && base == request;
  }

  Bench bench_;
  std::vector<Base> bases_;
  std::set<std::string> keys_;
};

TEST(ActingOptions, each_changes_what_is_printed_written_or_returned) {
  Shown shown;
  shown.read(acting_options);
  EXPECT_EQ(shown.keys(), all_keys());
}

}  // namespace
}  // namespace halmark::cli
