// Proofs that were altered and hashed again, given to the program: one line says what is wrong, and
// where there is nothing to hold a proof against, that nothing was decided.
#include <filesystem>
#include <functional>
#include <map>

#include "core/text/digest.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using Records = std::vector<nlohmann::json>;  // keys sorted, as proofs have them

constexpr int ok = 0, refused = 2, broken = 3, not_decided = 4;

class ForgedProofs : public HalmarkTest {
 protected:
  // Measured once for all forgeries of it.
  void prove(const std::string& more = "shards = [1]", const std::string& backend = "fake") {
    static std::map<std::string, std::map<std::string, std::string>> proved;  // files by name
    std::map<std::string, std::string>& kept = proved[backend + more];
    for (const auto& [name, text] : kept) {
      std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
      write(name, text);
    }
    if (!kept.empty()) return;
    tiny_sweep(backend, more);
    const Outcome o = undisturbed(
        {"tune", "tiny.toml", "--db", "r.db", "--sampler", "certify", "--proof", "f.hmproof"});
    ASSERT_EQ(o.exit_code, ok) << o.out << o.err;
    for (const std::string& name : files()) kept[name] = read(name);
  }

  // The proof with each of its records changed, its hash made right.
  void forge(const std::function<void(nlohmann::json&)>& change) const {
    Records records;
    const std::string text = read("f.hmproof");
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      records.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    std::string out;
    for (std::size_t i = 0; i < records.size(); ++i) {
      change(records[i]);
      if (records[i].is_null()) continue;
      if (i + 1 == records.size()) records[i]["sha256"] = sha256_of(out);
      out += records[i].dump() + '\n';
    }
    write("f.hmproof", out);
  }

  Outcome verify(Arguments more = {}) const {
    Arguments arguments = {"verify-front", "f.hmproof"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return halmark(arguments);
  }
  void expect_broken(const Outcome& o, const std::string& why) const {
    EXPECT_EQ(o.exit_code, broken) << o.out << o.err;
    EXPECT_THAT(o.out, MatchesRegex("f.hmproof:[0-9]+: the proof broken: .*\n"));
    EXPECT_TRUE(is_one_line(o.out));
    EXPECT_THAT(o.out, HasSubstr(why));
  }
};

TEST_F(ForgedProofs, of_other_operations_than_the_contract_has_are_refused) {
  prove();
  forge([](nlohmann::json& record) {
    if (record["record"] == "kernel") record["operations"] = record["operations"].get<double>() + 8;
  });
  expect_broken(verify(), "operations or bytes are not those of the contract");
}

TEST_F(ForgedProofs, of_another_model_are_refused) {
  prove();
  forge([](nlohmann::json& record) {
    if (record["record"] != "model") return;
    auto config = nlohmann::json::parse(record["config"].get<std::string>());
    config["num_hidden_layers"] = config["num_hidden_layers"].get<int>() + 1;
    record["config"] = config.dump();
  });
  expect_broken(verify(), "graph");
}

TEST_F(ForgedProofs, of_another_plan_are_refused_by_the_run_that_they_name) {
  prove();
  const std::string change = "\"rounds\": 2";
  forge([plan = std::string(), &change](nlohmann::json& record) mutable {
    // The header stands before the plan: its hash is that of the text that will follow.
    if (record["record"] == "header") record["plan"] = "";
    if (record["record"] != "plan") return;
    auto text = record["text"].get<std::string>();
    const std::size_t at = text.find(change);
    ASSERT_NE(at, std::string::npos);
    record["text"] = text.replace(at, change.size(), "\"rounds\": 9");
  });
  expect_broken(verify(), "the plan is not the one whose hash the header has");
  std::string hash;
  forge([&hash](nlohmann::json& record) {
    if (record["record"] == "plan") hash = sha256_of(record["text"].get<std::string>());
  });
  forge([&hash](nlohmann::json& record) {
    if (record["record"] == "header") record["plan"] = hash;
  });
  EXPECT_EQ(verify().exit_code, not_decided) << "taken as stated";
  expect_broken(verify({"--journal", "r.db"}), "the plan is not that of run 1");
}

TEST_F(ForgedProofs, of_a_space_without_one_of_its_points_are_refused) {
  prove();
  forge([](nlohmann::json& record) {
    if (record["record"] == "config" && record["at"][2] == 0) record = nullptr;
  });
  expect_broken(verify(), "is a configuration, and is left out");
}

TEST_F(ForgedProofs, that_do_not_say_what_they_are_about_decide_nothing) {
  prove();
  forge([](nlohmann::json& record) {
    if (record["record"] == "device") record = nullptr;
  });
  const Outcome o = verify({"--journal", "r.db"});
  EXPECT_EQ(o.exit_code, not_decided) << o.out;
  EXPECT_THAT(o.out, HasSubstr("not decided, it has no device record"));
}

TEST_F(ForgedProofs, of_other_peaks_than_their_device_record_has_are_refused) {
  know_peaks(R"(
[[peak]]
path = "f32_vector"
dtype = "f32"
threads = 1
flops_per_s = 1e13
source = "measured 2026-11-22T12:38:40Z"
)");
  prove("shards = [1]", "cpu");
  EXPECT_THAT(read("f.hmproof"), HasSubstr("\"id\":\"f32_vector, "));
  EXPECT_NE(verify({"--journal", "r.db"}).exit_code, broken);
  forge([](nlohmann::json& record) {
    if (record["record"] != "header") return;
    for (nlohmann::json& peak : record["peaks"]) peak["value"] = peak["value"].get<double>() / 2;
  });
  EXPECT_EQ(verify().exit_code, broken);
}

TEST_F(ForgedProofs, of_a_run_that_the_journal_has_not_cannot_be_checked) {
  prove();
  forge([](nlohmann::json& record) {
    if (record["record"] == "header") record["run"] = 7;
  });
  EXPECT_EQ(verify({"--journal", "r.db"}).exit_code, refused);
}

}  // namespace
}  // namespace halmark::integration
