// Studies: journals of Optuna line by line, distributions, and the requests of other programs.
#include <stdexcept>

#include "core/json/json.hpp"
#include "feed.hpp"
#include "framework/study/protocol.hpp"
#include "study/storage/journal_replay.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "survive.hpp"

namespace halmark::fuzz {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

SpaceDescription space() {
  SpaceDescription out;
  out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 20}};
  out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  return out;
}

}  // namespace

void feed_study_journal(std::string_view text) {
  survive([&] {
    journal::StudyReplay replay("study.log");
    std::size_t number = 0;
    for (const std::string& line : lines_of(text)) replay.apply(line, ++number);
    std::int64_t trials = 0, rows = 0;
    for (const StudySummary& study : replay.list()) {
      trials += study.trials();
      (void)dump_json(study_summary_json(study));
      TrialCursor cursor;
      for (const TrialRow& row : replay.trials(study.info.id, cursor)) {
        ++rows;
        (void)dump_json(trial_json(row));
        (void)constraint_values(row);
      }
    }
    if (trials != rows) throw std::logic_error("a study counts other trials than it has");
  });
}

void feed_distribution(std::string_view text) {
  survive([&] {
    const ParamDistribution one = parse_distribution(text, "study.log:1");
    const std::string once = distribution_text(one);
    if (!(parse_distribution(once, "again") == one)) {
      throw std::logic_error("a distribution does not survive its own text");
    }
  });
}

// Refusals are answers: nothing but a line of JSON comes back, one per request.
void feed_study_protocol(std::string_view text) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  Study study(*store, space(), {.name = "s", .sampler = "random", .seed = 5});
  StudyProtocol protocol(study);
  const std::vector<std::string> requests = lines_of(text);
  const std::vector<std::string> answers = protocol.answers(requests);
  if (answers.size() != requests.size()) throw std::logic_error("a request without an answer");
  for (const std::string& answer : answers) (void)parse_json(answer, "answer");
}

}  // namespace halmark::fuzz
