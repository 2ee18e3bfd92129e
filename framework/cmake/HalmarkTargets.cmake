# One function per kind of target, so that warnings and sanitizers are written once.
include(GNUInstallDirs)

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

# halmark_add_room(<name> [LIGHT] [APART regex] SOURCES ... [LINK public...] [LINK_PRIVATE private...])
# LIGHT: off the hot path (halmark_optimise_lightly). Sources are compiled in batches (halmark_together).
# A room is one static library halmark_<name>, alias Halmark::<name>. Headers are included by their
# path from framework/ or from the root: "core/dtype.hpp", "kernels/contract.hpp".
function(halmark_add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LIGHT" "APART" "SOURCES;LINK;LINK_PRIVATE")
  halmark_together(sources ${name} APART "${arg_APART}" SOURCES ${arg_SOURCES})
  add_library(halmark_${name} STATIC ${sources})
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
  halmark_use_precompiled(halmark_${name} ${precompiled} framework/precompiled.hpp)
endfunction()

# halmark_add_module(<user> <name> SOURCES ... [LINK ...]): halmark_<name>.so, which the target <user> opens when it needs it
# (core/module.hpp), with the libraries that it brings. One that was not built, since its user was not, is not installed.
function(halmark_add_module user name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK")
  add_library(halmark_module_${name} MODULE ${arg_SOURCES})
  set_target_properties(halmark_module_${name} PROPERTIES PREFIX "" OUTPUT_NAME halmark_${name}
    LIBRARY_OUTPUT_DIRECTORY ${HALMARK_MODULE_OUTPUT_DIRECTORY} CXX_VISIBILITY_PRESET hidden)
  target_include_directories(halmark_module_${name} PRIVATE ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR})
  target_link_libraries(halmark_module_${name} PRIVATE ${arg_LINK})
  halmark_compile_options(halmark_module_${name})
  add_dependencies(${user} halmark_module_${name})
  install(TARGETS halmark_module_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/halmark/modules OPTIONAL)
endfunction()

# halmark_add_program(<name> SOURCES ... [LINK ...]). Its path to modules, and to the libraries that scripts/make-packages puts
# beside them, is of the old kind (DT_RPATH), which holds for what a plugin opens and for libraries of libraries too.
function(halmark_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "$ORIGIN/../lib/halmark/modules:$ORIGIN/../lib/halmark/libraries"
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/halmark/modules:$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/halmark/libraries")
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/framework ${PROJECT_SOURCE_DIR})
  halmark_compile_options(${name})
  if(HALMARK_SANITIZE)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/framework/cmake/sanitizer_options.cpp)
  endif()
endfunction()

# For what parses or prints: its compile time matters more than its run time. -Os takes two thirds of the time that
# -O1 takes. With -Og, three quarters of that again (and no more than with -O0, whose code is larger and runs
# three times as long), plans are priced a fifth slower: for a build that only serves its tests, preset check.
function(halmark_optimise_lightly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${HALMARK_CHECK}>,-Og,-Os>>)
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
    target_include_directories(halmark_precompiled_${set} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/framework)
    target_precompile_headers(halmark_precompiled_${set} PRIVATE <${header}>)
  endif()
  target_precompile_headers(${target} REUSE_FROM halmark_precompiled_${set})
endfunction()

# Test programs hold most of the tree each: mold, where it is installed, links one in a fifth of the time.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold HALMARK_HAS_MOLD)

