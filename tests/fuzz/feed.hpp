// What a reader of foreign files must survive: any bytes. Each function returns where the input was
// read or refused with one line; anything else that leaves it is a defect.
#pragma once

#include <string_view>

namespace halmark::fuzz {

void feed_model_config(std::string_view text);  // config.json, and the graphs of what it describes
void feed_kernel_table(std::string_view text);  // both formats, bound to a small model
void feed_device(std::string_view text);        // a device file, its lint, and its text again
void feed_fabric(std::string_view text);        // a fabric file; of a small one all its figures
void feed_parquet(std::string_view bytes);      // footer, pages and every cell
void feed_trace(std::string_view text);  // a profiler's trace, plain or gzip, against a small model

}  // namespace halmark::fuzz
