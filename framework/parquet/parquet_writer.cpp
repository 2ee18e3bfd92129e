#include "parquet/parquet_writer.hpp"

#include <stdexcept>

#include "core/lists.hpp"
#include "core/version.hpp"
#include "parquet/page_writer.hpp"
#include "parquet/thrift_writer.hpp"

namespace halmark {

using parquet::PageWriter;
using parquet::WrittenChunk;

namespace {

constexpr std::int32_t utf8 = 0, uint64 = 14;  // of ConvertedType

void append_schema(ThriftWriter& out, const std::vector<ParquetColumn>& columns) {
  out.list_of_structures(2, columns.size() + 1);
  out.element_structure([&] {
    out.binary(4, "schema");
    out.integer(5, as_int(columns.size()));
  });
  for (const ParquetColumn& column : columns) {
    out.element_structure([&] {
      out.integer(1, as_int(parquet::physical_of(column.kind)));
      out.integer(3, column.is_nullable ? 1 : 0);
      out.binary(4, column.name);
      if (column.kind == ParquetKind::text) out.integer(6, utf8);
      if (column.kind == ParquetKind::natural) out.integer(6, uint64);
    });
  }
}

void append_chunk(ThriftWriter& out, const ParquetColumn& column, const WrittenChunk& chunk,
                  std::int64_t begin, std::int64_t bytes, ParquetCodec codec) {
  const bool has_dictionary = chunk.dictionary_bytes > 0;
  out.wide(2, begin);
  out.structure(3, [&] {
    out.integer(1, as_int(parquet::physical_of(column.kind)));
    out.list_of_integers(2, has_dictionary ? 3 : 2);
    out.element(0);
    out.element(3);
    if (has_dictionary) out.element(8);
    out.list_of_binaries(3, 1);
    out.element(std::string_view(column.name));
    out.integer(4, as_int(codec));
    out.wide(5, chunk.values);
    out.wide(6, chunk.unpacked_bytes);
    out.wide(7, bytes);
    out.wide(9, begin + chunk.dictionary_bytes);
    if (has_dictionary) out.wide(11, begin);
  });
}

}  // namespace

struct ParquetWriter::State {
  struct Group {
    std::int64_t rows = 0, begin = 0;
    std::vector<WrittenChunk> chunks;  // without their pages
    std::vector<std::int64_t> bytes;   // of the pages
  };

  std::vector<ParquetColumn> columns;
  Sink sink;
  ParquetOptions options;
  std::vector<PageWriter> pages;
  std::vector<Group> groups;
  std::int64_t at = 0, rows_of_group = 0;

  void write(std::string_view bytes) {
    sink(bytes);
    at += std::ssize(bytes);
  }
  void flush() {
    if (rows_of_group == 0) return;
    Group group{.rows = rows_of_group, .begin = at, .chunks = {}, .bytes = {}};
    for (PageWriter& page : pages) {
      WrittenChunk chunk = page.finish();
      write(chunk.pages);
      group.bytes.push_back(std::ssize(chunk.pages));
      chunk.pages = {};
      group.chunks.push_back(std::move(chunk));
    }
    groups.push_back(std::move(group));
    rows_of_group = 0;
  }
  void append_group(ThriftWriter& out, const Group& group) const {
    std::int64_t begin = group.begin, unpacked = 0;
    out.list_of_structures(1, columns.size());
    for (const auto i : indices(columns)) {
      out.element_structure([&] {
        append_chunk(out, columns[i], group.chunks[i], begin, group.bytes[i], options.codec);
      });
      begin += group.bytes[i];
      unpacked += group.chunks[i].unpacked_bytes;
    }
    out.wide(2, unpacked);
    out.wide(3, group.rows);
  }
  std::string footer() const {
    ThriftWriter out;
    std::int64_t rows = 0;
    for (const Group& group : groups) rows += group.rows;
    out.integer(1, options.is_page_v2 ? 2 : 1);
    append_schema(out, columns);
    out.wide(3, rows);
    out.list_of_structures(4, groups.size());
    for (const Group& group : groups) {
      out.element_structure([&] { append_group(out, group); });
    }
    out.binary(6, std::string("halmark version ") + tool_version);
    return out.finish();
  }
};

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, Sink sink,
                             const ParquetOptions& options)
    : state_(std::make_unique<State>(
          State{std::move(columns), std::move(sink), options, {}, {}, 0, 0})) {
  for (const ParquetColumn& column : state_->columns) {
    state_->pages.emplace_back(column, state_->options);
  }
  state_->write(parquet_magic);
}

ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::add(std::span<const ParquetCell> row) {
  if (row.size() != state_->columns.size()) throw std::logic_error("a row of another width");
  for (const auto i : indices(row)) state_->pages[i].add(row[i]);
  if (as_size(++state_->rows_of_group) >= state_->options.rows_per_group) {
    state_->flush();
  }
}

void ParquetWriter::end_group() { state_->flush(); }

void ParquetWriter::finish() {
  state_->flush();
  std::string footer = state_->footer();
  const auto size = as_uint32(footer.size());
  for (int shift = 0; shift < 32; shift += 8) footer += static_cast<char>(size >> shift);
  state_->write(footer.append(parquet_magic));
}

}  // namespace halmark
