# Workbenches of our kernels.
add_executable(bench_kernels_handover ${CMAKE_CURRENT_LIST_DIR}/kernels_handover.cpp)
target_link_libraries(bench_kernels_handover PRIVATE tare_kernels)

add_executable(bench_kernels_grouped ${CMAKE_CURRENT_LIST_DIR}/kernels_grouped.cpp)
target_link_libraries(bench_kernels_grouped PRIVATE tare_kernels tare_prove ${CMAKE_DL_LIBS})
target_include_directories(bench_kernels_grouped PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)

add_executable(bench_kernels_norm ${CMAKE_CURRENT_LIST_DIR}/kernels_norm.cpp)
target_link_libraries(bench_kernels_norm PRIVATE tare_kernels)
target_include_directories(bench_kernels_norm PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)

add_executable(bench_kernels_panel ${CMAKE_CURRENT_LIST_DIR}/kernels_panel.cpp)
target_link_libraries(bench_kernels_panel PRIVATE tare_kernels)
target_include_directories(bench_kernels_panel PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)

# Found by file: oneDNN's CMake package wants an OpenCL development package.
find_path(TARE_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(TARE_DNNL_LIBRARY dnnl)
if(TARE_DNNL_INCLUDE AND TARE_DNNL_LIBRARY)
  add_executable(bench_kernels_stream ${CMAKE_CURRENT_LIST_DIR}/kernels_stream.cpp)
  target_link_libraries(bench_kernels_stream PRIVATE tare_kernels)
  target_include_directories(bench_kernels_stream PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)
  foreach(noun panel stream)
    target_link_libraries(bench_kernels_${noun} PRIVATE ${TARE_DNNL_LIBRARY})
    target_include_directories(bench_kernels_${noun} SYSTEM PRIVATE ${TARE_DNNL_INCLUDE})
  endforeach()
  target_compile_definitions(bench_kernels_panel PRIVATE TARE_HAS_ONEDNN)
endif()
