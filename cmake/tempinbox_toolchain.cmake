# Language level, warnings, sanitizers, ccache and the linker: the same for every target, so that all share one precompiled header.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O0 -g1")

set(TEMPINBOX_SANITIZE "" CACHE STRING "Sanitizers, comma-separated: address,undefined or thread")
option(TEMPINBOX_FUZZ "Build the programs of tests/fuzz" OFF)
option(TEMPINBOX_UNITY "Compile sources in batches: half the time for everything, more for one file" OFF)
# Tests are run seldom and compiled often; what they test is compiled as it runs.
set(TEMPINBOX_TEST_OPTIONS -O0)
set(TEMPINBOX_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
if(TEMPINBOX_UNITY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tools/generate/unity_batches.py")
  # A parameter in a header may be called as something in the source before it in the batch. The other presets
  # compile each source by itself, and with this warning.
  list(APPEND TEMPINBOX_WARNINGS -Wno-shadow)
endif()
# Some packages bring -pthread along; the precompiled header is only taken where all agree.
add_compile_options(-pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The preset gcc-warnings, at -O0: what g++ 12 reports only when it optimizes is false for std::string and
  # for the frames of coroutines.
  add_compile_options(-fpch-preprocess)
  # Members that are left out have a value; g++ asks for their initializers where their type has a constructor.
  list(APPEND TEMPINBOX_WARNINGS -Wno-missing-field-initializers)
else()
  # libstdc++ 12 uses in std::stable_sort what it calls deprecated; out of a precompiled header clang says so.
  add_compile_options(-Wno-deprecated-declarations)
  # RD_KAFKA_V_... of librdkafka are such expressions; whole files become string literals.
  list(APPEND TEMPINBOX_WARNINGS -Wno-gnu-statement-expression-from-macro-expansion -Wno-overlength-strings)
  # CMake would also include the text of the header, by a path that ccache does not make relative; the
  # precompiled one is all that is needed.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
endif()

# Asio and Beast are compiled once, in libs/boost.
add_compile_definitions(
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_HAS_CO_AWAIT)

if(TEMPINBOX_SANITIZE)
  add_compile_options(-fsanitize=${TEMPINBOX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TEMPINBOX_SANITIZE})
endif()
# What libFuzzer feeds is optimized and says which ways it took; all else only has to be compiled quickly.
set(TEMPINBOX_FUZZED_OPTIONS -O1 -fsanitize=fuzzer-no-link)

find_program(CCACHE ccache)
if(CCACHE)
  # What one clone has compiled another takes: paths are those from the build folder on, debuggers find
  # them from the root of either, and messages of tests name them from there.
  cmake_path(RELATIVE_PATH CMAKE_BINARY_DIR BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE TEMPINBOX_BUILD_FOLDER)
  cmake_path(RELATIVE_PATH CMAKE_SOURCE_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE TEMPINBOX_ROOT)
  add_compile_options("-fdebug-prefix-map=${CMAKE_BINARY_DIR}=${TEMPINBOX_BUILD_FOLDER}" "-fmacro-prefix-map=${TEMPINBOX_ROOT}/=")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_ABSSTDERR=1 CCACHE_PCH_EXTSUM=1 "${CCACHE}")
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
