# halmark_add_plugin(<name> sources...): one shared library that exports exactly hm_abi_version and
# hm_plugin_entry. Also used by projects outside this tree through find_package(halmark).
include(GNUInstallDirs)

function(halmark_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  if(HALMARK_PLUGIN_OUTPUT_DIRECTORY)
    set_target_properties(${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${HALMARK_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  target_link_libraries(${name} PRIVATE Halmark::abi)
  # Unresolved symbols fail at link time, not in a user's worker; ASan needs them open.
  if(NOT HALMARK_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  if(HALMARK_PLUGINS_TARGET)  # set where backends are, not where tests make plugins
    add_dependencies(${HALMARK_PLUGINS_TARGET} ${name})
  endif()
  if(COMMAND halmark_compile_options)
    halmark_compile_options(${name})
  endif()
endfunction()

# halmark_test_plugin(<name>): a test that runs the conformance suite on it; skipped where the plugin
# has no device. For projects outside this tree, whose suite comes with the installed halmark.
function(halmark_test_plugin name)
  find_program(HALMARK_CONFORMANCE halmark-conformance HINTS ${HALMARK_BINARY_FOLDER})
  if(NOT HALMARK_CONFORMANCE)
    message(WARNING "${name} is not tested: halmark-conformance is absent. In halmark's tree: apt-get install "
                    "libgtest-dev libgmock-dev; cmake --preset release; cmake --build build/release --target "
                    "test_conformance; then cmake --install again")
    return()
  endif()
  add_test(NAME conformance.${name}
           COMMAND ${HALMARK_CONFORMANCE} --plugin $<TARGET_FILE:${name}>)
  set_tests_properties(conformance.${name} PROPERTIES SKIP_RETURN_CODE 5 TIMEOUT 1800)
endfunction()

# halmark_install_plugin(<name>): into the folder that halmark searches. In this tree, a backend that
# was not built is not installed.
function(halmark_install_plugin name)
  set(optional "")
  if(HALMARK_PLUGINS_TARGET)
    set(optional OPTIONAL)
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/halmark/plugins ${optional})
endfunction()
