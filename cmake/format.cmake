# The target fourhold_format: {fmt} for sources that include it.
#
# Its header-only mode doubles the compile time of every such source, so base/fmt_library.cpp compiles
# it once. That file is written for {fmt} 9 (Debian 12); newer ones are used header-only.
find_package(fmt 9 REQUIRED)

add_library(fourhold_format INTERFACE)
if(fmt_VERSION VERSION_LESS 10)
  target_include_directories(
    fourhold_format SYSTEM
    INTERFACE $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  target_link_libraries(fourhold_format INTERFACE fmt::fmt-header-only)
endif()
