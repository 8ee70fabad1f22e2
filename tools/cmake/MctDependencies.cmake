# What our libraries link besides MLIR and LLVM, as imported targets. The build and find_package(Mct) both read it. The name of
# a library that is missing ends up in MCT_MISSING.
set(MCT_MISSING)

# mct_find_dependency(NAME PACKAGE names...): MctDependency::NAME, a library with one of the names, which the Debian package has.
macro(mct_find_dependency name package)
  if(NOT TARGET MctDependency::${name})
    find_library(MCT_${name}_LIBRARY NAMES ${ARGN})
    mark_as_advanced(MCT_${name}_LIBRARY)
    if(MCT_${name}_LIBRARY)
      add_library(MctDependency::${name} UNKNOWN IMPORTED)
      set_target_properties(MctDependency::${name} PROPERTIES IMPORTED_LOCATION "${MCT_${name}_LIBRARY}")
    else()
      list(APPEND MCT_MISSING "${name}, which is in Debian's ${package} (or set MCT_${name}_LIBRARY to its file)")
    endif()
  endif()
endmacro()

# Not find_package(dnnl): its configuration asks for OpenCL headers, which nothing here needs.
mct_find_dependency(dnnl libdnnl-dev dnnl)
# oneDNN's OpenMP runtime, by its file name, so that no other one comes beside it.
mct_find_dependency(gomp libgomp1 libgomp.so.1)
mct_find_dependency(Cbc coinor-libcbc-dev CbcSolver)
