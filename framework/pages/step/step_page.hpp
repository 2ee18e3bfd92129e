// What `halmark model` prints of a priced step: the answer first, then where the time goes, then
// what it rests on. A section is one line of the table in step_page.cpp: its JSON and its text.
#pragma once

#include <string>
#include <vector>

#include "model/step/step_answer.hpp"
#include "pages/step/kernel_section.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/view.hpp"

namespace halmark::pages {

struct StepForm {
  int width = report::unlimited_width;  // terminal columns; nothing is cut in files and pipes
  bool shows_all = false;               // every operator with its shapes, splits and bytes
  MeasuredKernels kernels;
};

struct StepPage {
  const PricedStep& step;
  StepAnswer answer;
  StepForm form;
};

// Throws Error (exit 2) for tables of kernels that cannot be read or contradict the graph.
report::View step_view(const PricedStep& step, const StepForm& form);

// An operator of the step, "expected_tokens_per_step", or a word of the glossary, with the numbers
// of this step where it has one. Throws Error (exit 2) with the nearest names.
report::View explained(const PricedStep& step, const std::string& wanted, int width);
// The words that explained() knows for this step: its operators, and the glossary.
report::View explainable(const PricedStep& step, int width);

// What comes of it, or that it does not fit; where that is from and what binds; memory; what to
// type next.
std::vector<std::string> answer_lines(const StepPage& page);
// What it needs and what is there, from how many devices it fits, and in which narrower type.
std::string no_fit_text(const PricedStep& step, const Fit& fit);

// What an engine adds to the step, of which `host_ns`, and what that rests on.
std::string engine_text(const StepEngine& engine, double host_ns);

// Lines of the sections; empty where one has nothing to say.
std::string answer_text(const StepPage& page);
std::string operators_text(const StepPage& page);
std::string totals_text(const StepPage& page);
std::string training_text(const StepPage& page);
std::string fit_text(const StepPage& page);
std::string mfu_text(const StepPage& page);
std::string weights_text(const StepPage& page);
std::string notes_text(const StepPage& page);  // assumed inputs and warnings
std::string experts_text(const StepPage& page);
std::string recurrence_text(const StepPage& page);
std::string speculation_text(const StepPage& page);

std::string size_text(std::int64_t bytes);  // "1.55 GiB"
// "0.412 ms": three digits, or more where that is an integer. Never "0.00".
std::string milliseconds(double ns);

}  // namespace halmark::pages
