#include "case_lines.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace halmark::conformance {
namespace {

// Some failures repeat for every shape: the first few tell.
constexpr int failures_shown_max = 3;

std::string indented(const char* text) {
  std::string out = "        ";
  for (; *text != '\0'; ++text)
    out += *text == '\n' ? std::string("\n        ") : std::string(1, *text);
  return out;
}

std::string first_line(const char* text) {
  const std::string whole(text == nullptr ? "" : text);
  return whole.substr(0, whole.find('\n'));
}

class CaseLines : public ::testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const ::testing::TestInfo& info) override {
    const auto& result = *info.result();
    const char* verdict = result.Failed() ? "FAILED" : result.Skipped() ? "skipped" : "ok";
    std::printf("%-7s %s.%s", verdict, info.test_suite_name(), info.name());
    if (result.Passed()) {
      std::printf(" (%lld ms)\n", static_cast<long long>(result.elapsed_time()));
    } else if (result.Skipped() && result.total_part_count() > 0) {
      std::printf(": %s\n", first_line(result.GetTestPartResult(0).message()).c_str());
    } else {
      std::printf("\n");
      print_failures(result);
    }
    std::fflush(stdout);
  }

  void OnTestProgramEnd(const ::testing::UnitTest& all) override {
    std::printf("%d cases: %d ok, %d skipped, %d failed\n", all.test_to_run_count(),
                all.successful_test_count(), all.skipped_test_count(), all.failed_test_count());
  }

 private:
  static void print_failures(const ::testing::TestResult& result) {
    int failures = 0;
    for (int i = 0; i < result.total_part_count(); ++i) {
      const auto& part = result.GetTestPartResult(i);
      if (!part.failed() || ++failures > failures_shown_max) continue;
      std::printf("%s\n", indented(part.message()).c_str());
    }
    if (failures > failures_shown_max) {
      std::printf("        and %d more\n", failures - failures_shown_max);
    }
  }
};

}  // namespace

void print_case_lines() {
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new CaseLines);  // owned by the list
}

}  // namespace halmark::conformance
