# Workbenches of our kernels.
add_executable(bench_kernels_handover ${CMAKE_CURRENT_LIST_DIR}/kernels_handover.cpp)
target_link_libraries(bench_kernels_handover PRIVATE tare_kernels)

add_executable(bench_kernels_grouped ${CMAKE_CURRENT_LIST_DIR}/kernels_grouped.cpp)
target_link_libraries(bench_kernels_grouped PRIVATE tare_kernels tare_prove ${CMAKE_DL_LIBS})
target_include_directories(bench_kernels_grouped PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)

# Found by file: oneDNN's CMake package wants an OpenCL development package.
find_path(TARE_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(TARE_DNNL_LIBRARY dnnl)
if(TARE_DNNL_INCLUDE AND TARE_DNNL_LIBRARY)
  foreach(noun panel stream)
    add_executable(bench_kernels_${noun} ${CMAKE_CURRENT_LIST_DIR}/kernels_${noun}.cpp)
    target_link_libraries(bench_kernels_${noun} PRIVATE tare_kernels ${TARE_DNNL_LIBRARY})
    target_include_directories(bench_kernels_${noun} SYSTEM PRIVATE ${TARE_DNNL_INCLUDE})
    target_include_directories(bench_kernels_${noun} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)
  endforeach()
endif()
