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
