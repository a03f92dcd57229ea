# find_package(MLXCuda): MLX for CUDA, the Python package mlx-cuda-13, in ${TARE_DEPS}/mlx-cuda (scripts/setup --cuda) or where
# TARE_MLX_CUDA says. Its own CMake config is not asked: it wants cuDNN's headers, which are not needed here.
#
#   MLXCuda_FOUND
#   mlx_cuda          the library's target, headers included
#   MLXCuda_LIB_DIRS  where its shared libraries lie, as pairs of a folder and its place below lib/tare/deps, for tare_bundle
set(TARE_MLX_CUDA ${TARE_DEPS}/mlx-cuda CACHE PATH "Folder that holds the Python package mlx-cuda-13: mlx/lib/libmlx.so")
find_path(MLXCuda_INCLUDE mlx/backend/cuda/device.h PATHS ${TARE_MLX_CUDA}/mlx/include NO_DEFAULT_PATH)
find_library(MLXCuda_LIBRARY mlx PATHS ${TARE_MLX_CUDA}/mlx/lib NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MLXCuda REQUIRED_VARS MLXCuda_LIBRARY MLXCuda_INCLUDE
                                  REASON_FAILURE_MESSAGE "scripts/setup --cuda fetches it")
if(MLXCuda_FOUND AND NOT TARGET mlx_cuda)
  add_library(mlx_cuda SHARED IMPORTED)
  set_target_properties(mlx_cuda PROPERTIES IMPORTED_LOCATION ${MLXCuda_LIBRARY})
  target_include_directories(mlx_cuda SYSTEM INTERFACE ${MLXCuda_INCLUDE})
  # What it is linked to in turn (cuDNN, NCCL, cuFFT...) need not be on the machine that builds.
  target_link_options(mlx_cuda INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
  set(MLXCuda_LIB_DIRS ${TARE_MLX_CUDA}/mlx/lib mlx-cuda/mlx/lib ${TARE_MLX_CUDA}/mlx_cuda_13.libs mlx-cuda/mlx_cuda_13.libs)
endif()
