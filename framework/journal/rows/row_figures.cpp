#include "journal/rows/row_figures.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/json/json_type.hpp"
#include "core/numeric/cast.hpp"

namespace halmark::journal {
namespace {

std::string* text_field(Measurement& m, std::string_view of, std::string_view key) {
  if (of == "case") {
    if (key == "backend") return &m.kernel_case.backend;
    if (key == "device") return &m.kernel_case.device;
  } else if (of == "plugin") {
    if (key == "name") return &m.plugin_name;
    if (key == "version") return &m.plugin_version;
    if (key == "build") return &m.plugin_build;
    if (key == "hash") return &m.plugin_hash;
  } else if (of.empty() && key == "reason") {
    return &m.reason;
  }
  return nullptr;
}

std::optional<double>* state_field(Measurement& m, std::string_view key) {
  if (key == "bandwidth_before") return &m.bandwidth.before;
  if (key == "bandwidth_after") return &m.bandwidth.after;
  if (key == "clock_hz_before") return &m.clock_hz_before;
  if (key == "clock_hz_after") return &m.clock_hz_after;
  return nullptr;
}

// Keys of the outermost object, and of the objects in it; what lies deeper is passed over.
class Figures {
 public:
  explicit Figures(Measurement& out) : out_(out) {}
  bool is_whole() const { return has_status_ && has_median_; }

  using Value = Json;
  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(Value::number_integer_t value) { return number(as_double(value)); }
  bool number_unsigned(Value::number_unsigned_t value) { return number(as_double(value)); }
  bool number_float(Value::number_float_t value, const std::string&) { return number(value); }
  bool binary(Value::binary_t&) { return true; }
  bool string(std::string& value) {
    if (depth_ > 2 || arrays_ > 0) return true;
    const std::string_view of = depth_ == 2 ? std::string_view(outer_) : std::string_view();
    if (depth_ == 1 && key_ == "status") {
      const auto status = parse_status(value);
      if (!status) throw std::invalid_argument("unknown status");
      out_.status = *status;
      has_status_ = true;
    } else if (std::string* field = text_field(out_, of, key_)) {
      *field = std::move(value);
    }
    return true;
  }
  bool key(std::string& value) {
    if (depth_ <= 2) key_.swap(value);
    return true;
  }
  bool start_object(std::size_t) {
    if (++depth_ == 2) outer_ = key_;
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    ++arrays_;
    return true;
  }
  bool end_array() {
    --arrays_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    throw std::invalid_argument(error.what());
  }

 private:
  bool number(double value) {
    if (depth_ != 1 || arrays_ > 0) return true;
    if (key_ == "duration_ns_median") {
      out_.duration_ns_median = value;
      has_median_ = true;
    } else if (key_ == "round") {
      out_.round = static_cast<int>(value);
    } else if (std::optional<double>* field = state_field(out_, key_)) {
      *field = value;
    }
    return true;
  }

  Measurement& out_;
  std::string outer_, key_;
  int depth_ = 0, arrays_ = 0;
  bool has_status_ = false, has_median_ = false;
};

}  // namespace

Measurement figures_from(std::string_view body) {
  Measurement out;
  Figures figures(out);
  Json::sax_parse(body, &figures);
  if (!figures.is_whole()) throw std::invalid_argument("it has no status or no time");
  return out;
}

}  // namespace halmark::journal
