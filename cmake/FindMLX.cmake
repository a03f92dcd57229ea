# find_package(MLX): the mlx[cpu] that scripts/setup put into ${TARE_DEPS}/venv, through MLX's own CMake config.
#
#   MLX_FOUND
#   mlx             the library's target, headers included
#   MLX_LIB_DIRS    where its shared libraries lie, as pairs of a folder and its place below lib/tare/deps, for tare_bundle
file(GLOB _mlx_root ${TARE_DEPS}/venv/lib/python3*/site-packages/mlx)
if(_mlx_root AND NOT TARGET mlx)
  find_package(MLX CONFIG QUIET PATHS ${_mlx_root} NO_DEFAULT_PATH)
endif()
# libmlx.so looks for its own companions in ../../mlx_cpu.libs: the installed copy keeps that layout.
if(TARGET mlx)
  cmake_path(GET _mlx_root PARENT_PATH _mlx_site)
  set(MLX_LIB_DIRS ${_mlx_root}/lib mlx/lib ${_mlx_site}/mlx_cpu.libs mlx_cpu.libs)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MLX REQUIRED_VARS MLX_LIB_DIRS VERSION_VAR MLX_VERSION
                                  REASON_FAILURE_MESSAGE "scripts/setup fetches it")
