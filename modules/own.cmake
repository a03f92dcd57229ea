# Our own kernels and the limit arms.
tare_module(tare_cpu SOURCES ${CMAKE_CURRENT_LIST_DIR}/tare_cpu.cpp LINK tare_kernels)
tare_module(limit SOURCES ${CMAKE_CURRENT_LIST_DIR}/limit.cpp LINK tare_kernels)
foreach(module tare_cpu limit)
  target_compile_definitions(${module}_module PRIVATE TARE_VERSION="${PROJECT_VERSION}")
endforeach()
