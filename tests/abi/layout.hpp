// The layout of every struct of the contract as text, and the hash that names it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halmark::abi_test {

struct Field {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool operator==(const Field&) const = default;
};

struct Layout {
  std::string name;
  std::size_t size = 0;
  std::vector<Field> fields;
};

// Every struct of the header this is compiled with, in the header's order.
std::vector<Layout> current_layout();

// "hm_error 528" followed by "  struct_size 0 4" for each field.
std::string to_text(const std::vector<Layout>& layouts);
std::vector<Layout> parse_layout(const std::string& text);

// The header without comments and white space: signatures and numbers count, prose does not.
std::string declarations(const std::string& header);

// FNV-1a, 64 bits, as 16 hexadecimal digits.
std::string hash(const std::string& text);

std::string read_text(const std::string& path);  // throws when the file cannot be read

}  // namespace halmark::abi_test
