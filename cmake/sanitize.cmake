# Fuzzers need every library instrumented, not only the targets. The address, undefined and thread
# sanitizers need no code here: their presets set CMAKE_CXX_FLAGS.
if(FOURHOLD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FOURHOLD_FUZZ needs clang (libFuzzer): "
                        "configure with -DCMAKE_CXX_COMPILER=clang++, or use the preset 'fuzz'")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
