// Modules: parts of Halmark with libraries of their own, opened when they are first needed, so that
// whatever does not need them starts without them.
#pragma once

#include <string>

namespace halmark {

// Opens halmark_<module>.so of this installation once and for all. Throws Error (exit 5) where it
// or one of its libraries is absent.
void* module_symbol(const std::string& module, const char* symbol);

template <class Function>
Function* module_function(const std::string& module, const char* symbol) {
  return reinterpret_cast<Function*>(module_symbol(module, symbol));
}

}  // namespace halmark
