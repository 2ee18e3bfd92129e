#include "core/numeric/cast.hpp"
#include "history/digest.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "history/view/digest_view.hpp"
#include "rows.hpp"
#include "stored.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tests/unit/serve/one_answer.hpp"

namespace halmark::history {
namespace {

using halmark::test::expect_error;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// What is planted in one series.
enum class Plant { none, build, machine, clock, memory, lost, broken };

struct Planted {
  Plant plant = Plant::none;
  int at = 1000, until = 1000;  // nights; until: it is as it was from there on
  double step = 0;
};

struct Nights {
  std::vector<Planted> series;
  int nights = 40;
  std::uint64_t seed = 1;
};

// Series s in night n (runs count from 1): three processes, a night's own shift and theirs.
void add_night(Series& into, const Planted& planted, std::uint64_t s, int n, std::uint64_t seed) {
  const bool is_on = n >= planted.at && n < planted.until;
  if (is_on && planted.plant == Plant::lost) return;
  const auto draw = [&](int what) {
    return test::normal(seed, s * 100'003 + static_cast<std::uint64_t>(n * 16 + what));
  };
  const double night = 0.006 * draw(15);
  for (int round = 0; round < 3; ++round) {
    const double code = is_on ? 1 + planted.step : 1;
    SeriesRow row = test::row(n + 1, round, 1000 * code * std::exp(night + 0.006 * draw(round)));
    row.build = is_on && planted.plant == Plant::build ? "2 (bbbb)" : "1 (aaaa)";
    row.state.clock_hz = 3e9 * (is_on && planted.plant == Plant::clock ? 1 / code : 1) *
                         std::exp(0.003 * draw(5 + round));
    row.state.bytes_per_s = 8e10 * (is_on && planted.plant == Plant::memory ? 0.7 : 1) *
                            std::exp(0.03 * draw(9 + round));
    if (is_on && planted.plant == Plant::broken) {
      row.fault = "crashed: signal 11";
      row.is_broken = true;
    }
    into.rows.push_back(row);
  }
}

class Simulated {
 public:
  explicit Simulated(const Nights& made) : made_(made) {
    for (std::size_t s = 0; s < made.series.size(); ++s) {
      series_.push_back({.name = {.what = "kernel " + std::to_string(s), .fingerprint = "m"}});
    }
    bool has_new_machine = false;
    for (int n = 0; n < made.nights; ++n) {
      for (const Planted& one : made.series) {
        has_new_machine = has_new_machine || (one.plant == Plant::machine && n == one.at);
      }
      facts_.push_back({.run = n + 1,
                        .night = date(n),
                        .command = "halmark tune night.toml",
                        .tool = "1 (a)",
                        .machine = {has_new_machine ? "kernel: 6.2" : "kernel: 6.1"}});
    }
  }

  static std::string date(int n) {
    const std::string month = std::to_string(1 + n / 28), day = std::to_string(1 + n % 28);
    return "2026-0" + month + (day.size() < 2 ? "-0" : "-") + day;
  }

  // What each night says of the one before it, from the first that may judge on.
  template <class See>
  void each_digest(See see) {
    std::optional<NightReport> told;
    for (int n = 0; n < made_.nights; ++n) {
      for (std::size_t s = 0; s < series_.size(); ++s) {
        add_night(series_[s], made_.series[s], s, n, made_.seed);
      }
      constexpr int first = 12;
      if (n < first) continue;
      NightReport now = report(n + 1);
      if (told) see(n, digest_of(*told, now, facts_));
      told = std::move(now);
    }
  }

 private:
  NightReport report(std::int64_t run) const {
    NightReport out{.fingerprint = "m"};
    for (std::int64_t r = 1; r <= run; ++r) out.runs.push_back(r);
    for (const Series& one : series_) {
      if (one.rows.empty()) continue;
      out.series.push_back(follow_series(one, out.rules));
      require_tonight(out.series.back(), one, run);
    }
    judge_night(out.series, out.rules);
    return out;
  }

  Nights made_;
  std::vector<Series> series_;
  std::vector<RunFacts> facts_;
};

// HALMARK_DIGEST_SERIES: as many series in 60 nights, by hand; the suite takes fewer.
int series_count() {
  const char* const asked = std::getenv("HALMARK_DIGEST_SERIES");
  return asked != nullptr ? std::atoi(asked) : 140;
}

// Each kind equally often, at drawn nights; seven of ten series have none.
Nights planted_nights(std::uint64_t seed) {
  constexpr std::array kinds = {Plant::build,  Plant::machine, Plant::clock,
                                Plant::memory, Plant::lost,    Plant::broken};
  constexpr std::array steps = {0.05, 0.05, 0.10};
  Nights out{.nights = series_count() > 140 ? 60 : 40, .seed = seed};
  for (int s = 0; s < series_count(); ++s) {
    Planted one;
    if (s % 10 < 3) {
      const auto draw = static_cast<std::uint64_t>(s);
      one.plant = kinds[as_size(s / 10 * 3 + s % 10) % kinds.size()];
      one.step = steps[hash_u64(seed, 3 * draw) % steps.size()];
      // One new machine: its changes begin in one night.
      one.at = one.plant == Plant::machine
                   ? 22
                   : 16 + static_cast<int>(hash_u64(seed, 3 * draw + 1) % 10);
      if (s % 2 == 0) one.until = one.at + 3 + static_cast<int>(hash_u64(seed, 3 * draw + 2) % 6);
    }
    out.series.push_back(one);
  }
  return out;
}

std::string cause_word(Plant plant) {
  switch (plant) {
    case Plant::build:
      return "build 1 (aaaa) to 2 (bbbb)";
    case Plant::machine:
      return "machine: now kernel: 6.2";
    case Plant::clock:
      return "clock ";
    case Plant::memory:
      return "memory ";
    default:
      return "";
  }
}

bool is_loss(Plant plant) { return plant == Plant::lost || plant == Plant::broken; }

struct Count {
  int of = 0, seen = 0;
  double share() const { return of == 0 ? 1 : as_double(seen) / of; }
};

// The figures that a morning is judged by: slowdowns of 5 % and more within two nights, losses the
// same night, recoveries within two nights, causes, and lines about what did not happen.
TEST(Digest, says_what_was_planted_and_nothing_else) {
  const Nights made = planted_nights(59);
  // What was said of each series: night and kind.
  std::map<std::string, std::vector<std::pair<int, NewsLine>>> said;
  int digests = 0;
  Simulated(made).each_digest([&](int night, const Digest& digest) {
    ++digests;
    for (const NewsLine& line : digest.lines) said[line.name.what].emplace_back(night, line);
  });
  Count slower, lost, recovered, causes;
  int false_lines = 0;
  for (std::size_t s = 0; s < made.series.size(); ++s) {
    const Planted& one = made.series[s];
    const auto& lines = said["kernel " + std::to_string(s)];
    const auto find = [&](News news, int begin, int end) -> const NewsLine* {
      for (const auto& [night, line] : lines) {
        if (line.news == news && night >= begin && night < end) return &line;
      }
      return nullptr;
    };
    std::set<News> once;
    for (const auto& [night, line] : lines) {
      const News begins = is_loss(one.plant) ? News::lost : News::slower;
      const bool is_planted = one.plant != Plant::none && once.insert(line.news).second &&
                              ((night >= one.at && night < one.until && line.news == begins) ||
                               (night >= one.until && line.news == News::recovered));
      if (is_planted) continue;
      ++false_lines;
      ADD_FAILURE_AT(__FILE__, __LINE__) << "kernel " << s << " night " << night << ' '
                                         << news_name(line.news) << " planted at " << one.at;
    }
    if (one.plant == Plant::none) continue;
    if (is_loss(one.plant)) {
      ++lost.of;
      lost.seen += find(News::lost, one.at, one.at + 1) != nullptr ? 1 : 0;
    } else {
      const NewsLine* const line = find(News::slower, one.at, one.at + 2);
      ++slower.of;
      slower.seen += line != nullptr ? 1 : 0;
      if (line != nullptr) {
        ++causes.of;
        causes.seen += line->cause.starts_with(cause_word(one.plant)) ? 1 : 0;
      }
    }
    if (one.until < made.nights) {
      ++recovered.of;
      recovered.seen += find(News::recovered, one.until, one.until + 2) != nullptr ? 1 : 0;
    }
  }
  std::printf(
      "slower %d of %d, lost %d of %d, recovered %d of %d, causes %d of %d, %d false lines "
      "in %d nights\n",
      slower.seen, slower.of, lost.seen, lost.of, recovered.seen, recovered.of, causes.seen,
      causes.of, false_lines, digests);
  EXPECT_GE(slower.share(), 0.9);
  EXPECT_EQ(lost.seen, lost.of);
  EXPECT_GE(recovered.share(), 0.9);
  EXPECT_GE(causes.share(), 0.9);
}

// A scripted series beside quiet ones: of each night its factor, 0 where it was not measured, -1
// where it broke.
struct Script {
  const char* name;
  std::vector<double> nights;
  std::vector<std::pair<News, int>> lines;  // at that night, or the one that confirms it
  int bench = -1;                           // an afternoon on which it alone was measured, too
};
void PrintTo(const Script& script, std::ostream* out) { *out << script.name; }

std::vector<double> nights_of(std::vector<std::pair<int, double>> parts) {
  std::vector<double> out;
  for (const auto& [count, factor] : parts) out.insert(out.end(), as_size(count), factor);
  return out;
}

class DigestScript : public testing::TestWithParam<Script> {};

TEST_P(DigestScript, each_event_is_said_once) {
  const Script& script = GetParam();
  constexpr int quiet = 6;
  std::vector<Series> all;
  for (int s = 0; s <= quiet; ++s) {
    all.push_back({.name = {.what = s == 0 ? "scripted" : "quiet " + std::to_string(s)}});
  }
  std::vector<RunFacts> facts;
  NightReport now{.fingerprint = "m"};
  std::vector<std::pair<News, int>> said;
  for (int n = 0; n < static_cast<int>(script.nights.size()); ++n) {
    const NightReport told = std::exchange(now, {.fingerprint = "m"});
    const std::int64_t run = 10 * n + 1;
    facts.push_back({.run = run, .night = Simulated::date(n), .command = "halmark tune"});
    for (int s = 0; s <= quiet; ++s) {
      const double factor = s == 0 ? script.nights[as_size(n)] : 1;
      for (int round = 0; round < 3 && factor != 0; ++round) {
        const auto counter = static_cast<std::uint64_t>((s * 1000 + n) * 4 + round);
        SeriesRow row = test::row(
            run, round, 1000 * std::abs(factor) * std::exp(0.004 * test::normal(5, counter)));
        if (factor < 0) row.fault = "crashed", row.is_broken = true;
        all[as_size(s)].rows.push_back(row);
      }
    }
    if (n == script.bench) {
      facts.push_back({.run = run + 1, .night = Simulated::date(n), .command = "halmark bench"});
      for (int round = 0; round < 3; ++round)
        all[0].rows.push_back(test::row(run + 1, round, 1000));
    }
    for (const RunFacts& one : facts) now.runs.push_back(one.run);
    for (const Series& one : all) {
      if (one.rows.empty()) continue;
      now.series.push_back(follow_series(one, now.rules));
      require_tonight(now.series.back(), one, run);
    }
    judge_night(now.series, now.rules);
    if (n < 2) continue;
    for (const NewsLine& line : digest_of(told, now, facts).lines) {
      EXPECT_EQ(line.name.what, "scripted");
      said.emplace_back(line.news, n);
    }
  }
  ASSERT_THAT(said, SizeIs(script.lines.size()));
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(news_name(said[i].first), news_name(script.lines[i].first));
    EXPECT_GE(said[i].second, script.lines[i].second);
    EXPECT_LE(said[i].second, script.lines[i].second + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, DigestScript,
    testing::Values(
        Script{"quiet", nights_of({{40, 1}}), {}},
        Script{"slower", nights_of({{18, 1}, {22, 1.1}}), {{News::slower, 18}}},
        Script{"a_night_alone", nights_of({{20, 1}, {1, 1.08}, {12, 1}}), {}},
        Script{"twice_slower",
               nights_of({{18, 1}, {15, 1.1}, {10, 1.21}}),
               {{News::slower, 18}, {News::slower, 33}}},
        Script{"back_and_slow_again",
               nights_of({{18, 1}, {6, 1.1}, {2, 1}, {14, 1.1}}),
               {{News::slower, 18}, {News::recovered, 24}, {News::slower, 26}}},
        Script{"faster", nights_of({{18, 1}, {10, 0.9}}), {{News::faster, 18}}},
        Script{"lost", nights_of({{15, 1}, {6, 0}}), {{News::lost, 15}}},
        Script{"lost_and_back",
               nights_of({{15, 1}, {3, 0}, {5, 1}}),
               {{News::lost, 15}, {News::recovered, 18}}},
        Script{"broken", nights_of({{15, 1}, {6, -1}}), {{News::lost, 15}}},
        Script{"broken_long_ago",
               nights_of({{5, 1}, {1, -1}, {12, 1}, {3, 0}}),
               {{News::lost, 5}, {News::recovered, 6}, {News::lost, 18}}},
        Script{"lost_behind_a_bench", nights_of({{15, 1}, {6, 0}}), {{News::lost, 15}}, 14},
        Script{"in_turns",
               nights_of({{1, 1},
                          {1, 0},
                          {1, 0},
                          {1, 1},
                          {1, 0},
                          {1, 0},
                          {1, 1},
                          {1, 0},
                          {1, 0},
                          {1, 0},
                          {1, 1},
                          {1, 0},
                          {1, 0},
                          {1, 1}}),
               {}},
        Script{"new", nights_of({{15, 0}, {8, 1}}), {{News::created, 15}}},
        Script{"new_and_broken",
               nights_of({{15, 0}, {2, -1}, {8, 1}}),
               {{News::lost, 15}, {News::created, 17}}}),
    [](const auto& info) { return std::string(info.param.name); });

class StoredDigest : public testing::Test {
 protected:
  Digest digest(const std::string& since = {}) {
    return stored_digest(*open_store_read_only(path_), {}, {}, path_, since);
  }
  static std::string text(const Digest& digest) { return digest_view(digest).text; }

  halmark::test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(StoredDigest, is_of_what_changed_since_the_night_before_or_the_one_that_is_named) {
  test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
  const Digest last = digest();
  EXPECT_EQ(last.since, "2026-01-21");
  ASSERT_THAT(last.lines, SizeIs(1));
  EXPECT_EQ(last.lines[0].news, News::slower);
  EXPECT_EQ(last.lines[0].night, "2026-01-21") << "the first night of the change";
  EXPECT_EQ(last.lines[0].cause, "unknown");
  EXPECT_NEAR(*last.lines[0].ratio, 1.08, 0.01);
  EXPECT_EQ(digest_exit(last), ExitCode::gate_failed);
  EXPECT_THAT(text(last), AllOf(HasSubstr("1 SLOWER of 2 series in the night of 2026-01-22"),
                                HasSubstr("SLOWER +"), HasSubstr("gemm k=64 m=1")));
  const Digest none = digest("2026-01-22");
  EXPECT_THAT(none.lines, SizeIs(0));
  ASSERT_THAT(none.still_slower, SizeIs(1));
  EXPECT_EQ(digest_exit(none), ExitCode::ok);
  EXPECT_THAT(text(none), AllOf(HasSubstr("nothing new"), HasSubstr("since 2026-01-21")));
  EXPECT_THAT(digest("2026-01-23").lines, SizeIs(0)) << "a night on which nothing ran";
}

TEST_F(StoredDigest, what_was_sent_is_not_new_in_the_next_one) {
  test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
  const std::string file = folder_ / "digest.eml";
  const Digest first = digest();
  const auto is_noted = [&] { return std::filesystem::exists(sent_path(path_)); };
  send_digest(first, {}, "", path_);
  EXPECT_FALSE(is_noted()) << "it went nowhere";
  expect_error([&] { send_digest(first, {file}, "http://127.0.0.1:1", path_); }, "127.0.0.1:1");
  EXPECT_FALSE(is_noted()) << "it was not taken: it is new in the next one";
  send_digest(digest("2026-01-21"), {file}, "", path_);
  EXPECT_FALSE(is_noted()) << "of a night that was named";
  send_digest(first, {file}, "", path_);
  EXPECT_TRUE(is_noted());
  EXPECT_THAT(halmark::test::file_bytes(file),
              AllOf(HasSubstr("Subject: Halmark 2026-01-22: 1 SLOWER\n"),
                    HasSubstr("\n\n1 SLOWER of 2 series")));
  EXPECT_THAT(digest().lines, SizeIs(0));
  EXPECT_THAT(digest("2026-01-21").lines, SizeIs(1)) << "since a night that is named";
  const Digest gemm = stored_digest(*open_store_read_only(path_), {.op = "gemm"}, {}, path_, "");
  EXPECT_THAT(gemm.lines, SizeIs(1)) << "some of the series: what was sent was of all";
}

TEST_F(StoredDigest, of_a_machine_that_changed_begins_anew_and_a_first_night_of_an_op_is_new) {
  test::store_nights(path_, {.nights = 3});
  send_digest(digest(), {folder_ / "a.txt"}, "", path_);
  test::store_nights(path_, {.nights = 2, .fingerprint = "other@host"});
  EXPECT_EQ(digest().since, "2026-01-01") << "what was sent was of the other one";
  const auto store = open_store(path_);
  Measurement row = test::measurement(1, 1000, 0);
  row.kernel_case.problem = {"softmax", {{"rows", 64}}};
  store->append(store->begin_run({.command = "halmark bench",
                                  .fingerprint = "other@host",
                                  .started_utc = "2026-02-01T02:00:00Z"}),
                std::vector{row});
  const Digest softmax = stored_digest(*store, {.op = "softmax"}, {}, path_, "");
  ASSERT_THAT(softmax.lines, SizeIs(1));
  EXPECT_EQ(softmax.lines[0].news, News::created);
}

TEST_F(StoredDigest, is_posted_where_something_is_new) {
  test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
  serve::OneAnswer chat({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
  send_digest(digest(), {}, "http://127.0.0.1:" + std::to_string(chat.port()) + "/hook", path_);
  const std::string& request = chat.request();
  EXPECT_TRUE(request.starts_with("POST /hook HTTP/1.1\r\n")) << request;
  const Json body = Json::parse(request.substr(request.find("\r\n\r\n")));
  EXPECT_EQ(body["news"][0]["news"], "SLOWER");
  EXPECT_THAT(body["text"].get<std::string>(), HasSubstr("1 SLOWER of 2 series"));
  send_digest(digest(), {}, "http://127.0.0.1:1", path_);  // nothing new: no one is asked
}

TEST_F(StoredDigest, names_the_implementation_that_was_chosen_instead) {
  test::store_nights(path_, {.nights = 20});
  const auto store = open_store(path_);
  for (int night = 0; night < 2; ++night) {
    std::vector<Measurement> rows;
    for (int round = 0; round < 6; ++round) {
      rows.push_back(test::measurement(1 + round % 2, 1000, round / 2));
      if (round % 2 == 1) continue;
      rows.back().duration_ns_median = 1080;
      rows.back().implementation = {
          .name = "brgemm", .library = "oneDNN", .library_version = "3.4"};
    }
    store->append(store->begin_run({.command = "halmark bench",
                                    .fingerprint = "class@host",
                                    .tool_version = "0.1",
                                    .started_utc = "2026-02-0" + std::to_string(1 + night)}),
                  rows);
  }
  const Digest last = digest();
  ASSERT_THAT(last.lines, SizeIs(1));
  EXPECT_THAT(last.lines[0].cause, HasSubstr("to brgemm oneDNN 3.4"));
}

TEST_F(StoredDigest, refuses_what_is_no_night_and_formats_that_it_has_not) {
  test::store_nights(path_, {.nights = 1});
  expect_error([&] { digest(); }, "there is one night");
  test::store_nights(path_, {.nights = 3});
  expect_error([&] { digest("yesterday"); }, "'yesterday' is no date");
  expect_error([&] { digest("2025-12-31"); }, "no night of this machine is as early");
  const std::string good = folder_ / "a.txt";
  expect_error(
      [&] {
        send_digest(digest(), {good, folder_ / "a.html"}, "", path_);
      },
      "unknown format of a digest");
  EXPECT_FALSE(std::filesystem::exists(good)) << "all or none";
  expect_error([&] { send_digest(digest(), {}, "https://a.example", path_); }, "https");
  halmark::test::write_file(sent_path(path_), "x");
  expect_error([&] { digest(); }, "no record of a digest that was sent");
}

// However much is new: 20 lines.
TEST(DigestView, has_at_most_twenty_lines_and_names_no_interval_that_is_wider_than_its_change) {
  Digest digest{.since = "2026-01-01", .night = "2026-01-02", .series = 90};
  for (const News news : {News::slower, News::lost, News::recovered, News::faster, News::created}) {
    for (int i = 0; i < 15; ++i) {
      digest.lines.push_back({.news = news, .name = {.what = "kernel " + std::to_string(i)}});
      NewsLine& line = digest.lines.back();
      if (news == News::slower) line.ratio = 1.06, line.interval = {1.02, 1.10 - 0.021 * (i % 2)};
    }
  }
  digest.still_slower.assign(9, digest.lines.front());
  const std::string text = digest_view(digest).text;
  EXPECT_LE(std::ranges::count(text, '\n'), 20);
  EXPECT_THAT(text, AllOf(HasSubstr("SLOWER +6.0 % (no usable interval)  kernel 0"),
                          HasSubstr("SLOWER +6.0 % (+2.0 % .. +7.9 %)  kernel 1"),
                          HasSubstr("and 6 more"), HasSubstr("NEW  kernel 0, kernel 1")));
}

}  // namespace
}  // namespace halmark::history
