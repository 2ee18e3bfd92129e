// What of a worker's answers is refused, what is passed on, and what becomes of its log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "scripted_client.hpp"

namespace halmark {
namespace {

using test::load_failure;
using test::scripted;
using test::start;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

struct Odd {
  const char* fault;
  const char* reason;
};

class OddAnswerToLoad : public testing::TestWithParam<Odd> {};

TEST_P(OddAnswerToLoad, loses_the_worker) {
  const WorkerFailure failure = load_failure(scripted(GetParam().fault));
  EXPECT_EQ(failure.status, Status::worker_lost);
  EXPECT_TRUE(failure.worker_is_gone);
  EXPECT_THAT(failure.reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(WorkerClient, OddAnswerToLoad,
                         testing::Values(Odd{"other_kind", "an answer of another kind"},
                                         Odd{"unasked_samples", "an answer of another kind"},
                                         Odd{"bad_phase", "malformed"},
                                         Odd{"bad_failed", "malformed"},
                                         Odd{"bad_refused", "malformed"}),
                         [](const auto& test) { return std::string(test.param.fault); });

TEST(WorkerAnswer, that_failed_without_words_is_its_status) {
  auto worker = start(scripted("silent_failure"));
  const WorkerFailure failure = worker->load("anything").failure;
  EXPECT_EQ(failure.status, Status::out_of_memory);
  EXPECT_EQ(failure.reason, "out_of_memory");
  EXPECT_EQ(failure.phase, "load");
  EXPECT_FALSE(failure.worker_is_gone);
  EXPECT_TRUE(worker->alive());
}

TEST(WorkerAnswer, of_a_phase_shows_32_characters_of_it) {
  EXPECT_EQ(load_failure(scripted("long_phase")).phase, std::string(32, 'p'));
}

TEST(WorkerAnswer, must_speak_our_protocol) {
  const auto worker = Worker::start(scripted("other_protocol"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.failure.status, Status::worker_lost);
  EXPECT_THAT(worker.failure.reason, HasSubstr("the worker speaks protocol 2, not 1"));
}

TEST(WorkerAnswer, with_samples_is_a_whole_number_of_them) {
  EXPECT_EQ(start(scripted("odd_block"))->sample({}).failure.reason,
            "a samples block has a bad length");
}

TEST(WorkerAnswer, about_configs_is_one_for_each) {
  const std::vector<Config> configs(2);
  for (const char* fault : {"", "long_status", "long_reason"}) {
    const auto answer = start(scripted(fault))->supports("copy", {"copy", {}}, configs);
    EXPECT_EQ(static_cast<bool>(answer), fault[0] == '\0') << fault;
    if (!answer) {
      EXPECT_THAT(answer.failure.reason, HasSubstr("another number of configs"));
    }
  }
}

TEST(WorkerAnswer, to_everything_else_is_passed_on) {
  auto worker = start(scripted(""));
  EXPECT_TRUE(worker->open(0));
  EXPECT_EQ(worker->probe({})->rates, (std::vector<double>{1, 2}));
  EXPECT_EQ(worker->token()->hex, "ab");
  EXPECT_TRUE(worker->join({}));
  const auto steps = worker->sequence({});
  ASSERT_TRUE(steps) << steps.failure.reason;
  EXPECT_EQ(steps->steps.size(), 10u);
  EXPECT_EQ(steps->measured.samples, 10);
  EXPECT_TRUE(worker->close());
  EXPECT_EQ(worker->hello().build, "scripted");
  EXPECT_EQ(worker->log_tail(), "");
}

// Parts, and what the client says of them; "" where it takes them.
TEST(WorkerReveal, takes_parts_inside_their_memory) {
  constexpr const char* outside = "a revealed part lies outside its memory";
  const std::string far = std::to_string(std::int64_t{1} << 42);
  const std::string farther = std::to_string((std::int64_t{1} << 42) + 1);
  const std::pair<std::string, std::string> cases[] = {
      {"64 128 0 16", ""},
      {"0 4096", ""},
      {"0 0", ""},
      {"", ""},
      {"-1 8", outside},
      {"8 -1", outside},
      {farther + " 0", outside},
      {"0 " + farther, outside},
      {far + " 0", "cannot be mapped"},
      {"0 " + far, "cannot be mapped"},
      {"4000 97", "cannot be mapped"},
  };
  for (const auto& [parts, refusal] : cases) {
    WorkerOptions options = scripted("");
    options.environment["HALMARK_FAKE_PARTS"] = parts;
    const auto answer = start(options)->reveal({});
    EXPECT_EQ(static_cast<bool>(answer), refusal.empty()) << parts;
    EXPECT_THAT(answer.failure.reason, HasSubstr(refusal)) << parts;
    if (parts.starts_with("64")) {
      EXPECT_EQ(answer->memory.bytes(), 192) << "to the end of the last part in memory";
      EXPECT_EQ(answer->part(answer->revealed.parts.at(1)).size(), 16u);
      EXPECT_EQ(answer->part(answer->revealed.parts.at(1)).data(), answer->memory.data());
    }
    if (answer && parts.size() <= 3) {
      EXPECT_EQ(answer->memory.bytes(), 0);
    }
  }
  EXPECT_EQ(start(scripted("no_memory"))->reveal({}).failure.reason,
            "revealed bytes came without memory");
}

// Offset, bytes, begin in the operand and overwritten row (-9: none) of each; "" where it is taken.
TEST(WorkerKept, outputs_lie_inside_their_memory_and_name_rows_that_there_are) {
  constexpr const char* outside = "a kept output lies outside its memory";
  const std::string most = std::to_string(protocol::KeptOutput::kept_bytes_max);
  const std::string more = std::to_string(protocol::KeptOutput::kept_bytes_max + 1);
  const std::string last = std::to_string((256 << 20) - 1), end = std::to_string(256 << 20);
  const std::pair<std::string, std::string> cases[] = {
      {"8 16 3 -9 32 4 0 0", ""},
      {"0 4096 0 -9", ""},
      {"0 0 0 -9", ""},
      {"-1 8 0 -9", outside},
      {"0 -1 0 -9", outside},
      {"0 8 -1 -9", outside},
      {"0 8 0 1", outside},
      {"0 8 0 -1", outside},
      {"0 " + more + " 0 -9", outside},
      {"0 " + most + " 0 -9", "cannot be mapped"},
      {last + " 1 0 -9", "cannot be mapped"},
      {end + " 1 0 -9", outside},
      {"4000 97 0 -9", "cannot be mapped"},
  };
  for (const auto& [kept, refusal] : cases) {
    WorkerOptions options = scripted("");
    options.environment["HALMARK_FAKE_KEPT"] = kept;
    const auto answer = start(options)->sample({});
    EXPECT_EQ(static_cast<bool>(answer), refusal.empty()) << kept;
    EXPECT_THAT(answer.failure.reason, HasSubstr(refusal)) << kept;
    if (kept.starts_with("8 16")) {
      ASSERT_EQ(answer->kept.size(), 36u) << "to the end of the last";
      EXPECT_EQ(answer->kept[8], std::byte{8});
      EXPECT_EQ(answer->kept[35], std::byte{35});
    }
    if (kept == "0 0 0 -9") {
      EXPECT_TRUE(answer->kept.empty());
    }
  }
  WorkerOptions without = scripted("no_memory");
  without.environment["HALMARK_FAKE_KEPT"] = "0 8 0 -9";
  EXPECT_EQ(start(without)->sample({}).failure.reason, "kept outputs came without memory");
}

TEST(WorkerLog, is_trimmed_once_a_second) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("halmark_flood_" + std::to_string(::getpid()));
  WorkerOptions options = scripted("flood");
  options.log_path = path.string();
  auto worker = start(options);
  const auto begin = Clock::now();
  ASSERT_TRUE(worker->load("anything"));
  const std::string tail = worker->log_tail();
  const auto left = std::chrono::milliseconds(1200) - (Clock::now() - begin);
  const auto size = std::filesystem::file_size(path);
  if (left > std::chrono::milliseconds(400)) {  // a second has not passed
    EXPECT_GT(size, 12'000'000u) << "not yet";
  }
  std::this_thread::sleep_for(left);
  ASSERT_TRUE(worker->drop(1));
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(worker->log_tail(), tail);
  worker->quit();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace halmark
