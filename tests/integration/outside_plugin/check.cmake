# cmake -DBUILD=<build tree> -DSOURCE=<this folder> -DSCRATCH=<folder> -DNM=<nm> -DGENERATOR=<name> -P check.cmake
# Installs the build, and with nothing but the installed package: writes a project with `halmark
# new-plugin`, builds it and a plugin in plain C, runs the project's tests, and measures its kernels.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)
set(outside ${SCRATCH}/outside)
# The build tree's own folders must not help.
set(home ${SCRATCH}/home)
file(MAKE_DIRECTORY ${home})
set(alone ${CMAKE_COMMAND} -E env --unset=HALMARK_PLUGIN_PATH HOME=${home} XDG_STATE_HOME=${home}
    XDG_CACHE_HOME=${home})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nends with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "expected '${text}' in:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(file bin/halmark bin/halmark-guard bin/halmark-worker bin/halmark-conformance include/halmark/halmark_plugin.h
             share/halmark/configs/models/qwen3-0.6b.json share/halmark/configs/sweeps/quickstart.toml
             share/halmark/plugin_template/plugin.cpp)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

run(${alone} ${prefix}/bin/halmark new-plugin outside --out ${outside})
# This build's generator: a machine with ninja need not have make.
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${outside} -B ${outside}/build -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${outside}/build)
# Copied away first: a path into the source tree would then not be found.
file(COPY ${SOURCE}/plain_c/CMakeLists.txt ${SOURCE}/../../abi/c_plugin.c DESTINATION ${SCRATCH}/plain_c)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SCRATCH}/plain_c -B ${SCRATCH}/plain_c/build
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${SCRATCH}/plain_c/build)

foreach(plugin ${outside}/build/hm_outside.so ${SCRATCH}/plain_c/build/hm_c.so)
  execute_process(COMMAND ${NM} -D --defined-only ${plugin}
                  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^ \n]+\n" symbols "${output}")
  string(REPLACE "\n" "" symbols "${symbols}")
  list(SORT symbols)
  if(NOT symbols STREQUAL "hm_abi_version;hm_plugin_entry")
    message(FATAL_ERROR "${plugin} exports ${symbols}")
  endif()
endforeach()

run(${alone} ${CMAKE_CTEST_COMMAND} --test-dir ${outside}/build --verbose)
expect("ok +outside_0.gemm_f32_f32_f32_every_element_equals_the_reference")
expect("ok +outside_0.copy_every_element_equals_the_reference")
expect("1 tests? passed|100% tests passed, 0 tests failed out of 1")
# A suite that cannot fail says nothing: a file that is no plugin fails it.
execute_process(COMMAND ${alone} ${prefix}/bin/halmark-conformance --plugin ${outside}/plugin.cpp
                RESULT_VARIABLE result OUTPUT_VARIABLE output)
if(NOT result EQUAL 1)
  message(FATAL_ERROR "halmark-conformance of no plugin ends with ${result}:\n${output}")
endif()

execute_process(
  COMMAND ${alone} HALMARK_PLUGIN_PATH=${outside}/build:${SCRATCH}/plain_c/build
          ${prefix}/bin/halmark devices --json
  OUTPUT_VARIABLE envelope RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "halmark devices ends with ${result}:\n${envelope}")
endif()
set(seen "")
string(JSON count LENGTH "${envelope}" data devices)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON backend GET "${envelope}" data devices ${index} backend)
  string(JSON status GET "${envelope}" data devices ${index} status)
  list(APPEND seen "${backend} ${status}")
endforeach()
foreach(expected "outside ok" "c ok")
  if(NOT expected IN_LIST seen)
    message(FATAL_ERROR "expected '${expected}' among: ${seen}")
  endif()
endforeach()
message(STATUS "installed, built outside, conformant, loaded: ${seen}")
