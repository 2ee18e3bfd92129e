#include "framework/study/protocol.hpp"
#include "core/lists.hpp"

#include <cmath>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "framework/study/front.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

Error bad(const std::string& what) { return refused(what); }

// A number, or one of the words for what JSON cannot write.
double value_of(const Json& json, const std::string& what) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf" || json == "Infinity") return HUGE_VAL;
  if (json == "-inf" || json == "-Infinity") return -HUGE_VAL;
  throw bad(what + " must be numbers, \"inf\" or \"-inf\"");
}

std::vector<double> numbers_of(const Json& json, const std::string& what) {
  if (!json.is_array()) throw bad(what + " must be a list of numbers");
  return mapped(json, [&](const Json& value) { return value_of(value, what); });
}

std::string text_of_reason(const Json& json, const std::string& what) {
  if (!json.is_string()) throw bad(what + " must be a string: the reason");
  return json.get<std::string>();
}

void only(const Json& object, const std::vector<std::string>& keys, const std::string& what) {
  for (const auto& [key, value] : object.items()) {
    if (!contains(keys, key)) {
      throw Error(ExitCode::refused, what + " has no '" + key + "'", {}, suggestion(key, keys));
    }
  }
}

StudyVerdict verdict_of(const Json& json) {
  if (!json.is_object()) throw bad("'tell' must be a list of objects");
  only(json, {"trial", "values", "infeasible", "failed"}, "an outcome");
  const Json trial = json.value("trial", Json());
  if (!trial.is_number_integer() || trial.get<double>() < 0 || trial.get<double>() > 2e9) {
    throw bad("an outcome must name its 'trial', a number that was asked");
  }
  StudyVerdict out{.trial = trial.get<int>()};
  const std::string where = "trial " + std::to_string(out.trial) + ": ";
  if (json.size() != 2) throw bad(where + "one of 'values', 'infeasible' and 'failed' is needed");
  if (json.contains("values")) {
    out.values = numbers_of(json.at("values"), where + "'values'");
  } else if (json.contains("failed")) {
    out.outcome = TrialOutcome::failed;
    out.reason = text_of_reason(json.at("failed"), where + "'failed'");
  } else {
    const Json& why = json.at("infeasible");
    if (!why.is_object()) throw bad(where + "'infeasible' must be an object");
    only(why, {"reason", "violations", "values"}, where + "'infeasible'");
    out.outcome = TrialOutcome::infeasible;
    out.reason = text_of_reason(why.value("reason", Json("")), where + "'reason'");
    if (why.contains("violations")) {
      out.violations = numbers_of(why.at("violations"), where + "'violations'");
    }
    if (why.contains("values")) out.values = numbers_of(why.at("values"), where + "'values'");
  }
  return out;
}

}  // namespace

std::vector<std::string> StudyProtocol::answers(std::span<const std::string> requests) {
  std::vector<std::string> out;
  study_.together([&] {
    for (const std::string& request : requests) {
      Json reply;
      try {
        if (request.size() > json_bytes_max) throw bad("a request is longer than 16 MiB");
        reply = answer(parse_json(request, "request"));
      } catch (const Error& error) {
        if (error.exit_code() != ExitCode::refused) throw;
        reply = {{"error", error.line()}};
      }
      out.push_back(dump_json(reply));
    }
  });
  return out;
}

Json StudyProtocol::answer(const Json& request) {
  if (!request.is_object() || request.size() != 1) {
    throw bad("a request is an object with one key: ask, tell, enqueue, status, trials or front");
  }
  const std::string verb = request.begin().key();
  const Json& body = request.begin().value();
  if (verb == "ask") return ask(body);
  if (verb == "tell") return tell(body);
  if (verb == "enqueue") return enqueue(body);
  if (verb == "status") return status();
  if (verb == "trials") return trials(body);
  if (verb == "front") return front();
  throw Error(ExitCode::refused, "unknown request '" + verb + "'", {},
              suggestion(verb, {"ask", "tell", "enqueue", "status", "trials", "front"}));
}

Json StudyProtocol::ask(const Json& count) {
  if (!count.is_number_integer() || count.get<double>() < 1 || count.get<double>() > ask_max) {
    throw bad("'ask' must be a number of trials from 1 to " + std::to_string(ask_max));
  }
  const auto wanted = count.get<std::size_t>();
  const std::vector<StudyProposal> proposals = study_.ask(wanted);
  Json trials = Json::array();
  for (const StudyProposal& proposal : proposals) {
    Json params = Json::object();
    for (const auto& [name, value] : proposal.params) params[name] = param_json(value);
    trials.push_back({{"trial", proposal.trial}, {"params", params}});
  }
  Json out = {{"trials", trials}};
  if (proposals.size() < wanted) {
    out["exhausted"] = true;
    out["reason"] = study_.why_no_more();
  }
  return out;
}

Json StudyProtocol::tell(const Json& list) {
  if (!list.is_array()) throw bad("'tell' must be a list of outcomes");
  std::vector<StudyVerdict> verdicts =
      mapped(list, [&](const Json& item) { return verdict_of(item); });
  study_.tell(verdicts);
  return {{"ok", true}};
}

Json StudyProtocol::enqueue(const Json& list) {
  if (!list.is_array()) throw bad("'enqueue' must be a list of objects: parameters and values");
  std::vector<Setting> settings;
  for (const Json& item : list) {
    if (!item.is_object()) throw bad("'enqueue' must be a list of objects");
    Setting& setting = settings.emplace_back();
    for (const auto& [name, value] : item.items()) {
      setting.emplace_back(name, param_value_of(value, name));
    }
  }
  return {{"ok", true}, {"trials", study_.enqueue(settings)}};
}

Json StudyProtocol::status() const {
  return {{"study", study_.info().name},
          {"trials", study_.size()},
          {"running", study_.running()},
          {"foreign_trials", study_.foreign_trials()},
          {"objectives", objectives_json(study_.info())}};
}

Json StudyProtocol::trials(const Json& from) const {
  if (!from.is_number_integer() || from.get<double>() < 0 || from.get<double>() > 2e9) {
    throw bad("'trials' must be the number of the first trial that is wanted, 0 for all");
  }
  Json out = Json::array();
  for (const TrialRow& row : study_.rows()) {
    if (row.number >= from.get<int>()) out.push_back(trial_json(row));
  }
  return {{"trials", out}};
}

Json StudyProtocol::front() const {
  const std::vector<TrialRow> rows = study_.rows();
  const Json out = json_list(study_front(study_.info(), rows),
                             [&](const std::size_t i) { return trial_json(rows[i]); });
  return {{"trials", out}};
}

}  // namespace halmark
