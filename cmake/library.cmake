# Where CMAKE_UNITY_BUILD joins sources: all but those that Highway compiles once per instruction set.
function(fourhold_unity)
  foreach(source IN LISTS ARGN)
    if(EXISTS "${source}")
      file(STRINGS "${source}" dispatched REGEX "hwy/foreach_target")
      if(dispatched)
        set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endif()
  endforeach()
endfunction()

# fourhold_library(<folder> [DEPENDS <folder>...] [LINKS <target>...] [GENERATED <source>...])
#
# Makes the static library fourhold_<folder>, alias fourhold::<folder>, of all sources of the current
# directory and the GENERATED ones. DEPENDS names other folders (lower floors). LINKS names
# header-only packages that only the sources include: they are left out of what is installed, so a
# user of the libraries needs none of them. A folder without sources is an interface library.
# ENGINE libraries are part of the engine's program alone and are not installed.
function(fourhold_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "ENGINE" "" "DEPENDS;LINKS;GENERATED")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.h")
  set(target fourhold_${folder})

  list(APPEND sources ${ARG_GENERATED})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    fourhold_warnings(${target})
    fourhold_unity(${sources})
    foreach(package IN LISTS ARG_LINKS)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${package}>)
    endforeach()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME fourhold-${folder}
                                               POSITION_INDEPENDENT_CODE ON)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(fourhold::${folder} ALIAS ${target})

  target_compile_features(${target} ${scope} cxx_std_20)
  # With tests, the target all_verify_interface_header_sets compiles each header on its own.
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder} CXX_EXTENSIONS OFF
                                             VERIFY_INTERFACE_HEADER_SETS ${FOURHOLD_TESTS})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src"
                                    FILES ${headers})
  foreach(lower IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} ${scope} fourhold_${lower})
  endforeach()
  if(NOT ARG_ENGINE)
    set_property(GLOBAL APPEND PROPERTY FOURHOLD_LIBRARIES ${target})
  endif()
endfunction()
