// A study behind two streams: whole lines, half lines, many at once, the end and a stop.
#include "core/json/json.hpp"
#include "framework/study/serve.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "core/text/error.hpp"
#include "study/storage/open.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

class Serve : public testing::Test {
 protected:
  Serve() { EXPECT_EQ(pipe(ends_), 0); }
  ~Serve() override {
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }
  void send(const std::string& text) {
    ASSERT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void hang_up() {
    close(ends_[1]);
    ends_[1] = -1;
  }
  // Until the end of the requests, or until `stop` says so.
  void serve(
      Study& study, std::function<bool()> stop = [] { return false; }) {
    serve_study(study, {.requests = ends_[0],
                        .answer =
                            [this](std::string_view text) {
                              answers_ += text;
                              ++batches_;
                            },
                        .should_stop = std::move(stop),
                        .after_each = [this] { ++stored_; }});
  }
  std::vector<Json> answers() const {
    std::vector<Json> out;
    std::istringstream lines(answers_);
    for (std::string line; std::getline(lines, line);) out.push_back(Json::parse(line));
    return out;
  }
  std::unique_ptr<StudyStore> open() const {
    return open_study_store("sqlite:" + (folder_ / "a"), StudyAccess::or_create);
  }
  static SpaceDescription space() {
    SpaceDescription out;
    out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 999}};
    out.objectives = {{.name = "time"}};
    return out;
  }
  StudySettings settings() const { return {.name = "s", .sampler = "random", .seed = 3}; }

  test::ScratchFolder folder_;
  int ends_[2] = {-1, -1};
  std::string answers_;
  int batches_ = 0, stored_ = 0;
};

TEST_F(Serve, every_line_has_its_answer_in_order_and_what_is_blank_has_none) {
  const auto store = open();
  Study study(*store, space(), settings());
  send(
      "{\"ask\":1}\n\n  "
      "\t\r\n{\"tell\":[{\"trial\":0,\"values\":[1]}]}\n{\"x\":1}\n{\"status\":1}\n");
  hang_up();
  serve(study);
  const auto all = answers();
  ASSERT_EQ(all.size(), 4u) << answers_;
  EXPECT_EQ(all[0].at("trials")[0].at("trial"), 0);
  EXPECT_EQ(all[1].at("ok"), true);
  EXPECT_THAT(all[2].at("error").get<std::string>(), HasSubstr("unknown request 'x'"));
  EXPECT_EQ(all[3].at("trials"), 1);
  EXPECT_TRUE(answers_.ends_with('\n'));
  EXPECT_EQ(stored_, batches_);
}

TEST_F(Serve, the_last_line_may_lack_its_end) {
  const auto store = open();
  Study study(*store, space(), settings());
  send("{\"ask\":2}\n{\"status\":1}");
  hang_up();
  serve(study);
  ASSERT_EQ(answers().size(), 2u);
  EXPECT_EQ(answers()[1].at("running"), 2);
  answers_.clear();
  serve(study);
  EXPECT_EQ(answers_, "") << "nothing came";
}

