# On a GPU: our own kernels, the limit arms, and NVIDIA's library.
if(NOT TARE_CUDA)
  return()
endif()
set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(tare_device_region STATIC ${here}/device_region.cpp)
target_link_libraries(tare_device_region PUBLIC tare_options fmt::fmt CUDA::cudart_static)
set_target_properties(tare_device_region PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
tare_module(tare_cuda SOURCES ${here}/tare_cuda.cpp LINK tare_device_region tare_kernels_cuda)
tare_module(limit_cuda SOURCES ${here}/limit_cuda.cpp LINK tare_device_region tare_kernels_cuda)
# cuBLASLt is looked up when the module is opened: its header alone is needed here.
tare_module(cublaslt SOURCES ${here}/cublaslt.cpp ${here}/cublaslt_problem.cpp ${here}/cublaslt_search.cpp
            LINK tare_device_region ${CMAKE_DL_LIBS})
foreach(module tare_cuda limit_cuda cublaslt)
  target_compile_definitions(${module}_module PRIVATE TARE_VERSION="${PROJECT_VERSION}")
endforeach()
