// Whether what the address sanitizer notes of pages is part of the memory of this process.
#pragma once

namespace halmark::test {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool has_shadow_memory = true;
#else
inline constexpr bool has_shadow_memory = false;
#endif

}  // namespace halmark::test
