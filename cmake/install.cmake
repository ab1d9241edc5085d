# Installs the program, the libraries with their headers, the CMake package and the pkg-config file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY FOURHOLD_LIBRARIES)
install(TARGETS fourhold_planner ${libraries} EXPORT fourhold-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET fourhold-engine)
  install(TARGETS fourhold-engine RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET fourhold)
  install(TARGETS fourhold RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  # Both are printed by the program itself; tests keep the committed texts equal to that.
  install(FILES "${PROJECT_SOURCE_DIR}/docs/man/fourhold.1"
          DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  set(completion "${PROJECT_SOURCE_DIR}/docs/completion")
  install(FILES "${completion}/bash" RENAME fourhold
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${completion}/zsh" RENAME _fourhold
          DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${completion}/fish" RENAME fourhold.fish
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/fourhold")
install(EXPORT fourhold-targets NAMESPACE fourhold:: DESTINATION "${package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/fourhold-config.cmake.in"
  "${PROJECT_BINARY_DIR}/fourhold-config.cmake" INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a new minor version may change any interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fourhold-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fourhold-config.cmake"
              "${PROJECT_BINARY_DIR}/fourhold-config-version.cmake" DESTINATION "${package_dir}")

# pkg-config: users before what they use, and a prefix relative to the file, so that the installed
# tree can be moved.
set(pc_libraries "")
foreach(library IN LISTS libraries)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    get_target_property(output_name ${library} OUTPUT_NAME)
    string(PREPEND pc_libraries " -l${output_name}")
  endif()
endforeach()
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/fourhold.pc.in" "${PROJECT_BINARY_DIR}/fourhold.pc"
               @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/fourhold.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
