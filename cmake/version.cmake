# fourhold_version(<variable>): writes the source behind fourhold/base/version.h, and its path into
# the variable. The commit is read when configuring; the log of HEAD makes the next build configure
# again after a commit.
function(fourhold_version variable)
  set(FOURHOLD_COMMIT "unknown")
  find_package(Git QUIET)
  if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
    execute_process(
      COMMAND "${GIT_EXECUTABLE}" -c safe.directory=* rev-parse --short=12 HEAD
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE commit RESULT_VARIABLE failed
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(FOURHOLD_COMMIT "${commit}")
    endif()
    if(EXISTS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
      set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND
                   PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/.git/logs/HEAD")
    endif()
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/version.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/version.cpp.in" "${source}" @ONLY)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()
