# Other people's libraries. Each module is built when its library is there; the message says what was looked for.

# oneDNN: Debian's libdnnl-dev. Found by file and not by its CMake package, which wants an OpenCL development package.
find_path(TARE_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(TARE_DNNL_LIBRARY dnnl)
find_package(OpenMP QUIET COMPONENTS CXX)
if(TARE_DNNL_INCLUDE AND TARE_DNNL_LIBRARY AND OpenMP_CXX_FOUND)
  tare_module(onednn SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/onednn.cpp LINK ${TARE_DNNL_LIBRARY} OpenMP::OpenMP_CXX
              fmt::fmt)
  target_include_directories(onednn_module SYSTEM PRIVATE ${TARE_DNNL_INCLUDE})
  target_compile_definitions(onednn_module PRIVATE TARE_ONEDNN_ARM="onednn")
else()
  message(STATUS "Tare: no module onednn: libdnnl-dev or the compiler's OpenMP is not installed")
endif()

# OpenBLAS is looked up when the module is opened: nothing is needed here.
tare_module(openblas SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/openblas.cpp LINK ${CMAKE_DL_LIBS} fmt::fmt)

# ggml: built native by scripts/setup, with OpenMP and LLAMAFILE.
find_package(GGML QUIET)
if(GGML_FOUND)
  tare_module(ggml SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/ggml.cpp LINK ggml::ggml fmt::fmt)
  tare_bundle(ggml_module ${GGML_LIB_DIR} ggml)
else()
  message(STATUS "Tare: no module ggml: not found under ${TARE_DEPS}/ggml")
endif()

# MLX: headers, library and CMake package lie inside the Python package mlx[cpu].
find_package(MLX MODULE QUIET)
if(MLX_FOUND)
  tare_module(mlx SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/mlx.cpp LINK mlx fmt::fmt)
  tare_bundle(mlx_module ${MLX_LIB_DIRS})
else()
  message(STATUS "Tare: no module mlx: mlx[cpu] is not installed in ${TARE_DEPS}/venv")
endif()

# What ./tare incumbents fetched, each with all that it needs in a folder of its own. Their own dependencies have no path,
# so the module's must serve for those, too (DT_RPATH, not RUNPATH). They are not taken along when Tare is installed:
# an installed module finds them where they are.
function(tare_fetched_module name folder)
  cmake_parse_arguments(FETCHED "" "" "SOURCES;LINK" ${ARGN})
  tare_module(${name} SOURCES ${FETCHED_SOURCES} LINK ${FETCHED_LINK} fmt::fmt)
  target_include_directories(${name}_module SYSTEM PRIVATE ${folder}/include)
  target_link_options(${name}_module PRIVATE -Wl,--disable-new-dtags -Wl,--allow-shlib-undefined)
  set_target_properties(${name}_module PROPERTIES BUILD_RPATH ${folder}/lib INSTALL_RPATH ${folder}/lib)
endfunction()

foreach(module onednn3 onednn3_omp)
  set(folder ${TARE_DEPS}/incumbents/${module})
  if(EXISTS ${folder}/lib/libdnnl.so.3 AND EXISTS ${folder}/include/oneapi/dnnl/dnnl.hpp AND OpenMP_CXX_FOUND)
    tare_fetched_module(${module} ${folder} SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/onednn.cpp
                        LINK ${folder}/lib/libdnnl.so.3 OpenMP::OpenMP_CXX ${CMAKE_DL_LIBS})
    string(REPLACE _ - arm ${module})
    target_compile_definitions(${module}_module PRIVATE TARE_ONEDNN_ARM="${arm}")
  endif()
endforeach()

set(folder ${TARE_DEPS}/incumbents/mkl)
if(EXISTS ${folder}/lib/libmkl_rt.so.3 AND EXISTS ${folder}/include/mkl.h)
  tare_fetched_module(mkl ${folder} SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/mkl.cpp LINK ${folder}/lib/libmkl_rt.so.3)
endif()
