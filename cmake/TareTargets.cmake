# How every target of Tare is made: one function for a room, one for a module, one for a test.

add_library(tare_options INTERFACE)
target_include_directories(tare_options INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
# nvcc has warnings of its own.
target_compile_options(
  tare_options INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion>")
if(TARE_SANITIZE)
  target_compile_options(tare_options INTERFACE -fsanitize=${TARE_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(tare_options INTERFACE -fsanitize=${TARE_SANITIZE})
endif()

# tare_room(NAME SOURCES ... LINK ...): the static library tare_NAME of src/NAME.
function(tare_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINK" ${ARGN})
  add_library(tare_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(tare_${name} PUBLIC tare_options fmt::fmt ${ROOM_LINK})
endfunction()

# tare_module(NAME SOURCES ... LINK ...): one loadable implementation, lib/tare/modules/NAME.so.
function(tare_module name)
  cmake_parse_arguments(MODULE "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name}_module MODULE ${MODULE_SOURCES})
  target_link_libraries(${name}_module PRIVATE tare_options tare_formats ${MODULE_LINK})
  set_target_properties(
    ${name}_module
    PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${TARE_MODULE_OUTPUT_DIR}
               CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  install(TARGETS ${name}_module LIBRARY DESTINATION ${TARE_MODULE_DIR})
  set_property(GLOBAL APPEND PROPERTY TARE_MODULES ${name}_module)
endfunction()

# Libraries that were built without a sanitizer live in instrumented processes. GCC 12's address sanitizer crashes on the
# OpenMP workers of a library that was dlopened when it looks at their thread-local memory; the thread sanitizer sees races
# where it does not see the locks.
set(TARE_SANITIZER_ENVIRONMENT "ASAN_OPTIONS=intercept_tls_get_addr=0;TSAN_OPTIONS=ignore_noninstrumented_modules=1")
# Where plugins crash on purpose, a crash must look like one: by the signal, and not by a sanitizer's exit code.
set(_signals handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0)
set(TARE_CRASHING_ENVIRONMENT
    "ASAN_OPTIONS=intercept_tls_get_addr=0:${_signals};TSAN_OPTIONS=ignore_noninstrumented_modules=1:${_signals}")

# tare_test(NAME SOURCES ... LINK ...): a GoogleTest program; NAME is its path under tests/, with '_'.
function(tare_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  target_link_libraries(test_${name} PRIVATE tare_options GTest::gtest_main ${TEST_LINK})
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR})
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "${TEST_LABELS}" ENVIRONMENT "${TARE_SANITIZER_ENVIRONMENT}")
endfunction()
