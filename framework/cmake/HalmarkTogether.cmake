# Sources that are compiled together: headers are read and templates instantiated once for all of a batch. Not CMake's
# unity builds, which name each source by its absolute path: a batch is the same text in every clone, and a compiler cache
# finds in one what another compiled.
option(HALMARK_TOGETHER "Compile the sources of a target in batches" ON)

# halmark_together(<out> <target> [APART regex] SOURCES ...): what to compile in place of SOURCES. Nothing of an
# anonymous namespace may have the name of another file's of its batch. Sources whose path is absolute and those that APART
# matches stay alone; so do all in the preset dev, and with -DHALMARK_TOGETHER=OFF (scripts/mutate: one changed source is
# compiled alone).
function(halmark_together out target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "APART" "SOURCES")
  set(together ${arg_SOURCES})
  list(FILTER together INCLUDE REGEX "^[^/$].*[.]cpp$")
  if(arg_APART)
    list(FILTER together EXCLUDE REGEX "${arg_APART}")
  endif()
  list(LENGTH together count)
  if(NOT HALMARK_TOGETHER OR CMAKE_DISABLE_PRECOMPILE_HEADERS OR count LESS 2)
    set(${out} ${arg_SOURCES} PARENT_SCOPE)
    return()
  endif()
  set(compiled ${arg_SOURCES})
  list(REMOVE_ITEM compiled ${together})
  set(number 0)
  while(together)
    list(SUBLIST together 0 8 batch)  # eight: half the time of one by one
    list(REMOVE_ITEM together ${batch})
    set(text "")
    foreach(source IN LISTS batch)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    list(APPEND compiled ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${out} ${compiled} PARENT_SCOPE)
endfunction()
