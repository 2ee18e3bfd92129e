// Six hundred changes of one field of a real proof, its hash made right again. What changes the
// meaning of a proof is refused; what is left over is printed.
#include <gmock/gmock.h>

#include <array>
#include <random>
#include <set>

#include "proof_records.hpp"
#include "proof_world.hpp"

namespace halmark {
namespace {

using namespace test;

constexpr int mutations = 600;
constexpr std::uint64_t seed = 20261123;

// Fields that say nothing which could be true or false: who wrote it, how long that took, words of
// people. `eps` is what was asked for, and matters where something is open. The model's text is
// judged by the graphs that follow from it, and has fields that no graph has.
const std::set<std::string> without_meaning = {"header/program", "header/eps", "trailer/wall_s",
                                               "trailer/device_s", "model/config"};

void list_fields(const Json& value, const std::string& pointer, std::vector<std::string>& out) {
  if (!value.is_structured()) {
    out.push_back(pointer);
    return;
  }
  if (value.is_array() && !value.empty()) out.push_back(pointer);
  for (const auto& [key, item] : value.items()) list_fields(item, pointer + '/' + key, out);
}

double drawn_factor(std::mt19937_64& random) {
  constexpr std::array<double, 6> factors = {0, -1, 0.5, 1 - 1e-9, 1 + 1e-9, 2};
  return factors[random() % factors.size()];
}

void change_text(Json& value, std::mt19937_64& random) {
  auto text = value.get<std::string>();
  if (text.empty()) {
    value = "x";
    return;
  }
  char& letter = text[random() % text.size()];
  letter = letter == '7' ? '8' : '7';
  value = text;
}

void change(Json& value, std::mt19937_64& random) {
  if (value.is_array()) {
    const std::size_t at = random() % value.size();
    if (random() % 2 == 0) {
      value.push_back(Json(value[at]));
    } else {
      value.erase(at);
    }
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_string()) {
    change_text(value, random);
  } else if (value.is_number_integer()) {
    value = value.get<std::int64_t>() + (random() % 2 == 0 ? 1 : -1);
  } else if (value.is_number()) {
    const double number = value.get<double>();
    value = number == 0 ? 1.0 : number * drawn_factor(random);
  } else {
    value = 1;
  }
}

// "leaf /open/0/gap: 3 -> 4"
struct Mutated {
  Records records;
  std::string what = {};
};

Mutated mutated(const Records& whole, std::mt19937_64& random) {
  for (;;) {
    Mutated out{.records = whole};
    Json& record = out.records[random() % out.records.size()];
    const std::string kind = record["record"];
    std::vector<std::string> fields;
    list_fields(record, "", fields);
    const std::string field = fields[random() % fields.size()];
    const bool is_hash = kind == "trailer" && field == "/sha256";  // made right again anyway
    if (is_hash || without_meaning.contains(kind + field)) continue;
    Json& value = record[Json::json_pointer(field)];
    const std::string before = value.dump();
    change(value, random);
    if (value.dump() == before) continue;
    out.what =
        kind + ' ' + field + ": " + before.substr(0, 60) + " -> " + value.dump().substr(0, 60);
    return out;
  }
}

TEST(MutatedProof, of_one_field_changed_in_meaning_is_refused) {
  const ProofWorld world;
  const Records whole = records_of(written(world.truth()));
  std::mt19937_64 random(seed);
  std::vector<std::string> survivors;
  for (int i = 0; i < mutations; ++i) {
    const Mutated one = mutated(whole, random);
    const FrontProofCheck check = world.check(text_of(one.records));
    const bool is_refused =
        check.verdict == ProofVerdict::broken || check.verdict == ProofVerdict::unreadable;
    if (!is_refused) survivors.push_back(one.what + " (" + check.reason + ")");
  }
  std::string listed;
  for (const std::string& survivor : survivors) listed += survivor + '\n';
  EXPECT_EQ(listed, "") << survivors.size() << " of " << mutations << " survive";
}

}  // namespace
}  // namespace halmark
