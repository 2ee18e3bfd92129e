#include "journal/rows/doubts.hpp"

#include "core/json/json.hpp"

namespace halmark::journal {

void Doubts::add(const StoredRow& row) {
  const Json body = Json::parse(row.body);
  reasons_[{row.run, row.key, body.at("round").get<int>()}] = body.at("reason").get<std::string>();
}

void Doubts::apply(std::int64_t run, const std::string& case_key, Measurement& row) const {
  const auto doubt = reasons_.find({run, case_key, row.round});
  if (doubt == reasons_.end() || row.status != Status::ok) return;
  row.status = Status::suspect;
  row.reason = doubt->second;
}

}  // namespace halmark::journal
