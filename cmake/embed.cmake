# Writes OUTPUT: `const std::span<const tempinbox::embedded_file> tempinbox::NAMESPACE::files`, one entry a file of FILES (path relative to ROOT).
set(text "#include \"common/core/embedded_file.hpp\"\n\nnamespace tempinbox::${NAMESPACE} {\nnamespace {\nconst embedded_file table[] = {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH path "${ROOT}" "${file}")
  file(READ "${file}" content HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" content "${content}")
  # Adjacent literals keep every line of the generated file short.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f]){1,200})" "\n     \"\\1\"" content "${content}")
  file(SIZE "${file}" size)
  string(APPEND text "    {\"${path}\", std::string_view{${content}, ${size}}},\n")
endforeach()
string(APPEND text "};\n}\nextern const std::span<const embedded_file> files;\nconst std::span<const embedded_file> files{table};\n}\n")
file(WRITE "${OUTPUT}" "${text}")
