# koios_library(FOLDER LINKS targets...): static library koios_FOLDER of the folder's sources and,
# when it has *_test.cc files, the test binary koios_FOLDER_test, registered with ctest.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # base_dir makes two build folders of one checkout share their cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
if(KOIOS_SANITIZE)
  add_compile_options(-fsanitize=${KOIOS_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KOIOS_SANITIZE})
  add_compile_options(-Wno-maybe-uninitialized)  # gcc sees it where checks are between, wrongly
  if(KOIOS_SANITIZE MATCHES "address" AND NOT KOIOS_SANITIZE_STACK)
    add_compile_options(--param=asan-use-after-return=0)  # of the tests' time more than a third
  endif()
  if(KOIOS_SANITIZE MATCHES "undefined")
    # What these find ends the process under the address sanitizer, too, or is about mapped bytes:
    # koios_storage asks for alignment again. They are half of the time to build.
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=null,vptr,alignment)
  endif()
endif()

# Sources are compiled folder by folder, small folders together, in a third of the time or less: for
# builds that start from nothing. What unnamed namespaces of a library have must differ by name
# (tests/tidy).
option(KOIOS_UNITY "compile folders as one" OFF)
set(KOIOS_UNIT_BYTES 120000)  # what has fewer goes on with the next folder

function(koios_as_units target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND folders "${folder}")
    list(APPEND "in ${folder}" ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(unit_bytes ${KOIOS_UNIT_BYTES})
  foreach(folder IN LISTS folders)
    if(unit_bytes GREATER_EQUAL KOIOS_UNIT_BYTES)
      string(MAKE_C_IDENTIFIER "from_${folder}" unit)
      set(unit_bytes 0)
    endif()
    foreach(source IN LISTS "in ${folder}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
      if(EXISTS ${source})
        file(SIZE ${source} bytes)
        math(EXPR unit_bytes "${unit_bytes} + ${bytes}")
      endif()
    endforeach()
  endforeach()
endfunction()

# What is written here, unlike generated code. Warnings are errors but in a release build: gcc 12
# has false alarms at -O2, and a user's build must not stop at a compiler's mistake.
function(koios_own_code target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wswitch
    $<$<NOT:$<CONFIG:Release>>:-Werror>)
  if(target MATCHES "_test$")
    # Half of the time that tests take to compile is spent on making them fast.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-Og>)
  endif()
  if(KOIOS_UNITY)
    koios_as_units(${target})
  endif()
endfunction()

# The thread sanitizer says nothing of a test that has one thread: it takes the test files that
# include what starts others. A new header whose use starts threads is added here.
string(JOIN "|" KOIOS_STARTS_THREADS "<thread>" "<future>" ".engine/engine\\.h"
  ".engine/sched/ends/reaper\\.h" ".import/graph_import\\.h" ".import/load/ordered_pipeline\\.h"
  ".*testing/crash_loop\\.h")

function(koios_keep_threaded files)
  set(kept)
  foreach(file IN LISTS ${files})
    file(STRINGS ${file} includes REGEX "^#include (${KOIOS_STARTS_THREADS})" LIMIT_COUNT 1)
    if(includes)
      list(APPEND kept ${file})
    endif()
  endforeach()
  set(${files} ${kept} PARENT_SCOPE)
endfunction()

function(koios_test folder)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*_test.cc)
  if(KOIOS_SANITIZE STREQUAL "thread")
    koios_keep_threaded(tests)
  endif()
  if(tests)
    add_executable(koios_${folder}_test ${tests})
    target_link_libraries(koios_${folder}_test PRIVATE ${ARGN} koios_${folder} GTest::gtest
      GTest::gmock GTest::gtest_main)
    koios_own_code(koios_${folder}_test)
    add_test(NAME ${folder} COMMAND koios_${folder}_test)
    set_tests_properties(${folder} PROPERTIES WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
endfunction()

function(koios_library folder)
  cmake_parse_arguments(ARG "" "" "LINKS;EXTRA" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|main)\\.cc$")
  if(NOT sources)
    add_library(koios_${folder} INTERFACE)
    target_link_libraries(koios_${folder} INTERFACE ${ARG_LINKS})
    return()
  endif()
  add_library(koios_${folder} STATIC ${sources} ${ARG_EXTRA})
  target_include_directories(koios_${folder} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(koios_${folder} PUBLIC ${ARG_LINKS})
  koios_own_code(koios_${folder})
  koios_test(${folder})
endfunction()
