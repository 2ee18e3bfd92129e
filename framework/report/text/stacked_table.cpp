#include "report/text/stacked_table.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/terminal/terminal.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::report {
namespace {

constexpr int gap = 2;

int column_width(const Table& table, std::size_t c) {
  int width = display_width(clean_text(table.columns[c].title));
  for (const auto& row : table.rows) {
    width = std::max(width, display_width(clean_text(row[c].text)));
  }
  return width;
}

Table columns_of(const Table& table, const std::vector<std::size_t>& columns) {
  Table out;
  for (const std::size_t c : columns) out.columns.push_back(table.columns[c]);
  for (const auto& row : table.rows) {
    auto& cells = out.rows.emplace_back();
    for (const std::size_t c : columns) cells.push_back(row[c]);
  }
  return out;
}

void key_first(Table& table, std::size_t key) {
  const auto at = as_int64(key);
  std::rotate(table.columns.begin(), table.columns.begin() + at, table.columns.begin() + at + 1);
  for (auto& row : table.rows) std::rotate(row.begin(), row.begin() + at, row.begin() + at + 1);
}

// "2 gemm m=1 ...": the texts of the first column above, their numbers in it.
std::string take_legend(Table& table, int width) {
  std::string out = clean_text(table.columns.front().title) + ":\n";
  for (const auto r : indices(table.rows)) {
    const std::string number = std::to_string(r + 1);
    out += wrapped("  " + number + "  " + clean_text(table.rows[r].front().text), width,
                   number.size() + 4);
    table.rows[r].front().text = number;
  }
  table.columns.front() = {"#", true};
  return out + '\n';
}

// One column that has no room in a line beside the first.
std::string listed(const Table& table, std::size_t c, int width) {
  std::string out = clean_text(table.columns[c].title) + ":\n";
  for (const auto& row : table.rows) {
    const std::string text = clean_text(row[c].text);
    if (text.empty()) continue;
    out += wrapped("  " + clean_text(row.front().text) + ": " + text, width, 4);
  }
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string without_define(const std::string& word) {
  return word.starts_with("-D") ? word.substr(2) : word;
}

}  // namespace

std::string stacked_text(const Table& table, int width, std::size_t key) {
  Table left = table;
  std::string out;
  if (left.columns.size() < 2 || width == unlimited_width) {
    return table_text(left, unlimited_width);
  }
  std::vector<int> widths;
  const auto measure = [&] {
    widths.clear();
    for (std::size_t c = 0; c < left.columns.size(); ++c) widths.push_back(column_width(left, c));
  };
  measure();
  const auto gaps = gap * (as_int(widths.size()) - 1);
  if (std::accumulate(widths.begin(), widths.end(), gaps) <= width) {
    return table_text(left, unlimited_width);
  }
  key_first(left, key);
  measure();
  if (widths.front() > width / 2) {
    out += take_legend(left, width);
    measure();
  }
  std::vector<std::string> blocks;
  for (std::size_t c = 1; c < left.columns.size();) {
    std::vector<std::size_t> block = {0};
    int used = widths.front();
    while (c < left.columns.size() && used + gap + widths[c] <= width) {
      used += gap + widths[c];
      block.push_back(c++);
    }
    blocks.push_back(block.size() > 1 ? table_text(columns_of(left, block), unlimited_width)
                                      : listed(left, c++, width));
  }
  for (const auto b : indices(blocks)) out += (b == 0 ? "" : "\n") + blocks[b];
  return out;
}

std::string stdout_text(const Table& table, std::size_t key) {
  return stacked_text(table, stdout_columns(), key);
}

std::string take_constants(Table& table, const std::vector<std::string>& kept) {
  if (table.rows.size() < 2) return {};
  std::string out;
  for (std::size_t c = 1; c < table.columns.size();) {
    const std::string& first = table.rows.front()[c].text;
    // Figures that are equal by chance stay; those that no row has are said once.
    const bool may_go = !table.columns[c].is_number || first == absent_text;
    const bool is_constant =
        may_go && !contains(kept, table.columns[c].title) &&
        std::ranges::all_of(table.rows, [&](const auto& row) { return row[c].text == first; });
    if (!is_constant) {
      ++c;
      continue;
    }
    out += (out.empty() ? "in every row: " : ", ") + table.columns[c].title + ' ' + first;
    table.columns.erase(table.columns.begin() + as_int64(c));
    for (auto& row : table.rows) row.erase(row.begin() + as_int64(c));
  }
  return out;
}

std::string take_common_words(std::vector<std::string>& texts) {
  if (texts.size() < 2) return {};
  std::vector<std::string> shared = words_of(texts.front());
  for (const std::string& text : texts) {
    const std::vector<std::string> own = words_of(text);
    std::erase_if(shared, [&](const std::string& w) { return std::ranges::count(own, w) != 1; });
  }
  const std::set<std::string> taken(shared.begin(), shared.end());
  std::vector<std::string> rest;
  for (const std::string& text : texts) {
    std::vector<std::string> own = words_of(text);
    std::erase_if(own, [&](const std::string& w) { return taken.contains(w); });
    rest.push_back(join(own, " "));
  }
  // Rows that say nothing any more are alike: then nothing was to be told apart.
  if (std::ranges::any_of(rest, [](const std::string& text) { return text.empty(); })) return {};
  texts = std::move(rest);
  return join(shared, " ");
}

std::vector<std::string> short_implementations(const std::vector<std::string>& full) {
  std::map<std::string, std::map<std::string, std::size_t>> counts;  // name, option
  std::map<std::string, std::set<std::string>> texts;                // of a name
  for (const std::string& text : full) {
    const std::vector<std::string> words = words_of(text);
    if (words.empty() || !texts[words.front()].insert(text).second) continue;
    for (const std::string& word : words) ++counts[words.front()][word];
  }
  std::vector<std::string> out;
  for (const std::string& text : full) {
    std::vector<std::string> kept;
    for (const std::string& word : words_of(text)) {
      const bool is_in_all = !kept.empty() && is_option(word) &&
                             counts[kept.front()][word] >= texts[kept.front()].size();
      if (!is_in_all) kept.push_back(kept.empty() ? word : without_define(word));
    }
    out.push_back(join(kept, " "));
  }
  return out;
}

std::string implementation_name(const std::string& full) {
  return short_implementations({full}).front();
}

}  // namespace halmark::report
