// What a judged C or C++ kernel is linked with, as files to write beside it: a bare machine needs
// a compiler and nothing of Halmark's sources.
#pragma once

#include <string_view>

namespace halmark::judge {

std::string_view host_object();  // of host_plugin.cpp
std::string_view symbol_map();   // the linker's: what a plugin exports

}  // namespace halmark::judge
