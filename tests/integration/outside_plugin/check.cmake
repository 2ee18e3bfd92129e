# cmake -DBUILD=<build tree> -DSOURCE=<this folder> -DSCRATCH=<folder> -DNM=<nm> -P check.cmake
# Installs the build, builds the outside project against the installed package alone, and asks the
# installed program for the devices of its plugins.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
set(prefix ${SCRATCH}/prefix)
set(outside ${SCRATCH}/outside)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nends with ${result}:\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(file bin/halmark bin/halmark-worker include/halmark/halmark_plugin.h
             share/halmark/configs/models/qwen3-0.6b.json share/halmark/configs/sweeps/quickstart.toml)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

# Copied away first: a path into the source tree would then not be found.
file(COPY ${SOURCE}/project/CMakeLists.txt ${SOURCE}/project/outside.cpp ${SOURCE}/../../abi/c_plugin.c
     DESTINATION ${SCRATCH}/source)
run(${CMAKE_COMMAND} -S ${SCRATCH}/source -B ${outside} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_BUILD_TYPE=Release -DOUTSIDE_C_PLUGIN=${SCRATCH}/source/c_plugin.c)
run(${CMAKE_COMMAND} --build ${outside})

foreach(plugin hm_outside hm_c)
  execute_process(COMMAND ${NM} -D --defined-only ${outside}/${plugin}.so
                  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^ \n]+\n" symbols "${output}")
  string(REPLACE "\n" "" symbols "${symbols}")
  list(SORT symbols)
  if(NOT symbols STREQUAL "hm_abi_version;hm_plugin_entry")
    message(FATAL_ERROR "${plugin}.so exports ${symbols}")
  endif()
endforeach()

# The build tree's own folders must not help.
set(home ${SCRATCH}/home)
file(MAKE_DIRECTORY ${home})
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env HALMARK_PLUGIN_PATH=${outside} HOME=${home} XDG_STATE_HOME=${home}
          XDG_CACHE_HOME=${home} ${prefix}/bin/halmark devices --json
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
message(STATUS "installed, built outside, loaded: ${seen}")
