# What the tests share. Labels: unit, mpi, torch, cases, layers, install, fuzz, and slow for whole
# sub-builds.
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
include(GoogleTest)

# fourhold_test(<name> SOURCES <file>... [LIBRARIES <target>...] [LABEL <label>] [PORTABLE <filter>])
#
# Builds one GoogleTest binary; ctest counts each of its tests. They are listed when ctest starts,
# so the build does not wait for the binary to run. Those that match the filter take the machine's
# best instruction set (tests/tested_isa) and are run again with the portable kernels alone.
function(fourhold_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "LABEL;PORTABLE" "SOURCES;LIBRARIES")
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # tests share no names
  fourhold_warnings(${name})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE
                             FOURHOLD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Tests are compiled once and run once; instrumented code takes twice as long to optimise.
  set(draws 300)  # of each property
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    set(draws 50)
    target_compile_options(${name} PRIVATE -O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name} PRIVATE -O1)
  endif()
  set(processors 1)
  if(ARG_LABEL STREQUAL "mpi")
    set(processors 2)
  endif()
  set(main GTest::gtest_main)
  if(ARG_PORTABLE)
    set(main fourhold_tested_isa)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} ${main} rapidcheck rapidcheck_gtest
                                        fourhold_format)
  set(properties PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300 PROCESSORS ${processors}
                 # Lists lose all but their first here.
                 ENVIRONMENT "RC_PARAMS=max_success=${draws} max_discard_ratio=100"
                 ENVIRONMENT_MODIFICATION "OMP_WAIT_POLICY=set:passive")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}: " ${properties})
  if(ARG_PORTABLE)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name} --isa=portable: "
                         TEST_FILTER "${ARG_PORTABLE}" EXTRA_ARGS --isa=portable ${properties})
  endif()
endfunction()

# fourhold_mpi_test(<name> <command>...): one that starts ranks, label mpi; it takes both cores.
#
# Open MPI asks that running as root be allowed in so many words, and that ranks may be more than
# cores, which are then bound to none. MPICH ignores these.
set(FOURHOLD_MPI_MISSING "${PROJECT_SOURCE_DIR}/tests/engine/communicator/mpi/missing")
set(FOURHOLD_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMP_WAIT_POLICY=passive)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=.*address")
  list(APPEND FOURHOLD_MPI_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)  # MPI leaves some behind
endif()
function(fourhold_mpi_test name)
  add_test(NAME "${name}" COMMAND ${ARGN})
  set_tests_properties("${name}" PROPERTIES LABELS mpi TIMEOUT 300 PROCESSORS 2
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${FOURHOLD_MPI_ENVIRONMENT}")
endfunction()
