// Where the other programs of this installation are.
#pragma once

#include <string>

namespace halmark {

// The path of a program of this installation that lies beside the running one.
std::string program_beside(const std::string& name);

}  // namespace halmark
