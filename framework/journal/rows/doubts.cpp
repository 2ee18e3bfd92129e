#include "journal/rows/doubts.hpp"

#include "core/json/json.hpp"
#include "journal/rows/row_codec.hpp"

namespace halmark::journal {

void Doubts::add(const StoredRow& row) {
  const auto doubt = value_from<Doubt>(Json::parse(row.body));
  reasons_[{row.run, row.key, doubt.round}] = doubt.reason;
}

void Doubts::apply(std::int64_t run, const std::string& case_key, Measurement& row) const {
  const auto doubt = reasons_.find({run, case_key, row.round});
  if (doubt == reasons_.end() || row.status != Status::ok) return;
  row.status = Status::suspect;
  row.reason = doubt->second;
}

}  // namespace halmark::journal
