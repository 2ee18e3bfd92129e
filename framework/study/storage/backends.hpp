// The back ends behind open_study_store, one file each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "study/storage/open.hpp"

namespace halmark::journal {

std::unique_ptr<StudyStore> open_sqlite_studies(const std::string& location,
                                                const std::string& path, StudyAccess access);
std::unique_ptr<StudyStore> open_journal_studies(const std::string& location,
                                                 const std::string& path, StudyAccess access);
// Throws Error (exit 5) where it was built without the client library.
std::unique_ptr<StudyStore> open_postgresql_studies(const std::string& url, StudyAccess access);

// What the two back ends with tables share.
inline constexpr const char* study_revision = "v3.2.0.a";  // alembic_version.version_num
inline constexpr int study_schema_version = 12;            // version_info.schema_version

inline constexpr int objectives_max = 1024;  // of a study: memory is taken for all of them

// Throws Error (exit 2) with the remedy unless it is study_revision.
void require_study_revision(const std::string& revision, const std::string& location);

// The shortest text that reads back; NaN, Infinity and -Infinity as in a journal's line.
std::string number_text(double value);

// Finite, INF_POS, INF_NEG, NAN, as the enumerations of values call them.
const char* value_type_name(double value);
double typed_value(bool is_null, double value, std::string_view type);

StudyDirection direction_of(std::string_view name);
const char* direction_name(StudyDirection direction);  // "MINIMIZE"
TrialState state_of(std::string_view name, const std::string& location);

// One ParamDistribution per distinct text: a study repeats the same few in every row.
class DistributionTexts {
 public:
  explicit DistributionTexts(std::string location) : location_(std::move(location)) {}
  std::shared_ptr<const ParamDistribution> parsed(std::string_view text);
  const std::string& text(const std::shared_ptr<const ParamDistribution>& distribution);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::string location_;
  std::unordered_map<std::string, std::shared_ptr<const ParamDistribution>, Hash, std::equal_to<>>
      by_text_;
  std::map<std::shared_ptr<const ParamDistribution>, std::string> by_value_;
};

}  // namespace halmark::journal
