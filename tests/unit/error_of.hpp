// The Error that a call ends with; a call that ends without one fails the test.
#pragma once

#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace halmark::test {

template <class Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {ExitCode::ok, "no Error was thrown"};
}

}  // namespace halmark::test
