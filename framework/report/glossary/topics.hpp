// The words of one topic each; a file of terms per topic.
#pragma once

#include <span>

#include "report/glossary.hpp"

namespace halmark::report {

std::span<const Term> figure_terms();
std::span<const Term> status_terms();
std::span<const Term> gate_terms();
std::span<const Term> search_terms();
std::span<const Term> model_terms();
std::span<const Term> machine_terms();
std::span<const Term> choice_terms();
std::span<const Term> unit_terms();
std::span<const Term> table_terms();
std::span<const Term> warning_terms();

}  // namespace halmark::report
