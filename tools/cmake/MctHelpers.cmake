# Thin wrappers around MLIR's CMake functions, so that the list file of a folder is a few lines.
include(GNUInstallDirs)

option(MCT_PRECOMPILED_HEADER "Compile the headers of MLIR once for all sources" ON)

# Options of what runs no loop over values: a third less to compile, and nearly as fast. Sanitizers take -O1 everywhere.
set(MCT_QUICK_OPTIONS -O1 -mllvm -inline-threshold=25)
if(MCT_SANITIZE)
  set(MCT_QUICK_OPTIONS)
endif()

# The headers of MLIR, compiled for all sources.
if(MCT_PRECOMPILED_HEADER)
  set(header ${CMAKE_SOURCE_DIR}/tools/cmake/PrecompiledHeader.h)
  add_library(MctPrecompiledHeader OBJECT ${CMAKE_SOURCE_DIR}/tools/cmake/PrecompiledHeader.cpp)
  llvm_update_compile_flags(MctPrecompiledHeader)
  target_precompile_headers(MctPrecompiledHeader PRIVATE ${header})
  set(MCT_COMPILED_HEADER ${CMAKE_BINARY_DIR}/CMakeFiles/MctPrecompiledHeader.dir/cmake_pch.hxx.pch)
  # The paths inside of a precompiled header differ from checkout to checkout, so that ccache would hit in the first one
  # only. With CCACHE_PCH_EXTSUM it compares this file instead, which holds what decides about the result.
  file(SHA256 ${header} digest)
  file(WRITE ${MCT_COMPILED_HEADER}.sum "${digest} ${LLVM_PACKAGE_VERSION} ${CMAKE_CXX_COMPILER_VERSION}\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endif()

set(MCT_UNITY_BATCH 48 CACHE STRING "Sources that are compiled together, or 1: each by itself")

# mct_batch_sources(RESULT NAME sources...): in place of the sources, files of a unity build that include MCT_UNITY_BATCH of
# them each. A source with the property SKIP_UNITY_BUILD_INCLUSION stays by itself. Unlike those of CMAKE_UNITY_BUILD the files
# have no paths that differ from checkout to checkout, so that ccache hits in all of them.
function(mct_batch_sources result name)
  set(batched)
  set(others)
  foreach(source ${ARGN})
    get_source_file_property(skips ${source} SKIP_UNITY_BUILD_INCLUSION)
    get_filename_component(path ${source} ABSOLUTE)
    cmake_path(IS_PREFIX CMAKE_SOURCE_DIR ${path} inside)
    if(NOT source MATCHES "[.]cpp$" OR NOT inside OR skips)
      list(APPEND others ${source})
    else()
      list(APPEND batched ${path})
    endif()
  endforeach()
  list(LENGTH batched left)
  if(MCT_UNITY_BATCH LESS_EQUAL 1 OR left LESS_EQUAL 1)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  # Batches of the same size, give or take one.
  math(EXPR batches "(${left} + ${MCT_UNITY_BATCH} - 1) / ${MCT_UNITY_BATCH}")
  set(number 0)
  while(batches)
    math(EXPR size "(${left} + ${batches} - 1) / ${batches}")
    list(SUBLIST batched 0 ${size} batch)
    if(batches GREATER 1)
      list(SUBLIST batched ${size} -1 batched)
    endif()
    set(text)
    foreach(path ${batch})
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}Unity${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    list(APPEND others ${file})
    math(EXPR left "${left} - ${size}")
    math(EXPR batches "${batches} - 1")
    math(EXPR number "${number} + 1")
  endwhile()
  set(${result} ${others} PARENT_SCOPE)
endfunction()

# mct_use_precompiled_header(TARGET [QUICK] [LOOPS sources...]): for the sources of a target that is compiled with the flags of
# LLVM, but for those with the property SKIP_PRECOMPILE_HEADERS. QUICK: they are compiled with MCT_QUICK_OPTIONS, but for LOOPS.
# Unlike target_precompile_headers(REUSE_FROM) it passes no path that ccache does not make relative.
function(mct_use_precompiled_header name)
  cmake_parse_arguments(ARG "QUICK" "" "LOOPS" ${ARGN})
  set(options)
  if(MCT_PRECOMPILED_HEADER)
    set(options -Winvalid-pch -include-pch ${MCT_COMPILED_HEADER})
  endif()
  set(quick ${options})
  if(ARG_QUICK AND MCT_QUICK_OPTIONS)
    list(APPEND quick ${MCT_QUICK_OPTIONS})
    if(MCT_PRECOMPILED_HEADER)
      # The level of optimization is no part of a header but of how it is checked; code is the same as with a header of the
      # same level. Ninja knows when the header is out of date.
      list(APPEND quick -Xclang -fno-validate-pch)
    endif()
  endif()
  get_target_property(sources ${name} SOURCES)
  foreach(source ${sources})
    get_source_file_property(skips ${source} SKIP_PRECOMPILE_HEADERS)
    if(source MATCHES "[.]cpp$" AND NOT skips)
      # Several targets of a folder may share a source.
      set_property(SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
      if(source IN_LIST ARG_LOOPS)
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${options})
      else()
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${quick})
      endif()
      set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${MCT_COMPILED_HEADER})
    endif()
  endforeach()
  if(NOT MCT_PRECOMPILED_HEADER)
    return()
  endif()
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # CMake would add -fPIE; clang takes a precompiled header only for the code model that it was made for. LLVM's flags
    # have -fPIC.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
