// A group of the CUDA backend without NCCL: one rank needs none, several are refused with the
// reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/cuda/nccl.hpp"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Nccl, a_missing_library_is_named) {
  const hm_cuda::Nccl absent("libnccl-that-is-not-there.so.2");
  EXPECT_THAT(absent.absence(), HasSubstr("libnccl-that-is-not-there.so.2"));
  EXPECT_THAT(absent.version(), IsEmpty());
}

TEST(Nccl, a_library_without_its_functions_is_absent_too) {
  const hm_cuda::Nccl other("libm.so.6");
  EXPECT_THAT(other.absence(), HasSubstr("ncclGetVersion"));
}

TEST(Nccl, one_rank_needs_no_library) {
  const hm_cuda::Nccl absent("libnccl-that-is-not-there.so.2");
  const hm_cuda::Comm alone(absent, 0, "", 0, 1);
  EXPECT_EQ(alone.size(), 1);
  EXPECT_THAT(alone.absence(), IsEmpty());
}

TEST(Nccl, several_ranks_without_it_say_what_they_lack) {
  const hm_cuda::Nccl absent("libnccl-that-is-not-there.so.2");
  const hm_cuda::Comm second(absent, 0, "", 1, 2);
  EXPECT_EQ(second.rank(), 1);
  EXPECT_THAT(second.absence(), HasSubstr("need NCCL: libnccl-that-is-not-there.so.2"));
}

}  // namespace
