# tare_bundle(TARGET FOLDER PLACE [FOLDER PLACE]...): the installed module TARGET finds its library in copies of the shared
# libraries of each FOLDER, which go to lib/tare/deps/PLACE. What is in .deps may be deleted or rebuilt after an installation.
function(tare_bundle target)
  while(ARGN)
    list(POP_FRONT ARGN folder place)
    install(DIRECTORY ${folder}/ DESTINATION lib/tare/deps/${place}
            FILES_MATCHING PATTERN "*.so*" PATTERN "cmake" EXCLUDE)
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH $ORIGIN/../deps/${place})
  endwhile()
endfunction()
