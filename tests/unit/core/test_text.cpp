#include "core/text/text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "core/numeric/clock.hpp"

namespace halmark {
namespace {

TEST(NumberText, is_the_shortest_that_reads_back) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(3), "3");
  EXPECT_EQ(number_text(-1e300), "-1e+300");
  for (const double value : {1.0 / 3, 5e-324, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(std::strtod(number_text(value).c_str(), nullptr), value);
  }
}

TEST(NumberText, of_four_digits_rounds_and_drops_trailing_zeros) {
  EXPECT_EQ(number_text(0.0123456, 4), "0.01235");
  EXPECT_EQ(number_text(1.5, 4), "1.5");
  EXPECT_EQ(number_text(123456, 4), "1.235e+05");
}

TEST(LowerCase, changes_letters_of_ascii_alone) {
  EXPECT_EQ(lower_case("Content-TYPE 9_\xC3\x84"), "content-type 9_\xC3\x84");
}

TEST(SecondsSince, is_the_age_of_a_moment) {
  const auto minute_ago = SteadyClock::now() - std::chrono::minutes(1);
  EXPECT_GE(seconds_since(minute_ago), 60);
  EXPECT_LT(seconds_since(minute_ago), 120);
  EXPECT_LE(seconds_since(SteadyClock::now() + std::chrono::hours(1)), 0);
}

TEST(IsDate, is_of_ten_characters_with_digits_and_two_dashes) {
  EXPECT_TRUE(is_date("2026-11-22"));
  EXPECT_TRUE(is_date("0000-99-99")) << "the form alone";
  for (const char* bad : {"", "2026-11-2", "2026-11-222", "2026/11-22", "2026-11 22", "202a-11-22",
                          "2026-1:-22", "2026-11-2/"}) {
    EXPECT_FALSE(is_date(bad)) << bad;
  }
}

TEST(LowerCase, changes_the_first_and_the_last_letter_and_not_their_neighbours) {
  EXPECT_EQ(lower_case("@AZ[`az{"), "@az[`az{");
}

}  // namespace
}  // namespace halmark
