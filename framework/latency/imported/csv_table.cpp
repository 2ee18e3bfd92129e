#include "latency/imported/csv_table.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "latency/imported/table_text.hpp"
#include "parquet/parquet_cells.hpp"

namespace halmark {
namespace {

constexpr std::size_t csv_block_bytes = std::size_t{1} << 20;
// A line beyond it has too many columns, or a field that is too long.
constexpr std::size_t line_bytes_max = csv_columns_max * (csv_field_bytes_max + 1);
constexpr std::size_t recent_fields = 4096;  // per column, a power of 2

void split(std::string_view line, const std::string& where, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (fields.back().size() > csv_field_bytes_max) {
      throw refused("a field has more than " + std::to_string(csv_field_bytes_max) + " bytes",
                    where);
    }
    if (comma == std::string_view::npos) return;
    if (fields.size() == csv_columns_max) {
      throw refused("more than " + std::to_string(csv_columns_max) + " columns", where);
    }
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

// The lines of a text, given in pieces, become rows.
class CsvLines {
 public:
  explicit CsvLines(CsvTable& table) : table_(table) {}

  // Takes whole lines from the front of `text`, and a last one without its end if `is_last`.
  void take(std::string& text, bool is_last) {
    std::string_view rest(text);
    if (number_ == 0 && rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos && !is_last && rest.size() < line_bytes_max) break;
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) add(line);
    }
    text.erase(0, text.size() - rest.size());
  }

 private:
  void add(std::string_view line) {
    const std::string where = table_.name_ + ':' + std::to_string(number_);
    if (line.find('\0') != std::string_view::npos) throw refused("is no text", where);
    if (line.find('"') != std::string_view::npos) {
      throw refused("quoted fields are not read", where, "write the values without quotes");
    }
    split(line, where, fields_);
    if (table_.header_.empty()) {
      table_.set_header({fields_.begin(), fields_.end()}, where);
      return;
    }
    if (fields_.size() != table_.header_.size()) {
      throw refused(std::to_string(fields_.size()) + " fields, but the header has " +
                        std::to_string(table_.header_.size()),
                    where);
    }
    for (const auto i : indices(fields_)) table_.add_field(i, fields_[i]);
    table_.end_row(number_);
  }

  CsvTable& table_;
  std::size_t number_ = 0;
  std::vector<std::string_view> fields_;
};

CsvTable CsvTable::read(const std::string& path, const CheckHead& check) {
  TableText from(path);
  if (from.is_parquet()) return read_parquet(from.parquet(), check);
  CsvTable out(from.name());
  CsvLines lines(out);
  std::string text;
  for (bool has_more = true, is_head = true; has_more; is_head = false) {
    const std::size_t before = text.size();
    text.resize(before + csv_block_bytes);
    const std::size_t n = from.read(std::span(text).subspan(before));
    text.resize(before + n);
    has_more = n == csv_block_bytes;
    lines.take(text, !has_more);
    // What is no table is refused before the rest of it is in memory.
    if (is_head && has_more && check) check(out);
  }
  out.require_rows();
  if (check) check(out);
  return out;
}

CsvTable CsvTable::parse(std::string_view text, std::string name) {
  CsvTable out(std::move(name));
  std::string lines(text);
  CsvLines(out).take(lines, true);
  out.require_rows();
  return out;
}

CsvTable CsvTable::read_parquet(ParquetReader reader, const CheckHead& check) {
  CsvTable out(reader.name());
  out.has_lines_ = false;
  auto names = mapped(reader.columns(), &ParquetColumn::name);
  out.set_header(std::move(names), out.name_);
  if (check) check(out);
  ParquetCells cells(reader);
  while (cells.next()) {
    for (std::size_t i = 0; i < out.header_.size(); ++i) out.add_field(i, cells.row()[i]);
    out.end_row(0);
  }
  out.require_rows();
  if (check) check(out);
  return out;
}

CsvTable CsvTable::of_groups(const ParquetReader& reader, std::vector<std::size_t> groups,
                             const std::set<std::string>& wanted,
                             std::span<const RowChoice> choices) {
  CsvTable out(reader.name());
  out.has_lines_ = false;
  std::vector<std::size_t> columns;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < reader.columns().size(); ++i) {
    const std::string& name = reader.columns()[i].name;
    if (!wanted.contains(name)) continue;
    columns.push_back(i);
    names.push_back(name);
  }
  out.set_header(std::move(names), out.name_);
  if (columns.empty()) return out;
  ParquetCells cells(reader, columns, std::move(groups));
  std::vector<std::pair<std::size_t, const RowChoice*>> asked;
  for (const RowChoice& choice : choices) {
    if (out.has(choice.column)) asked.emplace_back(out.column(choice.column), &choice);
  }
  while (cells.next()) {
    const auto& row = cells.row();
    const auto is_taken = [&](const auto& of) { return of.second->takes(row[of.first]); };
    if (!std::ranges::all_of(asked, is_taken)) continue;
    for (const auto i : indices(columns)) out.add_field(i, row[i]);
    out.end_row(0);
  }
  return out;
}

void CsvTable::set_header(std::vector<std::string> names, const std::string& where) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!name.empty() && !seen.insert(name).second) {
      throw refused("column '" + printable(name) + "' is there twice", where);
    }
  }
  header_ = std::move(names);
  recent_.resize(header_.size());
}

void CsvTable::add_field(std::size_t column, std::string_view field) {
  if (field.empty()) {
    fields_.push_back(0);
    return;
  }
  if (recent_[column].empty()) recent_[column].resize(recent_fields);
  std::uint32_t& recent =
      recent_[column][std::hash<std::string_view>()(field) & (recent_fields - 1)];
  if (field != text_.data() + recent) {
    if (text_.size() > table_input.bytes_max) {
      throw refused(
          "is larger than " + std::to_string(table_input.bytes_max / mebibyte) + " MiB of text",
          name_);
    }
    recent = as_uint32(text_.size());
    text_ += field;
    text_ += '\0';
  }
  fields_.push_back(recent);
}

void CsvTable::end_row(std::size_t line) {
  const std::size_t expected =
      jumps_.empty() ? rows_ + 2 : jumps_.back().line + rows_ - jumps_.back().row;
  if (has_lines_ && line != expected) jumps_.push_back({rows_, line});
  ++rows_;
}

void CsvTable::require_rows() const {
  if (rows_ == 0) throw refused("has no rows", name_);
}

std::string CsvTable::where(std::size_t row) const {
  if (!has_lines_) return name_ + ", row " + std::to_string(row + 1);
  const auto behind = std::ranges::upper_bound(jumps_, row, {}, &Jump::row);
  const std::size_t line =
      behind == jumps_.begin() ? row + 2 : std::prev(behind)->line + row - std::prev(behind)->row;
  return name_ + ':' + std::to_string(line);
}

bool CsvTable::has(std::string_view name) const { return contains(header_, name); }

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found != header_.end()) return as_size(found - header_.begin());
  throw refused("has no column '" + printable(name) + "'", has_lines_ ? name_ + ":1" : name_,
                suggestion(name, header_));
}

}  // namespace halmark
