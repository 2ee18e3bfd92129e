# What was built and what was not, with the reason: one line each.
get_property(built GLOBAL PROPERTY HALMARK_PLUGINS_BUILT)
get_property(absent GLOBAL PROPERTY HALMARK_PLUGINS_ABSENT)
message(STATUS "Halmark ${PROJECT_VERSION} (${HALMARK_BUILD_ID}), ${CMAKE_BUILD_TYPE}")
message(STATUS "  plugins: ${built}")
foreach(line IN LISTS absent)
  message(STATUS "  not built: ${line}")
endforeach()
