// Ask and tell as JSON lines, so that any program can be tuned. The protocol is in README.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "framework/study/study.hpp"

namespace halmark {

class StudyProtocol {
 public:
  static constexpr std::int64_t ask_max = 10'000;

  explicit StudyProtocol(Study& study) : study_(study) {}

  // One answer per request, in their order, each one line of JSON without its end. All of them are
  // one transaction: it is stored when this returns. A request that is refused is answered with
  // {"error": ...} and changes nothing. Throws Error (exit 1) when nothing can be stored.
  std::vector<std::string> answers(std::span<const std::string> requests);

 private:
  Json answer(const Json& request);
  Json ask(const Json& count);
  Json tell(const Json& list);
  Json enqueue(const Json& list);
  Json status() const;
  Json trials(const Json& from) const;
  Json front() const;

  Study& study_;
};

}  // namespace halmark
