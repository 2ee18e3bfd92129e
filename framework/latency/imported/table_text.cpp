// What gzip unpacks to is counted as it is made: a mebibyte can become a gibibyte.
#include "latency/imported/table_text.hpp"

#ifdef HALMARK_HAS_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::size_t block_bytes = std::size_t{256} << 10;

}  // namespace

class TableText::Source {
 public:
  explicit Source(const std::string& path) : file_(path, table_input), block_(block_bytes) {
    fill();
  }
  virtual ~Source() = default;
  Source(Source&&) = default;

  virtual std::size_t read(std::span<char> out) {
    std::size_t done = 0;
    while (done < out.size() && (at_ < end_ || fill())) {
      const std::size_t n = std::min(out.size() - done, end_ - at_);
      std::copy_n(block_.data() + at_, n, out.data() + done);
      at_ += n;
      done += n;
    }
    return done;
  }

  const std::string& name() const { return file_.name(); }
  // A pipe has no places to read at: all of it comes into memory.
  ParquetReader parquet() {
    if (!file_.is_pipe()) return ParquetReader(std::move(file_));
    std::string name = file_.name(), bytes(rest_of_block());
    bytes += file_.read_rest();
    return ParquetReader(std::move(bytes), std::move(name));
  }
  std::string_view rest_of_block() const { return {block_.data() + at_, end_ - at_}; }

 protected:
  bool fill() {
    at_ = 0;
    end_ = file_.read(block_);
    return end_ > 0;
  }

  InputFile file_;
  std::vector<char> block_;
  std::size_t at_ = 0, end_ = 0;
};

#ifdef HALMARK_HAS_ZLIB
namespace {

Error damaged(const std::string& name) { return refused("is a damaged gzip file", name); }

}  // namespace

class GzipTableText : public TableText::Source {
 public:
  explicit GzipTableText(TableText::Source&& plain) : Source(std::move(plain)) {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipTableText() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> out) override {
    std::size_t done = 0;
    while (done < out.size() && (at_ < end_ || refill())) {
      stream_.next_in = reinterpret_cast<Bytef*>(block_.data() + at_);
      stream_.avail_in = static_cast<uInt>(end_ - at_);
      const auto room = static_cast<uInt>(std::min<std::size_t>(out.size() - done, 1u << 20));
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t taken = end_ - at_ - stream_.avail_in, made = room - stream_.avail_out;
      at_ += taken;
      packed_ += taken;
      unpacked_ += made;
      done += made;
      if (status != Z_OK && status != Z_STREAM_END) throw damaged(name());
      in_member_ = status != Z_STREAM_END;
      if (!in_member_) inflateReset(&stream_);  // another member may follow
      check_limits();
    }
    return done;
  }

 private:
  bool refill() {
    if (fill()) return true;
    if (in_member_) throw damaged(name());
    return false;
  }
  void check_limits() const {
    if (unpacked_ > table_input.bytes_max) {
      throw refused(
          "is larger than " + std::to_string(table_input.bytes_max / mebibyte) + " MiB of text",
          name());
    }
    const double ratio = as_double(unpacked_) / as_double(packed_ + 1);
    if (unpacked_ > mebibyte && ratio > unpacked_ratio_max) {
      throw refused(
          "unpacks to more than " + std::to_string(int(unpacked_ratio_max)) + " times its size",
          name(), "unpack it yourself if it can be trusted");
    }
  }

  z_stream stream_{};
  std::uint64_t packed_ = 0, unpacked_ = 0;
  bool in_member_ = true;
};
#endif

TableText::TableText(const std::string& path) : source_(std::make_unique<Source>(path)) {
  const std::string_view beginning = source_->rest_of_block();
  is_parquet_ = beginning.starts_with(parquet_magic);
  if (is_parquet_) return;
  if (!beginning.starts_with(gzip_magic)) {
    require_kind(beginning, name(), "table");
    return;
  }
#ifdef HALMARK_HAS_ZLIB
  source_ = std::make_unique<GzipTableText>(std::move(*source_));
  front_.resize(block_bytes);
  front_.resize(source_->read(front_));
  require_kind(front_, name(), "table");
#else
  throw refused("is compressed, and this build has no zlib", name(), "unpack it with gunzip");
#endif
}

TableText::~TableText() = default;

const std::string& TableText::name() const { return source_->name(); }

ParquetReader TableText::parquet() { return source_->parquet(); }

std::size_t TableText::read(std::span<char> out) {
  const std::size_t n = std::min(out.size(), front_.size() - front_at_);
  std::copy_n(front_.data() + front_at_, n, out.data());
  front_at_ += n;
  return n + source_->read(out.subspan(n));
}

}  // namespace halmark
