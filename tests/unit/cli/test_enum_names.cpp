// Every closed set that is written by name: its names are there once, and read as what they name;
// no other word does, least of all none.
#include "core/text/enum_names.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "core/chosen/objective.hpp"
#include "core/chosen/precision.hpp"
#include "core/device.hpp"
#include "core/latency.hpp"
#include "core/limiter.hpp"
#include "core/measured/device_kernels.hpp"
#include "core/measured/measured_memory.hpp"
#include "core/measured/measurement.hpp"
#include "host/protocol.hpp"
#include "judge/verdict.hpp"
#include "latency/interpolation/efficiency_curve.hpp"
#include "model/graph/graph.hpp"
#include "model/training/training.hpp"
#include "profile/kernels/kernel_account.hpp"
#include "profile/kernels/kernel_binding.hpp"
#include "profile/trace/attribution.hpp"
#include "simulate/collectives/curve.hpp"
#include "simulate/fabric/topology.hpp"
#include "simulate/schedule/program/pass_order.hpp"
#include "simulate/serving/server/server.hpp"
#include "simulate/sharding/shard_strategies.hpp"
#include "simulate/timeline/timeline.hpp"
#include "tests/checkout.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark {
namespace {

template <class Enum, std::size_t first = 0>
std::vector<Enum> all_of() {
  std::vector<Enum> out;
  for (std::size_t i = 0; i < enumerators<Enum, first>(); ++i) {
    out.push_back(static_cast<Enum>(first + i));
  }
  return out;
}

template <class Enum>
using Name = std::string_view (*)(Enum);
template <class Enum>
using Parse = std::optional<Enum> (*)(std::string_view);

// Fails where a name is empty or there twice.
template <class Enum>
std::set<std::string> names_of(Name<Enum> name, const std::vector<Enum>& all) {
  std::set<std::string> out;
  EXPECT_GT(all.size(), 1u);
  for (const Enum value : all) {
    EXPECT_NE(name(value), "") << static_cast<int>(value);
    EXPECT_TRUE(out.insert(std::string(name(value))).second) << name(value);
  }
  return out;
}

template <class Enum>
void expect_read_back(Name<Enum> name, Parse<Enum> parse,
                      const std::vector<Enum>& all = all_of<Enum>()) {
  for (const Enum value : all) EXPECT_EQ(parse(name(value)), value) << name(value);
  for (const std::string& known : names_of(name, all)) {
    for (const std::string& near : {known + 'x', ' ' + known, known + ' ', known + '\0'}) {
      EXPECT_EQ(parse(near), std::nullopt) << near;
    }
  }
  EXPECT_EQ(parse(""), std::nullopt);
}

TEST(EnumNames, parse_back_and_near_misses_do_not) {
  expect_read_back(status_name, parse_status);
  expect_read_back(phase_name, parse_phase);
  expect_read_back(serving_mode_name, parse_serving_mode);
  expect_read_back(front_class_name, parse_front_class);
  expect_read_back(provenance_name, parse_provenance);
  expect_read_back(cache_mode_name, parse_cache_mode);
  expect_read_back(packed_weights_name, parse_packed_weights);
  expect_read_back(kernel_kind_name, parse_kernel_kind);
  expect_read_back(objective_name, parse_objective);
  expect_read_back(dtype_name, parse_dtype, all_of<Dtype, 1>());
  expect_read_back(confidence_name, parse_confidence, all_of<Confidence, 1>());
  expect_read_back(optimizer_name, parse_optimizer);
  expect_read_back(loss_name, parse_loss);
  expect_read_back(recompute_name, parse_recompute);
  expect_read_back(trace::stage_name, trace::parse_stage);
  expect_read_back(fabric::transport_name, fabric::parse_transport);
  expect_read_back(fabric::ecmp_name, fabric::parse_ecmp);
  expect_read_back(simulate::collective_name, simulate::collective_named);
  expect_read_back(serving::server_mode_name, serving::parse_server_mode);
  using schedule::Order;
  expect_read_back(schedule::order_name, schedule::parse_training_order,
                   {Order::one_f_one_b, Order::interleaved, Order::zero_bubble});
  EXPECT_EQ(schedule::parse_training_order("forward"), std::nullopt) << "no order of training";
}

// Those of enum_names do not compile otherwise.
TEST(EnumNames, that_are_only_written_are_distinct) {
  const auto expect_distinct = []<class Enum>(Name<Enum> name) { names_of(name, all_of<Enum>()); };
  expect_distinct(+[](Limiter limiter) { return limiter_name(limiter); });
  expect_distinct(+[](TimeBasis basis) { return time_basis_name(basis); });
  expect_distinct(+[](SetSizeVerdict verdict) { return set_size_verdict_name(verdict); });
  expect_distinct(judge::outcome_name);
  expect_distinct(resource_name);
  expect_distinct(operator_kind_name);
  expect_distinct(split_name);
  expect_distinct(kernel_bucket_name);
  expect_distinct(binding_status_name);
  expect_distinct(simulate::curve_shape_name);
  expect_distinct(fabric::kind_name);
  expect_distinct(fabric::duplex_name);
  expect_distinct(simulate::strategy_name);
  expect_distinct(simulate::phase_name);
  expect_distinct(proof_verdict_name);
}

// "" names what was not stated, and is no name of anything else.
TEST(EnumNames, are_empty_for_what_is_unstated_alone) {
  for (const auto reason : all_of<protocol::StopReason>()) {
    EXPECT_EQ(protocol::name_of(reason).empty(), reason == protocol::StopReason{});
  }
  for (const auto confidence : all_of<Confidence>()) {
    EXPECT_EQ(confidence_name(confidence).empty(), confidence == Confidence::unstated);
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// A parser of names that a header declares is held by the tests above.
TEST(EnumNames, are_tested_for_every_parser) {
  const std::set<std::string> of_other_things = {"parse_shard_place", "parse_report",
                                                 "parse_question", "parse_request_objective"};
  const std::filesystem::path root = test::in_source();
  const std::string tested = text_of(root / "tests/unit/cli/test_enum_names.cpp");
  const std::regex parser(R"(std::optional<\w+> (parse_\w+|\w+_named)\(std::string_view \w+\);)");
  std::size_t found = 0;
  for (const char* folder : {"framework", "kernels", "search"}) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".hpp") continue;
      const std::string text = text_of(file.path());
      for (std::sregex_iterator it(text.begin(), text.end(), parser), end; it != end; ++it) {
        const std::string name = (*it)[1];
        ++found;
        if (of_other_things.contains(name)) continue;
        EXPECT_TRUE(std::regex_search(tested, std::regex("_name, (\\w+::)?" + name + "\\b")))
            << file.path() << ": " << name;
      }
    }
  }
  EXPECT_GT(found, 15u);
}

}  // namespace
}  // namespace halmark
