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
  if(KOIOS_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

# Warnings are errors but in a release build: gcc 12 has false alarms at -O2, and a user's build
# must not stop at a compiler's mistake.
function(koios_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wswitch
    $<$<NOT:$<CONFIG:Release>>:-Werror>)
endfunction()

function(koios_test folder)
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*_test.cc)
  if(tests)
    add_executable(koios_${folder}_test ${tests})
    target_link_libraries(koios_${folder}_test PRIVATE ${ARGN} koios_${folder} GTest::gtest
      GTest::gmock GTest::gtest_main)
    koios_warnings(koios_${folder}_test)
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
  koios_warnings(koios_${folder})
  koios_test(${folder})
endfunction()
