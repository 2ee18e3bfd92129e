#include "profile/trace/byte_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"

namespace halmark::trace {
namespace {

class FileBytes final : public ByteSource {
 public:
  FileBytes(const std::string& path, const InputKind& kind) : file_(path, kind) {}
  std::size_t read(std::span<char> out) override { return file_.read(out); }

 private:
  InputFile file_;
};

class TextBytes final : public ByteSource {
 public:
  explicit TextBytes(std::string text) : text_(std::move(text)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), text_.size() - at_);
    std::copy_n(text_.data() + at_, n, out.data());
    at_ += n;
    return n;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// Gives back first what was read to look at.
class Peeked final : public ByteSource {
 public:
  Peeked(std::string front, std::unique_ptr<ByteSource> rest)
      : front_(std::move(front)), rest_(std::move(rest)) {}
  std::size_t read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), front_.size() - at_);
    std::copy_n(front_.data() + at_, n, out.data());
    at_ += n;
    return n + rest_->read(out.subspan(n));
  }

 private:
  std::string front_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class GzipBytes final : public ByteSource {
 public:
  GzipBytes(std::unique_ptr<ByteSource> packed, std::string where, const UnpackLimits& limits)
      : packed_(std::move(packed)), where_(std::move(where)), limits_(limits), input_(1u << 18) {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBytes() override { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(std::span<char> out) override {
    std::size_t done = 0;
    while (done < out.size() && !at_end_) {
      if (stream_.avail_in == 0 && !refill()) break;
      const auto room = static_cast<uInt>(std::min<std::size_t>(out.size() - done, 1u << 20));
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      unpacked_ += room - stream_.avail_out;
      check_limits();
      in_member_ = status != Z_STREAM_END;
      if (status == Z_STREAM_END) {
        inflateReset(&stream_);  // another member may follow
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw refused("is no valid gzip file (" + printable(stream_.msg ? stream_.msg : "damaged") +
                          " after " + std::to_string(unpacked_) + " unpacked bytes)",
                      where_, "write the trace again");
      }
    }
    return done;
  }

 private:
  bool refill() {
    const std::size_t n = packed_->read(input_);
    packed_bytes_ += n;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(n);
    if (n > 0) return true;
    at_end_ = true;
    if (in_member_) {
      throw refused("ends in the middle of its gzip data, after " + std::to_string(unpacked_) +
                        " unpacked bytes",
                    where_, "copy or write the trace again");
    }
    return false;
  }

  void check_limits() const {
    if (unpacked_ > limits_.bytes_max) {
      throw refused("unpacks to more than " + std::to_string(limits_.bytes_max) + " bytes", where_,
                    "raise --max-unpacked-mib if the file can be trusted");
    }
    const double ratio = as_double(unpacked_) / as_double(packed_bytes_ - stream_.avail_in + 1);
    if (unpacked_ > (1u << 20) && ratio > limits_.ratio_max) {
      throw refused("unpacks to more than " + std::to_string(static_cast<int>(limits_.ratio_max)) +
                        " times its size",
                    where_, "no profiler writes this; unpack it yourself if it can be trusted");
    }
  }

  std::unique_ptr<ByteSource> packed_;
  std::string where_;
  UnpackLimits limits_;
  std::vector<char> input_;
  z_stream stream_{};
  std::uint64_t unpacked_ = 0, packed_bytes_ = 0;
  bool in_member_ = true, at_end_ = false;
};

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> raw, const std::string& where,
                                     const UnpackLimits& limits) {
  constexpr std::string_view gzip_magic = "\x1f\x8b";
  std::string front(gzip_magic.size(), '\0');
  front.resize(raw->read(front));
  const bool is_gzip = front == gzip_magic;
  auto whole = std::make_unique<Peeked>(std::move(front), std::move(raw));
  if (!is_gzip) return whole;
  return std::make_unique<GzipBytes>(std::move(whole), where, limits);
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path, const UnpackLimits& limits) {
  InputKind kind = trace_input;
  kind.bytes_max = limits.bytes_max;
  auto bytes = unpacked(std::make_unique<FileBytes>(path, kind), input_name(path), limits);
  std::string front(std::size_t{64} << 10, '\0');
  front.resize(bytes->read(front));
  require_kind(front, input_name(path), "trace");
  return std::make_unique<Peeked>(std::move(front), std::move(bytes));
}

std::unique_ptr<ByteSource> bytes_of(std::string text, const std::string& where,
                                     const UnpackLimits& limits) {
  return unpacked(std::make_unique<TextBytes>(std::move(text)), where, limits);
}

}  // namespace halmark::trace
