# The target fourhold_highway: Google Highway, portable SIMD that picks the widest instructions of the
# CPU at run time. Debian's package has no CMake files, so header and library are looked up here.
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h)
find_library(HIGHWAY_LIBRARY hwy)
if(NOT HIGHWAY_INCLUDE_DIR OR NOT HIGHWAY_LIBRARY)
  message(FATAL_ERROR "The engine needs Google Highway: install libhwy-dev, "
                      "or configure the planner alone with -DFOURHOLD_ENGINE=OFF")
endif()
if(NOT TARGET fourhold_highway)
  add_library(fourhold_highway INTERFACE)
  target_include_directories(fourhold_highway SYSTEM INTERFACE "${HIGHWAY_INCLUDE_DIR}")
  target_link_libraries(fourhold_highway INTERFACE "${HIGHWAY_LIBRARY}")
  target_compile_definitions(fourhold_highway INTERFACE HWY_SHARED_DEFINE)
  # A product and a sum must not become one fused operation on some CPUs and not on others: numbers
  # are the same on every instruction set.
  target_compile_options(fourhold_highway INTERFACE -ffp-contract=off)
endif()
