// The linker calls this where main() was meant (--wrap).
#include <gtest/gtest.h>

extern "C" int __wrap_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
