# fourhold_embed(TARGET <target> NAME <symbol> FILES <pattern>...)
#
# Compiles text files into a library. The generated source defines
#   std::span<const fourhold::EmbeddedFile> <symbol>();
# which the user's header declares; <symbol> is qualified ("fourhold::model::embedded_models"). The
# table is sorted by file name and each entry is named by the file's stem. Files that change, appear
# or vanish are noticed by the next build.
#
# The same file is the script that writes the source, so the format is stated once.
if(CMAKE_SCRIPT_MODE_FILE)
  # Inputs: LIST (a file with one path per line), SYMBOL, OUTPUT.
  file(STRINGS "${LIST}" paths)
  list(LENGTH paths count)
  string(REGEX MATCH "^(.*)::([^:]+)$" matched "${SYMBOL}")
  set(name_space "${CMAKE_MATCH_1}")
  set(function "${CMAKE_MATCH_2}")
  set(text "// Generated from data files; edit those instead.\n")
  string(APPEND text "#include \"fourhold/base/embedded.h\"\n\n#include <array>\n#include <span>\n\n")
  string(APPEND text "namespace ${name_space} {\n")
  string(APPEND text "std::span<const ::fourhold::EmbeddedFile> ${function}();\n")
  string(APPEND text "std::span<const ::fourhold::EmbeddedFile> ${function}() {\n")
  string(APPEND text "  static constexpr std::array<::fourhold::EmbeddedFile, ${count}> kFiles{{\n")
  foreach(path IN LISTS paths)
    # One raw literal per file: GCC and clang have no length limit of their own. Brackets and
    # semicolons survive because the contents are never treated as a list.
    file(READ "${path}" contents)
    if(contents MATCHES "\\)fourhold\"")
      message(FATAL_ERROR "${path} holds the delimiter of the raw string literal: )fourhold\"")
    endif()
    cmake_path(GET path STEM LAST_ONLY stem)
    string(LENGTH "${contents}" length)
    string(APPEND text "      {\"${stem}\", {R\"fourhold(${contents})fourhold\", ${length}}},\n")
  endforeach()
  string(APPEND text "  }};\n  return kFiles;\n}\n}  // namespace ${name_space}\n")
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(FOURHOLD_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(fourhold_embed)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "TARGET;NAME" "FILES")
  get_target_property(type ${ARG_TARGET} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()  # no source yet that could ask for the table
  endif()
  file(GLOB paths CONFIGURE_DEPENDS ${ARG_FILES})
  string(REGEX REPLACE "^.*::" "" stem "${ARG_NAME}")
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${stem}.list")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${stem}.cpp")
  string(REPLACE ";" "\n" lines "${paths}")
  file(CONFIGURE OUTPUT "${list}" CONTENT "@lines@\n" @ONLY)  # rewritten only when it differs
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${list}" "-DSYMBOL=${ARG_NAME}" "-DOUTPUT=${output}" -P
            "${FOURHOLD_EMBED_SCRIPT}"
    DEPENDS ${paths} "${list}" "${FOURHOLD_EMBED_SCRIPT}"
    COMMENT "Embedding ${stem}"
    VERBATIM)
  target_sources(${ARG_TARGET} PRIVATE "${output}")
  # clang's pedantic mode warns from 64 KiB on, the least a compiler must accept.
  set_source_files_properties("${output}" PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
endfunction()
