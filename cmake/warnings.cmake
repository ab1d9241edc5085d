# fourhold_warnings(<target>): the project's warnings; private, so that users do not inherit them.
#
# Two warnings of GCC 12 are left out, because they fire inside the standard library where nothing is
# wrong: -Wrestrict in std::string's operator+ (GCC bug 105651, mended in 13), and
# -Wmaybe-uninitialized in moves of std::variant. clang and the sanitizers watch for the latter.
function(fourhold_warnings target)
  target_compile_options(
    ${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                      $<$<BOOL:${FOURHOLD_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-maybe-uninitialized)
  endif()
endfunction()
