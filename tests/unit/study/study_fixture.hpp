// Studies to store: rows of every kind, and the two back ends that are files.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "framework/study/protocol.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::test {

inline std::shared_ptr<const ParamDistribution> distribution(ParamDistribution value) {
  return std::make_shared<const ParamDistribution>(std::move(value));
}

// Two parameters of different kinds; told apart by `value`.
inline TrialRow running_row(double value = 0.5) {
  static const auto real = distribution(
      {.kind = ParamDistribution::Kind::real, .low = 1e-3, .high = 1e6, .is_log = true});
  static const auto choice =
      distribution({.choices = {ParamValue("bf16"), nullptr, true, std::int64_t{4}, 2.5}});
  TrialRow row;
  row.params = {{"rate", value, real}, {"dtype", 3, choice}};
  row.system = {{"halmark:worker", "\"me\""}};
  return row;
}

inline StudyInfo two_objectives(const std::string& name) {
  return {.name = name,
          .directions = {StudyDirection::minimize, StudyDirection::maximize},
          .user = {{"note", R"({"a":[1,"x"]})"}},
          .system = {{"study:metric_names", R"(["latency","tokens"])"}}};
}

inline std::int64_t make_study(StudyStore& store, const std::string& name = "s") {
  std::int64_t id = -1;
  store.transact([&](StudyTransaction& t) { id = t.create_study(two_objectives(name)).id; });
  return id;
}

inline std::vector<TrialRow> all_trials(StudyStore& store, std::int64_t study) {
  TrialCursor cursor;
  return store.trials(study, cursor);
}

inline TrialChange completed(std::int64_t id, std::vector<double> values) {
  return {.id = id, .state = TrialState::complete, .values = std::move(values)};
}

// A study in memory that programs ask.
class AskedStudy : public testing::Test {
 protected:
  explicit AskedStudy(const SpaceDescription& space)
      : study_(*store_, space, {.name = "s", .sampler = "random", .seed = 5}) {}
  Json answer(const std::string& request) {
    return Json::parse(protocol_.answers({&request, 1}).at(0));
  }
  TrialRow row(int trial) {
    return all_trials(*store_, study_.info().id).at(static_cast<std::size_t>(trial));
  }
  std::unique_ptr<StudyStore> store_ = open_study_store("memory:", StudyAccess::or_create);
  Study study_;
  StudyProtocol protocol_{study_};
};

}  // namespace halmark::test
