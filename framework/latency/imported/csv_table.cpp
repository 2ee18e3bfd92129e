#include "latency/imported/csv_table.hpp"

#ifdef HALMARK_HAS_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view parquet_magic = "PAR1";

Error too_large(const std::string& path) {
  return refused("is larger than " + std::to_string(csv_bytes_max >> 20) + " MiB of text", path);
}

std::string first_bytes(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) throw refused("is no file", path);
  std::ifstream in(path, std::ios::binary);
  std::string out(4, '\0');
  if (!in) throw refused("cannot be read", path);
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  return out;
}

std::string plain_text(const std::string& path) {
  if (std::filesystem::file_size(path) > csv_bytes_max) throw too_large(path);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

#ifdef HALMARK_HAS_ZLIB
std::string gzip_text(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(path.c_str(), "rb"), gzclose);
  if (!in) throw refused("cannot be read", path);
  std::string out, block(1 << 18, '\0');
  while (true) {
    const int got = gzread(in.get(), block.data(), static_cast<unsigned>(block.size()));
    int code = Z_OK;
    gzerror(in.get(), &code);
    if (got < 0 || code == Z_BUF_ERROR) throw refused("is a damaged gzip file", path);
    if (got == 0) return out;
    out.append(block.data(), static_cast<std::size_t>(got));
    if (out.size() > csv_bytes_max) throw too_large(path);
  }
}
#else
std::string gzip_text(const std::string& path) {
  throw refused("is compressed, and this build has no zlib", path, "unpack it with gunzip");
}
#endif

void split(std::string_view line, std::vector<std::string_view>& fields) {
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

CsvTable CsvTable::read(const std::string& path) {
  const std::string magic = first_bytes(path);
  if (magic == parquet_magic) {
    throw refused("is Parquet, and this build has no Parquet library", path,
                  "convert it to CSV, which may be gzipped");
  }
  return parse(magic.starts_with(gzip_magic) ? gzip_text(path) : plain_text(path), path);
}

CsvTable CsvTable::parse(std::string text, std::string name) {
  CsvTable out;
  out.name_ = std::move(name);
  out.text_.assign(text.begin(), text.end());
  std::string_view rest(out.text_.data(), out.text_.size());
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string where = out.name_ + ':' + std::to_string(number);
    if (line.find('"') != std::string_view::npos) {
      throw refused("quoted fields are not read", where, "write the values without quotes");
    }
    if (line.find('\0') != std::string_view::npos) throw refused("is no text", where);
    const std::size_t before = out.fields_.size();
    split(line, out.fields_);
    const std::size_t width = out.fields_.size() - before;
    if (out.columns_ == 0) {
      out.columns_ = width;
      continue;
    }
    if (width != out.columns_) {
      throw refused(
          std::to_string(width) + " fields, but the header has " + std::to_string(out.columns_),
          where);
    }
    out.lines_.push_back(number);
  }
  if (out.lines_.empty()) throw refused("has no rows", out.name_);
  return out;
}

std::string CsvTable::where(std::size_t row) const {
  return name_ + ':' + std::to_string(lines_.at(row));
}

bool CsvTable::has(std::string_view name) const {
  return std::ranges::find(header(), name) != header().end();
}

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header(), name);
  if (found != header().end()) return static_cast<std::size_t>(found - header().begin());
  throw refused("has no column '" + printable(name) + "'", name_ + ":1",
                suggestion(name, {header().begin(), header().end()}));
}

}  // namespace halmark
