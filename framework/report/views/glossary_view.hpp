// What `halmark explain` and `halmark model --explain` show of the glossary.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "report/glossary.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

// Every word with its meaning, by topic; lines of at most `width` columns.
View glossary_view(int width);

// Of a word or heading, of all words of a topic, or of the label of a point. Throws as known_term
// does. The workflow of a nightly run, a file of `nightly` (config_dirs), stands whole before its
// word, as comments: what is printed is that workflow.
View explained_view(std::string_view wanted, int width,
                    std::span<const std::filesystem::path> nightly = {});

// One word: its meaning, its formula, where it is printed. The text is the same whoever asks.
View term_view(const Term& term, int width);

// Throws Error (exit 2) with the nearest words for one that nothing stands for.
const Term& known_term(std::string_view word);

}  // namespace halmark::report
