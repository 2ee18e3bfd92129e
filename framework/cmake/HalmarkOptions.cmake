# Options and global output layout. Tests and warnings-as-errors are for the top-level project only.
option(HALMARK_BUILD_TESTS "Build the test suite" ${PROJECT_IS_TOP_LEVEL})
option(HALMARK_CHECK "Build for the test suite: LIGHT rooms (parsing, printing) with -Og" OFF)
option(HALMARK_WERROR "Treat warnings as errors" OFF)
set(HALMARK_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")
option(HALMARK_FUZZ "Build the fuzzers of file readers (Clang)" OFF)
if(HALMARK_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "HALMARK_FUZZ needs Clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  set(HALMARK_SANITIZE "address,undefined,fuzzer-no-link")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# The same layout in the build tree and when installed: bin/, lib/halmark/plugins/, share/halmark/.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(HALMARK_PLUGIN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/halmark/plugins)
set(HALMARK_MODULE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/halmark/modules)
foreach(data configs framework/abi/plugin_template tests/conformance/offers)
  get_filename_component(name ${data} NAME)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/halmark)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${data} ${PROJECT_BINARY_DIR}/share/halmark/${name} SYMBOLIC)
endforeach()

# ccache, where it is installed, finds what another clone of this tree compiled: paths below the tree count as relative, and
# a precompiled header counts by its content.
find_program(HALMARK_CCACHE ccache)
mark_as_advanced(HALMARK_CCACHE)
if(HALMARK_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${HALMARK_CCACHE})
  foreach(language C CXX CUDA)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher})
  endforeach()
elseif(PROJECT_IS_TOP_LEVEL)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)  # as ccache makes them
endif()

execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                OUTPUT_VARIABLE HALMARK_BUILD_ID OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT HALMARK_BUILD_ID)
  set(HALMARK_BUILD_ID "unknown")
endif()
