# One function per kind of target, so that warnings and sanitizers are written once.

function(halmark_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wconversion>
    # GCC warns about designated initialisers that leave the rest to their defaults, which is their point.
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>
    # GCC 12 sees overlapping copies in operator+ of std::string (GCC bug 105651).
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    # A source needs less than 1 GB; collecting garbage before that is a sixth of its time.
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>
    $<$<AND:$<BOOL:${HALMARK_WERROR}>,$<COMPILE_LANGUAGE:C,CXX>>:-Werror>)
  if(HALMARK_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HALMARK_SANITIZE} -fno-omit-frame-pointer)
    if(NOT HALMARK_SANITIZE STREQUAL "thread")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=all)
    endif()
    target_link_options(${target} PRIVATE -fsanitize=${HALMARK_SANITIZE})
  endif()
endfunction()

# halmark_add_room(<name> [LIGHT] [TOGETHER] SOURCES ... [LINK public...] [LINK_PRIVATE private...])
# LIGHT: nobody waits for what it computes (halmark_optimise_lightly). TOGETHER: sources are compiled by
# eights, in half the time (halmark_compile_together). A room is one static library halmark_<name>, alias Halmark::<name>. Headers are included by their
# path from framework/ or from the root: "core/dtype.hpp", "kernels/contract.hpp".
function(halmark_add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LIGHT;TOGETHER" "" "SOURCES;LINK;LINK_PRIVATE")
  add_library(halmark_${name} STATIC ${arg_SOURCES})
  add_library(Halmark::${name} ALIAS halmark_${name})
  target_include_directories(halmark_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:include/halmark>)
  target_link_libraries(halmark_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_LINK_PRIVATE})
  halmark_compile_options(halmark_${name})
  set(precompiled rooms)
  if(arg_LIGHT)
    halmark_optimise_lightly(halmark_${name})
    set(precompiled light_rooms)
  endif()
  halmark_use_precompiled(halmark_${name} ${precompiled}
                          ${PROJECT_SOURCE_DIR}/framework/precompiled.hpp)
  if(arg_TOGETHER)
    halmark_compile_together(halmark_${name} ${arg_SOURCES})
  endif()
endfunction()

# halmark_add_program(<name> SOURCES ... [LINK ...])
function(halmark_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR})
  halmark_compile_options(${name})
  if(HALMARK_SANITIZE)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/framework/cmake/sanitizer_options.cpp)
  endif()
endfunction()

# Headers are read once for eight sources, so that nothing of an anonymous namespace may have the name
# of another file's. Not where each file is one instance of the same (a family, a chart, a sampler, an engine), not in
# the preset dev, and not with -DCMAKE_UNITY_BUILD=OFF (scripts/mutate: one changed source is compiled alone).
function(halmark_compile_together target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS OR (DEFINED CMAKE_UNITY_BUILD AND NOT CMAKE_UNITY_BUILD))
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  set(instances ${ARGN})
  list(FILTER instances INCLUDE REGEX "^(families|charts|samplers|engine)/")
  set_source_files_properties(${instances} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# For what parses or prints: nobody waits for it, but everybody for its compiler, which takes two thirds of the time
# for -Os that it takes for -O1. With -Og, two thirds of that again, plans are priced a fifth slower.
function(halmark_optimise_lightly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()

# For what tests: twice the code, which nobody installs.
function(halmark_optimise_for_tests target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# GCC 12 takes members of what is only built on one path, unused alternatives of std::variant among them, for uninitialised
# where several sources inline it; none of them was.
function(halmark_silence_uninitialized target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-maybe-uninitialized>)
endfunction()

# Rooms, test programs and the commands each share a set of large, never changing headers, compiled
# once by the target halmark_precompiled_<set>. The preset dev compiles without them, so that every
# source still names what it uses.
function(halmark_use_precompiled target set header)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  if(NOT TARGET halmark_precompiled_${set})
    # Of the same kind as its users: position-independent code differs between program and library.
    set(source ${PROJECT_SOURCE_DIR}/framework/cmake/precompiled_main.cpp)
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "EXECUTABLE")
      halmark_add_program(halmark_precompiled_${set} SOURCES ${source} LINK ${ARGN})
    else()
      add_library(halmark_precompiled_${set} STATIC ${source})
      halmark_compile_options(halmark_precompiled_${set})
    endif()
    # GCC ignores those that were optimised otherwise than their user.
    if(set STREQUAL "tests")
      halmark_optimise_for_tests(halmark_precompiled_${set})
    elseif(NOT set STREQUAL "rooms")
      halmark_optimise_lightly(halmark_precompiled_${set})
    endif()
    target_precompile_headers(halmark_precompiled_${set} PRIVATE ${header})
  endif()
  target_precompile_headers(${target} REUSE_FROM halmark_precompiled_${set})
endfunction()

# What measures, or starts what does: one such test at a time, beside those that measure nothing. They come first, because
# they are the longest chain.
set(halmark_measuring RESOURCE_LOCK measuring COST 100)

# Test programs hold most of the tree each: mold, where it is installed, links one in a fifth of the time.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold HALMARK_HAS_MOLD)

# halmark_add_test(<name> [ALONE|BESIDE] SOURCES ... [APART ...] [LINK ...] [LABELS ...] [DEPENDS targets...])
# One GoogleTest program test_<name>; GTEST_SKIP shows as skipped in ctest. Unit tests may run beside
# each other; what has other labels measures, but where BESIDE says that nothing asserted follows
# from how long something took. ALONE: what a busy neighbour
# would make fail, and not only slower.
# APART: sources that are not compiled together with others, since a helper of theirs has another's name.
function(halmark_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE;BESIDE" "TIMEOUT" "SOURCES;APART;LINK;LABELS;DEPENDS")
  halmark_add_program(test_${name} SOURCES ${arg_SOURCES} ${arg_APART} LINK ${arg_LINK} GTest::gtest_main
                      GTest::gmock)
  target_link_options(test_${name} PRIVATE $<$<BOOL:${HALMARK_HAS_MOLD}>:-fuse-ld=mold>)
  halmark_compile_together(test_${name} "")
  # Sources of the program itself stay as the program has them.
  set(apart ${arg_SOURCES})
  list(FILTER apart INCLUDE REGEX "^/")
  set_source_files_properties(${apart} ${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  halmark_silence_uninitialized(test_${name})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                        ${PROJECT_BINARY_DIR}/tests)
  halmark_optimise_for_tests(test_${name})
  if(NOT "${arg_SOURCES};${arg_APART}" MATCHES "[.]c(;|$)")  # one set serves one language
    halmark_use_precompiled(test_${name} tests ${PROJECT_SOURCE_DIR}/tests/precompiled.hpp
                            GTest::gmock nlohmann_json::nlohmann_json)
  endif()
  target_compile_definitions(test_${name} PRIVATE
    HALMARK_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HALMARK_BINARY_DIR="${PROJECT_BINARY_DIR}"
    HALMARK_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data")
  if(arg_DEPENDS)
    add_dependencies(test_${name} ${arg_DEPENDS})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(company)
  if(arg_ALONE)
    set(company RUN_SERIAL ON)
  elseif(arg_BESIDE)
    set(company COST 50)  # longer than unit tests
  elseif(arg_LABELS)
    set(company ${halmark_measuring})
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  # Values as GoogleTest prints them hold addresses and bytes of objects; a name must be stable.
  gtest_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." NO_PRETTY_VALUES
                       PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                       ${company})
endfunction()