# halmark_test_entry(<name> [LIMIT <seconds>] [LABELS ...] [COST <number>] [MEASURING [BESIDE_ONE]] RUN arguments of
# tests/run_cases.py): one entry of ctest. LIMIT is what one case may take, 300 s unless stated. MEASURING: what busy neighbours
# would make fail. It runs while nothing else does, or beside one entry that does not measure, and what fails is tried again,
# case by case, twice at most.
find_program(HALMARK_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)  # the system's, before a wrapper in PATH
find_program(HALMARK_PYTHON NAMES python3)
function(halmark_test_entry name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MEASURING;BESIDE_ONE" "LIMIT;COST" "LABELS;RUN")
  if(NOT arg_LIMIT)
    set(arg_LIMIT 300)
  endif()
  set(tries "")
  if(arg_MEASURING)
    set(tries --tries 3)
    list(APPEND arg_LABELS measuring)
  endif()
  add_test(NAME ${name} COMMAND_EXPAND_LISTS
    COMMAND ${HALMARK_PYTHON} -B ${PROJECT_SOURCE_DIR}/tests/run_cases.py --name ${name}
            --results ${PROJECT_BINARY_DIR}/tests/results --limit ${arg_LIMIT} ${tries} ${arg_RUN})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 7200 SKIP_RETURN_CODE 77)
  if(arg_BESIDE_ONE)
    # First of all, of the processors + 2 places that scripts/test gives on two processors.
    set_tests_properties(${name} PROPERTIES COST 1000 PROCESSORS 3 RESOURCE_LOCK measuring)
  elseif(arg_MEASURING)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  elseif(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()

# halmark_add_test(<name> [LIMIT <seconds>] [COST <number>] SOURCES ... [APART ...] [LINK ...] [LABELS ...] [DEPENDS targets...])
# One GoogleTest program test_<name>, one entry of ctest: all its cases but those of its parts. Entries run beside each other,
# those of the highest COST first. APART: sources that are not compiled together with others, since a helper of theirs
# has another's name.
function(halmark_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIMIT;COST" "SOURCES;APART;LINK;LABELS;DEPENDS")
  halmark_together(sources test_${name} SOURCES ${arg_SOURCES})
  halmark_add_program(test_${name} SOURCES ${sources} ${arg_APART} LINK ${arg_LINK} halmark_checkout GTest::gtest_main
                      GTest::gmock)
  target_link_options(test_${name} PRIVATE $<$<BOOL:${HALMARK_HAS_MOLD}>:-fuse-ld=mold>)
  halmark_silence_uninitialized(test_${name})
  set_target_properties(test_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                        ${PROJECT_BINARY_DIR}/tests)
  halmark_optimise_for_tests(test_${name})
  if(NOT "${arg_SOURCES};${arg_APART}" MATCHES "[.]c(;|$)")  # one set serves one language
    halmark_use_precompiled(test_${name} tests tests/precompiled.hpp GTest::gmock nlohmann_json::nlohmann_json)
  endif()
  if(arg_DEPENDS)
    add_dependencies(test_${name} ${arg_DEPENDS})
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  # The list of its parts' cases is whole only when all folders were read.
  set_target_properties(test_${name} PROPERTIES HALMARK_CASES_OF_PARTS "" HALMARK_LIMIT "${arg_LIMIT}")
  set(parts $<TARGET_PROPERTY:test_${name},HALMARK_CASES_OF_PARTS>)
  halmark_test_entry(${name} LIMIT ${arg_LIMIT} COST ${arg_COST} LABELS ${arg_LABELS}
    RUN "$<$<BOOL:${parts}>:--leave=$<JOIN:${parts},:>>" -- $<TARGET_FILE:test_${name}>)
endfunction()

# halmark_add_part(<program> <part> [MEASURING [BESIDE_ONE]] [COST <number>] [LABELS ...] CASES patterns...): some cases of a program, as an
# entry <program>.<part> of their own: what takes long, so that the rest runs beside it, or what measures. A case of a
# part that measures or runs at night is of no other.
function(halmark_add_part program part)
  cmake_parse_arguments(PARSE_ARGV 2 arg "MEASURING;BESIDE_ONE" "COST" "LABELS;CASES")
  set_property(TARGET test_${program} APPEND PROPERTY HALMARK_CASES_OF_PARTS ${arg_CASES})
  get_target_property(limit test_${program} HALMARK_LIMIT)
  set(of_others $<TARGET_PROPERTY:test_${program},HALMARK_CASES_OF_NO_OTHER>)
  set(leave "$<$<BOOL:${of_others}>:--leave=$<JOIN:${of_others},:>>")
  set(kind "")
  if(arg_MEASURING)
    set(kind MEASURING)
    if(arg_BESIDE_ONE)
      list(APPEND kind BESIDE_ONE)
    endif()
  endif()
  if(arg_MEASURING OR "nightly" IN_LIST arg_LABELS)
    set_property(TARGET test_${program} APPEND PROPERTY HALMARK_CASES_OF_NO_OTHER ${arg_CASES})
    set(leave "")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  list(JOIN arg_CASES ":" cases)
  halmark_test_entry(${program}.${part} ${kind} LIMIT ${limit} COST ${arg_COST} LABELS ${arg_LABELS}
    RUN --only=${cases} ${leave} -- $<TARGET_FILE:test_${program}>)
endfunction()
