# Installs BUILD below WORK, moves the result, and builds CONSUMER against it in two ways.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(failed)
    string(REPLACE ";" " " command "${ARGV}")
    message(FATAL_ERROR "${command}\nfailed (${failed}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_version text)
  if(NOT text MATCHES "fourhold ${VERSION}, 32 layers")
    message(FATAL_ERROR "the consumer printed: ${text}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first place")
set(prefix "${WORK}/second place")
file(RENAME "${WORK}/first place" "${prefix}")

run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${WORK}/build" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
expect_version("${output}")

find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
run("${PKG_CONFIG}" --modversion fourhold)
run("${PKG_CONFIG}" --cflags --libs fourhold)
separate_arguments(pkg_flags UNIX_COMMAND "${output}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
run("${CXX}" -std=c++20 ${flags} "${CONSUMER}/main.cpp" -o "${WORK}/by-pkg-config" ${pkg_flags})
run("${WORK}/by-pkg-config")
expect_version("${output}")
