# What `cmake --install` puts where. Programs and plugins install themselves; here is the rest: the
# contract for plugin authors, the CMake package `halmark`, the template of a plugin, and the configs
# that halmark looks up.
# Headers go to include/halmark whatever CMAKE_INSTALL_INCLUDEDIR says: Halmark::abi names that folder.
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

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/halmark)
install(TARGETS halmark_abi EXPORT halmarkTargets)
install(EXPORT halmarkTargets NAMESPACE Halmark:: DESTINATION ${package_folder})
configure_package_config_file(framework/cmake/halmarkConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/halmarkConfig.cmake
                              INSTALL_DESTINATION ${package_folder}
                              PATH_VARS CMAKE_INSTALL_BINDIR)
# The package is headers only; what a plugin was built against is judged by its ABI version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/halmarkConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES
  ${PROJECT_BINARY_DIR}/halmarkConfig.cmake ${PROJECT_BINARY_DIR}/halmarkConfigVersion.cmake
  framework/cmake/HalmarkPlugin.cmake
  DESTINATION ${package_folder})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Man pages and completions come from the help of the program that was built.
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE [[
    set(share "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
    set(program "$<TARGET_FILE:halmark>")
    file(MAKE_DIRECTORY "${share}/man/man1")
    execute_process(COMMAND "${program}" man "${share}/man/man1" OUTPUT_QUIET
                    COMMAND_ERROR_IS_FATAL ANY)
    foreach(place "bash;bash-completion/completions/halmark" "zsh;zsh/site-functions/_halmark"
                  "fish;fish/vendor_completions.d/halmark.fish")
      list(GET place 0 shell)
      list(GET place 1 path)
      execute_process(COMMAND "${program}" completion ${shell} OUTPUT_VARIABLE script
                      COMMAND_ERROR_IS_FATAL ANY)
      file(WRITE "${share}/${path}" "${script}")
    endforeach()
  ]])
endif()

# `cpack -G DEB` in the build folder. Debian's tool finds the libraries that it depends on.
set(CPACK_PACKAGE_NAME halmark)
set(CPACK_PACKAGE_VENDOR "Halmark maintainers")
set(CPACK_PACKAGE_CONTACT "Halmark maintainers <maintainers@halmark.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Measures, models and searches AI compute")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_STRIP_FILES ON)
include(CPack)
