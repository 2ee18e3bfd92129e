// Numbers for people, the same in every locale. A figure that is absent or not finite is "-".
#pragma once

#include <concepts>
#include <optional>
#include <string>

namespace halmark::report {

inline constexpr const char* absent_text = "-";

std::string fixed_text(double value, int decimals);              // "12.30"
std::string significant_text(double value, int digits = 3);      // "12.3", "0.0123", "1234"
std::string exact_text(double value);                            // shortest that reads back equal
std::string duration_text(double ns);                            // "1.23 ms"
std::string duration_range_text(double low_ns, double high_ns);  // "1.20..1.31 ms"
std::string flops_text(double flops_per_s);                      // "1.23 TFLOP/s"
std::string bandwidth_text(double bytes_per_s);                  // "23.4 GB/s"
std::string rate_text(double per_s, const std::string& unit);    // "1.23 TOP/s" of "OP/s"
std::string bytes_text(double bytes);                            // "1.20 GiB"
std::string bytes_text(std::integral auto bytes) { return bytes_text(static_cast<double>(bytes)); }
std::string percent_text(std::optional<double> fraction);          // "41.9 %", "3.14 %"
std::string probability_text(double probability);                  // "99.9 %" below certainty
std::string rounded_percent_text(std::optional<double> fraction);  // "41.9 %", "3.1 %"
std::string signed_percent_text(std::optional<double> fraction);   // "+3.1 %"
std::string duration_tick_text(double ns);                         // axis ticks: "20 ms"
std::string compact_text(double value);                            // axis ticks: "200", "20k", "5M"

}  // namespace halmark::report
