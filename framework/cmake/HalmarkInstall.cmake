# What `cmake --install` puts where. Programs and plugins install themselves; here is the rest: the
# contract for plugin authors, the CMake package `halmark`, the template of a plugin, and the configs
# that halmark looks up.
# Headers go to include/halmark whatever CMAKE_INSTALL_INCLUDEDIR says: the targets name that folder.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(FILES
  framework/abi/halmark_plugin.h framework/abi/halmark_plugin.hpp
  framework/abi/halmark_plugin_values.hpp framework/abi/halmark_plugin_seam.hpp
  framework/abi/halmark_plugin.map
  DESTINATION include/halmark)
install(DIRECTORY configs DESTINATION share/halmark)
# What `halmark new-plugin` copies.
install(DIRECTORY framework/abi/plugin_template DESTINATION share/halmark)

# The search library and the values it exchanges; the program is built of them, so they are there.
install(DIRECTORY search DESTINATION include/halmark FILES_MATCHING PATTERN "*.hpp"
        PATTERN python EXCLUDE)
install(DIRECTORY framework/core framework/expression ${PROJECT_BINARY_DIR}/framework/core/generated/core
        DESTINATION include/halmark FILES_MATCHING PATTERN "*.hpp" PATTERN "CMakeFiles" EXCLUDE)
set(search_targets halmark_search halmark_expression halmark_core)
foreach(target IN LISTS search_targets)
  string(REPLACE halmark_ "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${search_targets} EXPORT halmarkSearchTargets ARCHIVE
        DESTINATION ${CMAKE_INSTALL_LIBDIR})
# What a static library needs of its own when it is linked, found again in the same way.
set(HALMARK_SEARCH_PACKAGES xxhash=libxxhash nlopt=nlopt)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/halmark)
install(TARGETS halmark_abi EXPORT halmarkTargets)
foreach(set halmarkTargets halmarkSearchTargets)
  install(EXPORT ${set} NAMESPACE Halmark:: DESTINATION ${package_folder})
endforeach()
configure_package_config_file(framework/cmake/halmarkConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/halmarkConfig.cmake
                              INSTALL_DESTINATION ${package_folder}
                              PATH_VARS CMAKE_INSTALL_BINDIR)
# For plugins the package is headers only; what one was built against is judged by its ABI version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halmarkConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES
  ${PROJECT_BINARY_DIR}/halmarkConfig.cmake ${PROJECT_BINARY_DIR}/halmarkConfigVersion.cmake
  framework/cmake/HalmarkPlugin.cmake
  DESTINATION ${package_folder})

# Pages where the README's links expect them, and the Python package for pip, which reads its version there.
install(FILES CHANGELOG.md HACKING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)  # as Debian looks for it
file(GLOB_RECURSE pages RELATIVE ${PROJECT_SOURCE_DIR} results/*.md framework/*.md kernels/*.md
     plugins/*.md search/*.md)
foreach(page IN ITEMS README.md LISTS pages)
  get_filename_component(folder ${page} DIRECTORY)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
install(DIRECTORY search/python DESTINATION share/halmark PATTERN "__pycache__" EXCLUDE)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/python/version CONTENT "@PROJECT_VERSION@\n" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/python/version DESTINATION share/halmark/python)

# Man pages and completions come from the help of the program that was built.
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE [[
    get_filename_component(prefix "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
    set(share "$ENV{DESTDIR}${prefix}/share")
    set(program "$<TARGET_FILE:halmark>")
    file(MAKE_DIRECTORY "${share}/man/man1")
    execute_process(COMMAND "${program}" man "${share}/man/man1" OUTPUT_QUIET
                    COMMAND_ERROR_IS_FATAL ANY)
    if(prefix STREQUAL "/usr")  # as distributions have them
      file(GLOB pages "${share}/man/man1/halmark*.1")
      execute_process(COMMAND gzip -9nf ${pages} OUTPUT_QUIET ERROR_QUIET)
    endif()
    set(zsh zsh/site-functions)
    if(prefix STREQUAL "/usr" AND EXISTS /etc/debian_version)
      set(zsh zsh/vendor-completions)  # where Debian's own packages have them
    endif()
    foreach(place "bash;bash-completion/completions/halmark" "zsh;${zsh}/_halmark"
                  "fish;fish/vendor_completions.d/halmark.fish")
      list(GET place 0 shell)
      list(GET place 1 path)
      execute_process(COMMAND "${program}" completion ${shell} OUTPUT_VARIABLE script
                      COMMAND_ERROR_IS_FATAL ANY)
      file(WRITE "${share}/${path}" "${script}")
    endforeach()
  ]])
endif()

# `cpack -G DEB` in the build folder (scripts/make-packages deb). Debian's tool finds the libraries that it depends on; they
# differ between releases, so the package names the one that it was built on. What was built is packaged; nothing is built for it.
cmake_host_system_information(RESULT distribution QUERY DISTRIB_INFO)
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~${distribution_ID}${distribution_VERSION_ID}")
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_PACKAGE_NAME halmark)
set(CPACK_PACKAGE_VENDOR "Halmark maintainers")
set(CPACK_PACKAGE_CONTACT "Halmark maintainers <maintainers@halmark.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Measures, models and searches AI compute")
set(CPACK_PACKAGE_DESCRIPTION "Kernels of plugins are measured in processes of their own, models are
priced from FLOPs, bytes and measured times, and deployments are searched for their Pareto fronts.
A simulator shows steps, training and serving event by event.")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)  # collectives between shards
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_STRIP_FILES ON)
include(CPack)
