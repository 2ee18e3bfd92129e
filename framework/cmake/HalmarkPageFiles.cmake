# cmake -DOUT=page_files_made.cpp -DFOLDER=page -DNAMES=index.html,page.css,... -P HalmarkPageFiles.cmake
# Writes the files as string literals of one source.
string(REPLACE "," ";" names "${NAMES}")
set(text "// Made by HalmarkPageFiles.cmake of the files in ${FOLDER}.\n#include \"serve/page_files.hpp\"\n\n#include <array>\n\nnamespace halmark::serve {\nnamespace {\n\nconstexpr std::array files = {\n")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}" content)
  # A literal of a compiler's least limit; adjacent ones are one.
  string(LENGTH "${content}" length)
  set(begin 0)
  string(APPEND text "    PageFile{\"${name}\",\n")
  while(begin LESS length)
    string(SUBSTRING "${content}" ${begin} 60000 part)
    string(APPEND text "R\"halmark_page(${part})halmark_page\"\n")
    math(EXPR begin "${begin} + 60000")
  endwhile()
  string(APPEND text "    },\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const PageFile> page_files() { return files; }\n\n}  // namespace halmark::serve\n")
file(WRITE "${OUT}" "${text}")
