# tare_identity(OUT NAME SOURCES...): makes OUT, a C++ file that defines `const char* NAME`: a digest of SOURCES, of the compiler
# and of its flags. What was weighed and what is served later are other binaries; they carry the same identity when they
# were made of the same kernels.
set(TARE_IDENTITY_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
if(CMAKE_SCRIPT_MODE_FILE)
  set(all "${FLAGS}")
  foreach(source ${SOURCES})
    file(SHA256 ${source} one)
    string(APPEND all ${one})
  endforeach()
  string(SHA256 identity "${all}")
  string(SUBSTRING ${identity} 0 16 identity)
  file(WRITE ${OUT} "namespace tare::kernels {\nextern const char* const ${NAME};\nconst char* const ${NAME} = \"${identity}\";\n}\n")
  return()
endif()

function(tare_identity out name)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(flags "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${TARE_SANITIZE}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAME=${name} "-DFLAGS=${flags}" "-DSOURCES=${ARGN}" -P ${TARE_IDENTITY_SCRIPT}
    DEPENDS ${ARGN} ${TARE_IDENTITY_SCRIPT}
    VERBATIM)
endfunction()
