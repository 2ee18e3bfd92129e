// What no step can be asked: both sides of every limit, and which words are known.
#include "model/step/question_checks.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "model/training/training_words.hpp"
#include "tests/unit/says.hpp"

namespace halmark {
namespace {

using test::error_of;

StepQuestion measured(double ms) { return {.measured_ms = ms}; }

// 0.1 ns to eleven days, ends included.
TEST(QuestionChecks, a_measured_time_is_one_that_a_step_can_take) {
  for (const double ms : {1e-7, 1.0, 1e9}) EXPECT_NO_THROW(check_question(measured(ms))) << ms;
  for (const double ms : {0.9e-7, 1.1e9, 0.0, -1.0, std::nan("")}) {
    refuses([&] { check_question(measured(ms)); }, "--measured-ms is no time of a step");
  }
  EXPECT_NO_THROW(check_question({}));
}

TEST(QuestionChecks, drafts_and_their_acceptance_belong_together) {
  for (const double a : {0.0, 0.7, 1.0}) {
    EXPECT_NO_THROW(check_question({.drafted = 1, .acceptance = a})) << a;
  }
  for (const double a : {-0.01, 1.01, std::nan("")}) {
    refuses([&] { check_question({.drafted = 1, .acceptance = a}); }, "0..1");
  }
  refuses([&] { check_question({.acceptance = 0.5}); }, "without drafted tokens");
  EXPECT_NO_THROW(check_question({.drafted = 3}));
  refuses([&] { check_question({.drafted = -1}); }, "--mtp");
}

TEST(QuestionChecks, measured_peaks_need_a_device_that_has_some) {
  const Device stated{.id = "h100"}, measured{.id = "here", .is_measured = true};
  const StepQuestion question{.peak = "measured"};
  EXPECT_NO_THROW(check_peak(question, measured));
  refuses([&] { check_peak(question, stated); }, "the peaks of 'h100' are not measured");
  refuses([&] { check_peak(question, {}); }, "no device");
  EXPECT_NO_THROW(check_peak({}, stated));
  EXPECT_NO_THROW(check_peak({}, {}));
}

TEST(TrainingWords, every_word_of_an_option_is_the_value_it_names) {
  const auto plan = [](TrainingWords words) { return training_plan(words, {}); };
  const std::pair<const char*, Optimizer> optimizers[] = {{"none", Optimizer::none},
                                                          {"sgd", Optimizer::sgd},
                                                          {"momentum", Optimizer::momentum},
                                                          {"adam", Optimizer::adam},
                                                          {"adam8bit", Optimizer::adam8bit}};
  for (const auto& [word, value] : optimizers) {
    EXPECT_EQ(plan({.optimizer = word}).optimizer, value);
    EXPECT_EQ(optimizer_name(value), word);
  }
  const std::pair<const char*, Recompute> recomputed[] = {{"none", Recompute::none},
                                                          {"selective", Recompute::selective},
                                                          {"alternate", Recompute::alternate},
                                                          {"full", Recompute::full}};
  for (const auto& [word, value] : recomputed)
    EXPECT_EQ(plan({.recompute = word}).recompute, value);
  EXPECT_EQ(plan({.loss = "in-place"}).loss, Loss::in_place);
  EXPECT_EQ(plan({.loss = "plain"}).loss, Loss::plain);
  EXPECT_EQ(plan({.gradients = "f32"}).gradient, Dtype::f32);
  EXPECT_EQ(plan({.zero = 3}).zero, 3);
  EXPECT_EQ(plan({.lora_rank = 1}).lora_rank, 1);
  EXPECT_TRUE(plan({.sequence_parallel = true}).sequence_parallel);
}

TEST(TrainingWords, what_is_not_said_has_its_default_and_gradients_the_type_of_activations) {
  Precision precision;
  precision.activation = Dtype::f16;
  const TrainingPlan plan = training_plan({}, precision), usual;
  EXPECT_EQ(plan.gradient, Dtype::f16);
  EXPECT_EQ(plan.optimizer, usual.optimizer);
  EXPECT_EQ(plan.recompute, usual.recompute);
  EXPECT_EQ(plan.loss, usual.loss);
  EXPECT_EQ(plan.zero, 0);
  EXPECT_EQ(plan.lora_rank, 0);
  EXPECT_FALSE(plan.sequence_parallel);
}

TEST(TrainingWords, an_unknown_word_is_refused_with_its_option_and_the_nearest_word) {
  const auto refusal = [](TrainingWords words) {
    return std::string(error_of([&] { training_plan(words, {}); }).what());
  };
  says(refusal({.optimizer = "adm"}), "'adm' of --optimizer");
  says(refusal({.recompute = "half"}), "'half' of --recompute");
  says(refusal({.gradients = "bf61"}), "'bf61' of --gradients");
  says(refusal({.loss = "plane"}), "'plane' of --loss");
  says(refusal({.lora_rank = 0}), "--lora-rank must be at least 1");
}

TEST(TrainingWords, each_of_them_alone_makes_a_training_question) {
  EXPECT_FALSE(TrainingWords{}.has_any());
  const TrainingWords some[] = {{.recompute = "full"}, {.optimizer = "sgd"},
                                {.gradients = "f32"},  {.loss = "plain"},
                                {.zero = 0},           {.lora_rank = 8},
                                {.micro_batch = 1},    {.sequence_parallel = true}};
  for (const TrainingWords& words : some) EXPECT_TRUE(words.has_any());
}

}  // namespace
}  // namespace halmark
