# Other people's libraries. Each module is built when its library is there; the message says what was looked for.

# oneDNN: Debian's libdnnl-dev. Found by file and not by its CMake package, which wants an OpenCL development package.
find_path(TARE_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(TARE_DNNL_LIBRARY dnnl)
find_package(OpenMP QUIET COMPONENTS CXX)
if(TARE_DNNL_INCLUDE AND TARE_DNNL_LIBRARY AND OpenMP_CXX_FOUND)
  tare_module(onednn SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/onednn.cpp LINK ${TARE_DNNL_LIBRARY} OpenMP::OpenMP_CXX
              fmt::fmt)
  target_include_directories(onednn_module SYSTEM PRIVATE ${TARE_DNNL_INCLUDE})
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
