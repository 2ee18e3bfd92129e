#include "latency/imported/series.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  constexpr const char* blanks = " \t\n";
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find_first_not_of(blanks, at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

bool is_word_of(const std::string& word, const std::vector<std::string>& words) {
  const auto dtype = table_dtype(word);
  const std::string wanted = lower_case(dtype ? std::string(dtype_name(*dtype)) : word);
  return std::ranges::any_of(words, [&](const std::string& w) {
    return lower_case(w) == wanted || lower_case(w) == lower_case(word);
  });
}

bool chooses(const std::string& selector, const SeriesIdentity& series) {
  const std::vector<std::string> words = series.words();
  return std::ranges::all_of(words_of(selector), [&](const std::string& word) {
    // A block is chosen by the name of its type, too.
    if (word == "fp8_block") return !series.block.empty() && is_word_of("fp8", words);
    return is_word_of(word, words);
  });
}

}  // namespace

std::optional<Dtype> table_dtype(std::string_view text) {
  if (text == "half") return Dtype::f16;
  if (text == "fp8_block" || text == "fp8_e4m3") return Dtype::f8_e4m3fn;
  return parse_dtype(text);
}

// Inputs of 8 bits beside mxfp4 weights are made inside the kernel.
const PackedType* packed_type(std::string_view text) {
  using enum Dtype;
  static constexpr auto all =
      std::to_array<PackedType>({{"w4a16_mxfp4", bf16, f4_e2m1, 32, 8, "block32"},
                                 {"w4a8_mxfp4_mxfp8", bf16, f4_e2m1, 32, 8, "block32-mxfp8"},
                                 {"nvfp4", f4_e2m1, f4_e2m1, 16, 8, "block16"},
                                 {"int4_wo", bf16, s4, 128, 16, "block128"}});
  return find_or_null(all, text, &PackedType::name);
}

std::string dtypes_of(const Problem& problem) {
  std::string out;
  for (const char* name : {"src_dtype", "dtype", "q_dtype", "kv_dtype"}) {
    if (!problem.params.find(name)) continue;
    const std::string dtype(dtype_name(problem.params.dtype(name)));
    if (out != dtype) append_item(out, "/", dtype);
  }
  return out;
}

std::vector<std::string> SeriesIdentity::words() const {
  std::vector<std::string> out;
  for (const std::string* part : {&op, &dtype, &block, &kernel_source, &backend, &other}) {
    for (std::string& word : words_of(*part)) out.push_back(std::move(word));
  }
  return out;
}

std::string SeriesIdentity::text() const { return join(words(), " "); }

SeriesChoice::SeriesChoice(std::vector<std::string> selectors, std::string where)
    : selectors_(std::move(selectors)), where_(std::move(where)) {
  for (const std::string& selector : selectors_) {
    if (words_of(selector).empty()) {
      throw refused("a series without a name", where_, "name it as a report does, or leave it out");
    }
  }
}

std::optional<std::size_t> SeriesChoice::rank(const SeriesIdentity& series) const {
  for (const auto i : indices(selectors_)) {
    if (chooses(selectors_[i], series)) return i;
  }
  return std::nullopt;
}

void SeriesChoice::check(const std::vector<SeriesIdentity>& known) const {
  for (const std::string& selector : selectors_) {
    const auto is_chosen = [&](const SeriesIdentity& series) { return chooses(selector, series); };
    if (std::ranges::any_of(known, is_chosen)) continue;
    std::vector<std::string> names;
    for (const SeriesIdentity& series : known) {
      for (std::string& word : series.words()) {
        if (!contains(names, word)) names.push_back(std::move(word));
      }
    }
    throw refused("no series of these tables is '" + printable(selector) + "'", where_,
                  suggestion(selector, names));
  }
}

}  // namespace halmark
