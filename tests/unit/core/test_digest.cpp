#include "core/text/digest.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

TEST(Digest, sha256_gives_the_published_answers) {
  // FIPS 180-2, appendix B, and the empty message.
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The buffer of xxHash's own sanity check.
std::string sanity_buffer(std::size_t length) {
  std::uint64_t generator = 2654435761U;
  std::string out;
  for (std::size_t i = 0; i < length; ++i) {
    out += static_cast<char>(generator >> 56);
    generator *= 11400714785074694797ULL;
  }
  return out;
}

TEST(Digest, xxh3_gives_the_answers_of_the_sanity_check_of_xxhash) {
  EXPECT_EQ(xxh3_of(""), 0x2D06800538D394C2ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(1)), 0xC44BDFF4074EECDBULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(6)), 0x27B56A84CD2D7325ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(12)), 0xA713DAF0DFBB77E7ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(24)), 0xA3FE70BF9D3510EBULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(48)), 0x397DA259ECBA1F11ULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(80)), 0xBCDEFBBB2C47C90AULL);
  EXPECT_EQ(xxh3_of(sanity_buffer(195)), 0xCD94217EE362EC3AULL);
}

}  // namespace
}  // namespace halmark
