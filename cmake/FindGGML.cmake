# find_package(GGML): the ggml that scripts/setup built into ${TARE_DEPS}/ggml, else one that CMake finds by itself.
#
#   GGML_FOUND
#   ggml::ggml      the library, with ggml::ggml-base and ggml::ggml-cpu behind it (shared, OpenMP, built for this CPU)
#   GGML_LIB_DIR    where its shared libraries lie: tare_bundle(ggml_module ${GGML_LIB_DIR} ggml)
find_package(ggml CONFIG QUIET PATHS ${TARE_DEPS}/ggml NO_DEFAULT_PATH)
if(NOT ggml_FOUND)
  find_package(ggml CONFIG QUIET)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GGML REQUIRED_VARS ggml_DIR GGML_LIB_DIR VERSION_VAR ggml_VERSION
                                  REASON_FAILURE_MESSAGE "scripts/setup builds it")