endfunction()

# What provides MLIR and LLVM. The archives are for the Python module of a wheel alone, which then has only what it reaches;
# the linker takes what is missing from any of them, in whatever order they come. libzstd by its file name: its headers are
# not needed.
option(MCT_STATIC_MLIR "Link the archives of MLIR and LLVM into the Python module, and build no tool" OFF)
set(MCT_MLIR MLIR LLVM)
set(MCT_LLVM LLVM)
if(MCT_STATIC_MLIR)
  file(GLOB mct_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER mct_archives EXCLUDE REGEX "libMLIRCAPI|[Tt]est")
  add_library(MctStaticMlir INTERFACE IMPORTED GLOBAL)
  target_link_libraries(MctStaticMlir INTERFACE ${mct_archives} z -l:libzstd.so.1 tinfo)
  set(MCT_MLIR MctStaticMlir)
  set(MCT_LLVM MctStaticMlir)
endif()

# mct_add_library(NAME [NO_MLIR] sources... [LOOPS sources...] [DEPENDS tablegen targets...] [LINK libraries...])
# A static library of ours: no exceptions, installed and exported. MLIR and LLVM come from the dylibs only, but in a wheel.
# LOOPS: sources with loops over the values of tensors; others with MLIR are compiled with MCT_QUICK_OPTIONS.
function(mct_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LOOPS;DEPENDS;LINK" ${ARGN})
  mct_batch_sources(sources ${name} ${ARG_UNPARSED_ARGUMENTS})
  mct_batch_sources(loops ${name}Loops ${ARG_LOOPS})
  add_library(${name} STATIC ${sources} ${loops})
  llvm_update_compile_flags(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PUBLIC ${MCT_MLIR})
    mct_use_precompiled_header(${name} QUICK LOOPS ${loops})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${name} EXPORT MctTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# mct_add_passes(TARGET Passes.td NAME prefix): pass declarations and definitions beside the .td's build folder.
function(mct_add_passes target td)
  cmake_parse_arguments(ARG "" "NAME" "" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${ARG_NAME})
  add_public_tablegen_target(${target})
  get_filename_component(doc ${ARG_NAME} NAME)
  add_mlir_doc(Passes ${doc}Passes ./ -gen-pass-doc)
  add_dependencies(mct-docs ${doc}PassesDocGen)
endfunction()

# mct_tablegen(OUTPUT): what mct-tblgen makes of ${LLVM_TARGET_DEFINITIONS}.
set(MCT_TABLEGEN_EXE $<TARGET_FILE:mct-tblgen>)
set(MCT_TABLEGEN_TARGET mct-tblgen)
function(mct_tablegen output)
  tablegen(MCT ${output})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} ${CMAKE_CURRENT_BINARY_DIR}/${output} PARENT_SCOPE)
endfunction()

