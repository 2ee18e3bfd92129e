// What `halmark tune MODEL --device D --devices N` answers without any other word: a drawn
// twentieth of all shipped models on five devices in four counts. No time stands before "does not
// fit", and no choice gives away half of the throughput without a reason that is true.
#include <algorithm>
#include <random>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

constexpr double user_tokens_per_s = 20;

struct Case {
  std::string model, device, devices;
  Arguments words() const { return {"tune", model, "--device", device, "--devices", devices}; }
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.model << " on " << c.devices << " x " << c.device;
}

class EveryModel : public HalmarkTest {
 protected:
  // The same on every run: a failure can be looked at.
  std::vector<Case> drawn() const {
    std::vector<Case> out;
    const Json known = data_of({"models"})["models"];
    for (const Json& model : known) {
      for (const char* device : {"h100", "h200", "mi300x", "rtx-4090", "b200"}) {
        for (const char* devices : {"1", "2", "4", "8"}) {
          out.push_back({model["id"], device, devices});
        }
      }
    }
    std::ranges::shuffle(out, std::mt19937(54));
    out.resize(out.size() / 20);
    return out;
  }
};

double user_rate(const Json& figures) { return 1e9 / figures["tpot_ns"].get<double>(); }

// The rule of the choice by the document's own figures: the most tokens/s per device of a point
// that gives a user 20 tokens/s, or where none does, of those near the most.
void expect_reason(const Json& data, const Case& c) {
  double most = 0, most_of_fast = 0;
  Json chosen;
  for (const Json& point : data["front"]) {
    const Json& figures = point["figures"];
    const double rate = figures["tokens_per_s_per_device"];
    most = std::max(most, rate);
    if (user_rate(figures) >= user_tokens_per_s) most_of_fast = std::max(most_of_fast, rate);
    if (point["point"] == data["picked"]["point"]) chosen = figures;
  }
  ASSERT_FALSE(chosen.is_null()) << testing::PrintToString(c);
  const double rate = chosen["tokens_per_s_per_device"];
  if (rate >= most / 2) return;
  EXPECT_THAT(data["picked"]["because"].get<std::string>(), HasSubstr("20 tokens/s a user"))
      << testing::PrintToString(c);
  EXPECT_EQ(rate, most_of_fast) << testing::PrintToString(c);
  const std::string given_up = data["picked"]["gives_up"].dump();
  EXPECT_THAT(given_up, HasSubstr("tokens/s per device, where point ")) << "with its figure";
}

// Lines up to the one that says it.
std::string before_misfit(const std::string& text) {
  return text.substr(0, text.find("no configuration fits"));
}

TEST_F(EveryModel, is_answered_with_a_choice_and_its_reason_or_that_it_does_not_fit) {
  std::size_t chosen = 0, too_large = 0;
  for (const Case& c : drawn()) {
    Arguments words = c.words();
    words.push_back("--json");
    const Outcome o = halmark(words);
    if (o.exit_code == 2) {
      EXPECT_THAT(o.out + o.err, HasSubstr("context_exceeds_model")) << testing::PrintToString(c);
      continue;
    }
    const Json data = Json::parse(o.out)["data"];
    if (o.exit_code == 0) {
      ++chosen;
      expect_reason(data, c);
      continue;
    }
    ++too_large;
    ASSERT_EQ(o.exit_code, 3) << testing::PrintToString(c) << o.out << o.err;
    EXPECT_TRUE(data["front"].empty());
    const std::string before = before_misfit(halmark(c.words()).out);
    EXPECT_LT(std::ranges::count(before, '\n'), 2) << before;
    for (const char* time : {" ms", " us", "tokens/s", "TPOT"}) {
      EXPECT_THAT(before, testing::Not(HasSubstr(time))) << testing::PrintToString(c);
    }
  }
  EXPECT_GT(chosen, 60u);
  EXPECT_GT(too_large, 10u);
}

}  // namespace
}  // namespace halmark::integration
