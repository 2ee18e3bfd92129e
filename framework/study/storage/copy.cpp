#include "study/storage/copy.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {

std::size_t copy_study(StudyStore& from, const StudyInfo& study, StudyStore& to,
                       const std::string& name) {
  TrialCursor cursor;
  std::vector<TrialRow> rows = from.trials(study.id, cursor);
  to.transact([&](StudyTransaction& transaction) {
    if (transaction.find(name)) {
      throw refused("there is a study '" + name + "' already", std::string(to.location()),
                    "choose another name with --as");
    }
    StudyInfo copy = study;
    copy.name = name;
    transaction.create(transaction.create_study(copy).id, rows);
  });
  return rows.size();
}

StudySummary find_study(StudyStore& store, const std::string& name) {
  std::vector<StudySummary> studies = store.list();
  if (studies.empty()) throw refused("there is no study", std::string(store.location()));
  if (name.empty() && studies.size() == 1) return std::move(studies.front());
  auto names = mapped(studies, [&](const StudySummary& study) { return study.info.name; });
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) {
    throw refused(
        name.empty() ? "several studies are there; name one" : "there is no study '" + name + "'",
        std::string(store.location()), suggestion(name, names));
  }
  return std::move(studies[as_size(it - names.begin())]);
}

}  // namespace halmark