# mct_add_tool(NAME sources... [PLUGINS] [LINK libraries...]); PLUGINS: dialect plugins share what is linked into it.
function(mct_add_tool name)
  cmake_parse_arguments(ARG "PLUGINS" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  mct_use_precompiled_header(${name} QUICK)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
                        INSTALL_RPATH_USE_LINK_PATH TRUE ENABLE_EXPORTS ${ARG_PLUGINS})
  install(TARGETS ${name} EXPORT MctTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

set(MCT_TEST_OBJECTS "" CACHE PATH
    "Build folder whose objects of unit tests are linked, where only what they test is compiled with other options")

# mct_take_test_objects(RESULT NAME sources...): in place of the sources of a test, the objects that MCT_TEST_OBJECTS has of
# them; without such a folder the sources.
function(mct_take_test_objects result name)
  set(${result} ${ARGN} PARENT_SCOPE)
  if(NOT MCT_TEST_OBJECTS)
    return()
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE folder)
  set(objects)
  foreach(source ${ARGN})
    cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR ${source} generated)
    if(generated) # by mct_batch_sources
      cmake_path(GET source FILENAME source)
    endif()
    list(APPEND objects ${MCT_TEST_OBJECTS}/${folder}/CMakeFiles/${name}.dir/${source}.o)
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# mct_add_test_library(NAME [NO_MLIR] sources... [LINK libraries...]): what several of the binaries below are made of.
function(mct_add_test_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK" ${ARGN})
  set(sources ${ARG_UNPARSED_ARGUMENTS})
  if(NOT ARG_NO_MLIR)
    mct_batch_sources(sources ${name} ${sources})
  endif()
  mct_take_test_objects(sources ${name} ${sources})
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${sources})
  llvm_update_compile_flags(${name})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(NOT ARG_NO_MLIR)
    mct_use_precompiled_header(${name})
  endif()
  target_include_directories(${name} INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# mct_add_unittest(NAME [NO_MLIR] [SEPARATE] sources... [LINK libraries...]): a GoogleTest binary in build/unit. SEPARATE: its
# sources, which define the same names, are compiled one by one.
function(mct_add_unittest name)
  cmake_parse_arguments(ARG "NO_MLIR;SEPARATE" "" "LINK" ${ARGN})
  set(sources ${ARG_UNPARSED_ARGUMENTS})
  if(NOT ARG_NO_MLIR AND NOT ARG_SEPARATE)
    # A test takes several times as long as a source of a library.
    math(EXPR MCT_UNITY_BATCH "(${MCT_UNITY_BATCH} + 11) / 12")
    mct_batch_sources(sources ${name} ${sources})
  endif()
  mct_take_test_objects(sources ${name} ${sources})
  add_executable(${name} EXCLUDE_FROM_ALL ${sources})
  llvm_update_compile_flags(${name})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(NOT ARG_NO_MLIR)
    mct_use_precompiled_header(${name} QUICK)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MctTestPaths GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unit)
  add_dependencies(mct-unit-tests ${name})
endfunction()

# mct_add_benchmark(NAME [NO_MLIR] sources... [LINK libraries...]): a Google Benchmark binary in build/bench.
function(mct_add_benchmark name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  if(NOT ARG_NO_MLIR)
    mct_use_precompiled_header(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MctTestPaths benchmark::benchmark benchmark::benchmark_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(mct-benchmarks ${name})
endfunction()

# Headers, generated headers and the package files that find_package(Mct) reads.
function(mct_install_package)
  include(CMakePackageConfigHelpers)
  foreach(root ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    install(DIRECTORY ${root}/include/mct DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
            FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
    install(DIRECTORY ${root}/tpc_dialect DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
            FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mct)
  install(EXPORT MctTargets NAMESPACE Mct:: DESTINATION ${package_dir})
  configure_package_config_file(${CMAKE_SOURCE_DIR}/tools/cmake/MctConfig.cmake.in ${CMAKE_BINARY_DIR}/MctConfig.cmake
                                INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/MctConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/MctConfig.cmake ${CMAKE_BINARY_DIR}/MctConfigVersion.cmake
          ${CMAKE_SOURCE_DIR}/tools/cmake/MctDependencies.cmake DESTINATION ${package_dir})
endfunction()