TEST_F(Serve, a_line_may_come_in_pieces) {
  const auto store = open();
  Study study(*store, space(), settings());
  std::thread sender([&] {
    for (const char* piece : {"{\"as", "k\":", "1}\n{\"sta", "tus\":1}\n"}) {
      send(piece);
      usleep(30'000);
    }
    hang_up();
  });
  serve(study);
  sender.join();
  ASSERT_EQ(answers().size(), 2u);
  EXPECT_EQ(answers()[1].at("trials"), 1);
}

// 64 requests share a transaction, no more.
TEST_F(Serve, requests_that_lie_ready_are_stored_together) {
  const auto store = open();
  Study study(*store, space(), settings());
  std::string text;
  for (int i = 0; i < 150; ++i) text += "{\"ask\":1}\n";
  send(text);
  hang_up();
  serve(study);
  EXPECT_EQ(answers().size(), 150u);
  EXPECT_EQ(batches_, 3) << "64, 64 and 22";
}

// The README: anything else is answered with an error, and the session goes on.
TEST_F(Serve, a_request_beyond_16_mib_is_an_error_and_the_session_goes_on) {
  const auto store = open();
  Study study(*store, space(), settings());
  const std::string request = "{\"ask\":1}";
  std::string fitting = request, longer = request;
  fitting.resize(json_bytes_max, ' ');
  longer.resize(json_bytes_max + 1, ' ');
  fitting += '\n';
  longer += '\n';
  const std::string endless(3 * json_bytes_max + 5, 'x');
  std::thread sender([&] {
    for (const std::string& text : {fitting, longer, endless, std::string("\n{\"ask\":1}\n")}) {
      for (std::size_t at = 0; at < text.size();) {
        const ssize_t sent = write(ends_[1], text.data() + at, text.size() - at);
        if (sent <= 0) break;
        at += static_cast<std::size_t>(sent);
      }
    }
    hang_up();
  });
  try {
    serve(study);
  } catch (const Error& error) {
    ADD_FAILURE() << error.line();
    close(ends_[0]);
    ends_[0] = ::open("/dev/null", O_RDONLY);
  }
  sender.join();
  const auto all = answers();
  ASSERT_EQ(all.size(), 4u) << answers_;
  EXPECT_TRUE(all[0].contains("trials")) << "exactly 16 MiB";
  EXPECT_EQ(all[1].value("error", ""), "a request is longer than 16 MiB");
  EXPECT_EQ(all[2].value("error", ""), "a request is longer than 16 MiB");
  EXPECT_EQ(all[3].at("trials")[0].at("trial"), 1);
}

// A search is cut off inside of an ask; what it had proposed is answered, stored and given back.
TEST_F(Serve, a_stop_is_heeded_inside_an_ask) {
  const auto store = open(), other = open();
  int looks = 0;
  StudySettings stopped = settings();
  stopped.should_stop = [&] { return ++looks > 20; };
  {
    Study study(*store, space(), stopped);
    send("{\"ask\":900}\n");
    serve(study, stopped.should_stop);
  }
  ASSERT_EQ(answers().size(), 1u);
  const std::size_t proposed = answers()[0].at("trials").size();
  EXPECT_LT(proposed, 100u);
  EXPECT_EQ(answers()[0].at("exhausted"), true);
  EXPECT_EQ(answers()[0].at("reason"), "the search was interrupted");
  Study next(*other, space(), settings());
  EXPECT_EQ(next.ask(proposed + 1).at(0).trial, 0);
}

TEST_F(Serve, a_stop_ends_it_and_gives_back_what_was_not_told) {
  const auto store = open(), other = open();
  {
    Study study(*store, space(), settings());
    send("{\"ask\":2}\n{\"tell\":[{\"trial\":1,\"failed\":\"x\"}]}\n");
    serve(study, [&] { return batches_ > 0; });
    EXPECT_EQ(answers().size(), 2u);
  }
  Study next(*other, space(), settings());
  EXPECT_EQ(next.ask(1).at(0).trial, 0);
  Study idle(*store, space(), settings());
  answers_.clear();
  serve(idle, [] { return true; });
  EXPECT_EQ(answers_, "");
}

TEST_F(Serve, a_stop_is_seen_while_nothing_comes) {
  const auto store = open();
  Study study(*store, space(), settings());
  const auto begin = std::chrono::steady_clock::now();
  serve(study,
        [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(Serve, requests_that_cannot_be_read_end_at_once) {
  const auto store = open();
  Study study(*store, space(), settings());
  const int folder = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY);
  serve_study(study, {.requests = folder,
                      .answer = [](std::string_view) { ADD_FAILURE(); },
                      .should_stop = [] { return false; },
                      .after_each = {}});
  close(folder);
}

}  // namespace
}  // namespace halmark
