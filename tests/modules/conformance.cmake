# tare_module_test(NAME [SOURCES ...]): the program test_modules_NAME, which loads the module NAME and asks of it what
# tests/modules/conformance_test.cpp asks of every module, and what SOURCES ask of this one. A module that is not
# built leaves tests that say so and skip.
include_guard(GLOBAL)
set_property(GLOBAL PROPERTY TARE_CONFORMANCE_DIR ${CMAKE_CURRENT_LIST_DIR})

add_library(tare_conformance OBJECT ${CMAKE_CURRENT_LIST_DIR}/conformance_test.cpp
                                    ${CMAKE_CURRENT_LIST_DIR}/all_f32_test.cpp ${CMAKE_CURRENT_LIST_DIR}/drive.cpp ${CMAKE_CURRENT_LIST_DIR}/quantised_test.cpp)
target_link_libraries(tare_conformance PRIVATE tare_options tare_prove GTest::gtest)
target_include_directories(tare_conformance PRIVATE ${CMAKE_SOURCE_DIR})

function(tare_module_test name)
  cmake_parse_arguments(MODULE_TEST "" "" "SOURCES" ${ARGN})
  get_property(here GLOBAL PROPERTY TARE_CONFORMANCE_DIR)
  tare_test(modules_${name} SOURCES ${here}/default_module.cpp $<TARGET_OBJECTS:tare_conformance> ${MODULE_TEST_SOURCES}
            LINK tare_prove ${CMAKE_DL_LIBS})
  target_compile_definitions(
    test_modules_${name} PRIVATE TARE_MODULE_DEFAULT="${TARE_MODULE_OUTPUT_DIR}/${name}.so")
  # OMP_WAIT_POLICY: idle OpenMP workers that spin slow every other test on a small machine.
  # ASAN_OPTIONS: GCC 12's leak checker misreads the thread-local blocks of libraries that were loaded late, and crashes
  # on an OpenMP worker's, unless it is told not to look at them.
  # TSAN_OPTIONS: other people's libraries are not instrumented; what their threads do among themselves looks like races.
  set_tests_properties(
    modules_${name}
    PROPERTIES
      ENVIRONMENT
      "OMP_WAIT_POLICY=passive;ASAN_OPTIONS=intercept_tls_get_addr=0;TSAN_OPTIONS=ignore_noninstrumented_modules=1")
  if(TARGET ${name}_module)
    add_dependencies(test_modules_${name} ${name}_module)
  endif()
endfunction()
