#include "proof_records.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "core/text/digest.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "verify/front_proof/front_proof.hpp"

namespace halmark::test {

std::string proof_of(const Certifier& certifier, bool is_definition) {
  return proof_text(certifier, make_certificate(certifier),
                    {.program = "test", .is_definition = is_definition});
}

CertifiableProblem small_problem() {
  using namespace formula;
  CertifiableProblem out;
  out.domains = {{"shards", {"1", "2", "3"}}, {"variant", {"0", "1", "2", "3"}}};
  out.objectives = {{"latency", "ns", false}, {"throughput", "1/s", true}, {"memory", "B", false}};
  out.peaks = {{.id = "peak", .value = 1, .unit = "FLOP/s", .source = "", .safety = 1.25},
               {.id = "memory",
                .value = 2,
                .unit = "bytes/s",
                .source = "",
                .safety = 1.25,
                .is_operations = false}};
  out.constraints = {{"even", "shards != 3"}, {"does_not_fit", ""}};
  for (const double operations : {10.0, 20.0, 40.0, 80.0, 20.5}) {
    out.kernels.push_back({.key = "kernel of " + std::to_string(operations),
                           .operations = operations,
                           .bytes = 8,
                           .terms = {{0, operations}, {1, 6}}});
  }
  for (std::uint64_t c = 0; c < 12; ++c) {
    const bool is_odd = c >= 8, is_too_large = c == 7;
    out.broken.push_back(is_odd ? 0 : is_too_large ? 1 : -1);
    if (is_odd || is_too_large) continue;
    const Formula step =
        scaled(constant(2), largest({sum({scaled(constant(3), kernel(0)),
                                          kernel(static_cast<std::int32_t>(1 + c % 4))}),
                                     constant(1)}));
    out.own_formulas[c] = {step, scaled(constant(1e9), rate(constant(c < 4 ? 8 : 4), step)),
                           constant(c < 4 ? 100 : 90)};
  }
  return out;
}

std::string small_proof(bool is_definition) {
  Certifier certifier(small_problem(), {.eps = 0.01});
  certifier.tell(0, 11, 12);
  certifier.tell(1, 19, 21);
  certifier.tell_failed(2, "crashed");
  return proof_of(certifier, is_definition);
}

Records records_of(const std::string& text) {
  Records out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    out.push_back(parse_json(text.substr(begin, end - begin), "proof"));
    begin = end + 1;
  }
  return out;
}

std::string text_of(Records records) {
  std::string out;
  for (std::size_t i = 0; i + 1 < records.size(); ++i)
    out += nlohmann::json(records[i]).dump() + '\n';
  records.back()["sha256"] = sha256_of(out);
  return out + nlohmann::json(records.back()).dump() + '\n';
}

std::size_t first(const Records& records, const std::string& what, const std::string& with) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i]["record"] == what && (with.empty() || records[i].contains(with))) return i;
  }
  ADD_FAILURE() << "no record " << what << ' ' << with;
  return 0;
}

Records changed(const std::string& what, const std::string& with, const std::string& pointer,
                const Json& value) {
  Records out = records_of(small_proof());
  out[first(out, what, with)][Json::json_pointer(pointer)] = value;
  return out;
}

void insert_before(Records& records, const char* what, Json record) {
  records.insert(records.begin() + static_cast<std::ptrdiff_t>(first(records, what)),
                 std::move(record));
}

void expect_broken(const Records& records, const std::string& why) {
  const FrontProofCheck check = check_front_proof(text_of(records));
  EXPECT_EQ(check.verdict, ProofVerdict::broken) << why;
  EXPECT_THAT(check.reason, testing::HasSubstr(why));
}

void expect_conditional(const std::string& proof) {
  const FrontProofCheck check = check_front_proof(proof);
  EXPECT_EQ(check.verdict, ProofVerdict::conditional) << check.line << ": " << check.reason;
}

std::optional<int> verdict_of_script(const std::string& proof) {
  if (std::system("python3 -c 'import sys' > /dev/null 2>&1") != 0) return std::nullopt;
  const ScratchFolder folder;
  const std::string path = folder / "a.hmproof";
  std::ofstream(path, std::ios::binary) << proof;
  const std::string command = "python3 '" + test::in_source("/tests/verify_front_proof.py") +
                              "' '" + path + "' > /dev/null";
  return WEXITSTATUS(std::system(command.c_str()));
}

}  // namespace halmark::test
