# Every library is found here once; the room that owns it links it. Optional ones drop their part
# with one line in the summary, never an error.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # Boost's own configuration
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(benchmark REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
find_package(tomlplusplus QUIET)
if(NOT tomlplusplus_FOUND)
  pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
  add_library(tomlplusplus::tomlplusplus ALIAS PkgConfig::tomlplusplus)
endif()
# Not find_package(dnnl): Debian's dnnl-config.cmake requires OpenCL headers that the CPU engine does
# not need, and fails the whole configure without them.
find_path(HALMARK_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(HALMARK_DNNL_LIBRARY dnnl)
mark_as_advanced(HALMARK_DNNL_INCLUDE_DIR HALMARK_DNNL_LIBRARY)
if(HALMARK_DNNL_INCLUDE_DIR AND HALMARK_DNNL_LIBRARY)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${HALMARK_DNNL_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${HALMARK_DNNL_INCLUDE_DIR})
endif()
find_package(OpenMP QUIET COMPONENTS CXX)
find_package(MPI QUIET COMPONENTS C)
pkg_check_modules(pqxx QUIET IMPORTED_TARGET libpqxx)
if(NOT pqxx_FOUND)
  set_property(GLOBAL APPEND PROPERTY HALMARK_PLUGINS_ABSENT
               "databases and studies in PostgreSQL: libpqxx not found (apt-get install libpqxx-dev, and build again)")
endif()
pkg_check_modules(nlopt QUIET IMPORTED_TARGET nlopt)
pkg_check_modules(cbc QUIET IMPORTED_TARGET cbc)
if(NOT nlopt_FOUND)
  set_property(GLOBAL APPEND PROPERTY HALMARK_PLUGINS_ABSENT
               "sampler nlopt: NLopt not found (apt-get install libnlopt-dev, and build again)")
endif()
if(NOT cbc_FOUND)
  set_property(GLOBAL APPEND PROPERTY HALMARK_PLUGINS_ABSENT
               "large integer programs: Cbc not found (apt-get install coinor-libcbc-dev, and build again)")
endif()
# Reading torch-profiler traces.
# Its configuration calls 3.12 incompatible with 3.0, so the version is asked for afterwards.
find_package(simdjson QUIET)
find_package(ZLIB QUIET)
if(TARGET simdjson::simdjson AND NOT simdjson_VERSION VERSION_LESS 3.0 AND TARGET ZLIB::ZLIB)
  set(HALMARK_HAS_TRACE ON)
else()
  set_property(GLOBAL APPEND PROPERTY HALMARK_PLUGINS_ABSENT
               "halmark trace: simdjson 3 or zlib not found (apt-get install libsimdjson-dev zlib1g-dev, and build again)")
endif()
# Codecs of Parquet tables.
pkg_check_modules(snappy QUIET IMPORTED_TARGET snappy)
pkg_check_modules(zstd QUIET IMPORTED_TARGET libzstd)
foreach(codec snappy zstd)
  if(NOT TARGET PkgConfig::${codec})
    set_property(GLOBAL APPEND PROPERTY HALMARK_PLUGINS_ABSENT
                 "Parquet with ${codec}: not found (apt-get install lib${codec}-dev, and build again)")
  endif()
endforeach()
# A machine that only runs halmark need not have what only its tests need.
if(HALMARK_BUILD_TESTS)
  find_package(GTest QUIET)
  find_package(ZLIB QUIET)
  if(TARGET GTest::gmock)
    include(GoogleTest)
  else()
    set(HALMARK_BUILD_TESTS OFF)
    set_property(GLOBAL APPEND PROPERTY HALMARK_PLUGINS_ABSENT
                 "tests: GoogleTest not found (apt-get install libgtest-dev libgmock-dev, and build again)")
  endif()
endif()
