// Front proofs as lists of records that tests may change, and a small problem to prove.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "search/certify/proof.hpp"

namespace halmark::test {

using Records = std::vector<Json>;

std::string proof_of(const Certifier& certifier, bool is_definition = true);

// A space with constraints, a kernel that fails, an interval and an undecided configuration.
CertifiableProblem small_problem();
std::string small_proof(bool is_definition = true);

Records records_of(const std::string& text);
// With a hash that is right.
std::string text_of(Records records);
// The first record of a kind, with a key where one is named; fails the test where there is none.
std::size_t first(const Records& records, const std::string& what, const std::string& with = {});

// The small proof with one value changed: at `pointer` of the first record of a kind that has a
// key.
Records changed(const std::string& what, const std::string& with, const std::string& pointer,
                const Json& value);
void insert_before(Records& records, const char* what, Json record);
// That these records, their hash made right, are refused for this reason.
void expect_broken(const Records& records, const std::string& why);
void expect_conditional(const std::string& proof);

// A second implementation, in another language: its exit code, or nothing without a Python.
std::optional<int> verdict_of_script(const std::string& proof);

}  // namespace halmark::test
