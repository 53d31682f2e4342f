# What build scripts include for kernels: libraries and device binaries from sources in which host and device code are mixed.
# The commands are those of the Ascend C guide, "kernels launched from a sample project".

get_filename_component(TOPROPE_HOME "${CMAKE_CURRENT_LIST_DIR}/../.." REALPATH)
find_program(TOPROPE_COMMAND toprope HINTS "${TOPROPE_HOME}/bin" NO_CMAKE_FIND_ROOT_PATH)
if(NOT TOPROPE_COMMAND)
  message(FATAL_ERROR "ascendc.cmake: no command toprope in ${TOPROPE_HOME}/bin or in PATH")
endif()
if(RUN_MODE AND NOT RUN_MODE STREQUAL "npu")
  message(FATAL_ERROR "ascendc.cmake: RUN_MODE ${RUN_MODE} is not built; npu is what this tree stands for")
endif()
if(NOT ASCEND_CANN_PACKAGE_PATH)
  set(ASCEND_CANN_PACKAGE_PATH "${TOPROPE_HOME}")
endif()

# Programs and libraries of this folder that have kernels in them are linked by the same command, which makes their device binary.
# It leaves the others to the compiler.
foreach(rule CMAKE_CXX_LINK_EXECUTABLE CMAKE_CXX_CREATE_SHARED_LIBRARY)
  if(${rule} AND NOT ${rule} MATCHES " c\\+\\+ ")
    string(REPLACE "<CMAKE_CXX_COMPILER>"
           "\"${CMAKE_COMMAND}\" -E env \"CXX=${CMAKE_CXX_COMPILER}\" \"${TOPROPE_COMMAND}\" c++"
           ${rule} "${${rule}}")
  endif()
endforeach()

# Objects of `sources` in the variable `objects`, each by `toprope c++` with what is set on `target`, now or later.
function(_toprope_objects target objects)
  set(made "")
  foreach(source IN LISTS ARGN)
    get_filename_component(path "${source}" ABSOLUTE)
    string(MD5 key "${path}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.kernels/${key}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.kernels"
      COMMAND "${CMAKE_COMMAND}" -E env "CXX=${CMAKE_CXX_COMPILER}" "${TOPROPE_COMMAND}" c++ -c -fPIC
              -O2 "$<$<CONFIG:Debug>:-g>" ${_toprope_settings} "${path}" -o "${object}"
      DEPENDS "${path}"
      COMMENT "Building kernels of ${source}"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND made "${object}")
  endforeach()
  set(${objects} "${made}" PARENT_SCOPE)
endfunction()

# What was set on `target` and on its folder, as compiler options.
macro(_toprope_settings_of target)
  set(_includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(_definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(_toprope_settings
      "$<$<BOOL:${_includes}>:-I$<JOIN:${_includes},$<SEMICOLON>-I>>"
      "$<$<BOOL:${_definitions}>:-D$<JOIN:${_definitions},$<SEMICOLON>-D>>"
      "$<TARGET_PROPERTY:${target},TOPROPE_OPTIONS>")
endmacro()

# ascendc_library(target [STATIC | SHARED] source...)
function(ascendc_library target)
  set(sources ${ARGN})
  set(kind STATIC)
  list(GET sources 0 first)
  if(first STREQUAL "STATIC" OR first STREQUAL "SHARED")
    set(kind ${first})
    list(REMOVE_AT sources 0)
  endif()
  _toprope_settings_of(${target})
  _toprope_objects(${target} objects ${sources})
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PUBLIC "${TOPROPE_HOME}/lib64/libascendcl.so")
endfunction()

# ascendc_fatbin_library(target source...): a device binary, installed as fatbin/target/target.o
function(ascendc_fatbin_library target)
  set(binary "${CMAKE_CURRENT_BINARY_DIR}/${target}.o")
  # Include folders and definitions of the project reach libraries only.
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.settings.cpp" "")
  add_library(${target}_settings STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.settings.cpp")
  _toprope_settings_of(${target}_settings)
  set(paths "")
  foreach(source IN LISTS ARGN)
    get_filename_component(path "${source}" ABSOLUTE)
    list(APPEND paths "${path}")
  endforeach()
  add_custom_command(
    OUTPUT "${binary}"
    COMMAND "${CMAKE_COMMAND}" -E env "CXX=${CMAKE_CXX_COMPILER}" "${TOPROPE_COMMAND}" c++ --device-only
            -O2 "$<$<CONFIG:Debug>:-g>" ${_toprope_settings} ${paths} -o "${binary}"
    DEPENDS ${paths}
    COMMENT "Building device binary ${target}.o"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${binary}")
  install(FILES "${binary}" DESTINATION "fatbin/${target}")
endfunction()

# The target that carries the settings of `target`.
function(_toprope_carrier target carrier)
  if(TARGET ${target}_settings)
    set(${carrier} ${target}_settings PARENT_SCOPE)
  elseif(TARGET ${target})
    set(${carrier} ${target} PARENT_SCOPE)
  else()
    message(FATAL_ERROR "ascendc.cmake: no target ${target}")
  endif()
endfunction()

# ascendc_compile_definitions(target [PRIVATE] definition...)
function(ascendc_compile_definitions target)
  set(definitions ${ARGN})
  list(REMOVE_ITEM definitions PRIVATE)
  foreach(definition IN LISTS definitions)
    if(definition MATCHES "^(-D)?HAVE_WORKSPACE")
      message(FATAL_ERROR "ascendc.cmake: HAVE_WORKSPACE is not built yet (scalar kernels have no system workspace)")
    endif()
  endforeach()
  list(TRANSFORM definitions REPLACE "^-D" "")
  _toprope_carrier(${target} carrier)
  set_property(TARGET ${carrier} APPEND PROPERTY COMPILE_DEFINITIONS ${definitions})
endfunction()

# ascendc_include_directories(target [PRIVATE] folder...)
function(ascendc_include_directories target)
  set(folders ${ARGN})
  list(REMOVE_ITEM folders PRIVATE)
  foreach(folder IN LISTS folders)
    get_filename_component(path "${folder}" ABSOLUTE)
    _toprope_carrier(${target} carrier)
    set_property(TARGET ${carrier} APPEND PROPERTY INCLUDE_DIRECTORIES "${path}")
  endforeach()
endfunction()

# ascendc_compile_options(target PRIVATE option...): both halves take the same ones here.
function(ascendc_compile_options target)
  set(options ${ARGN})
  list(REMOVE_ITEM options PRIVATE -forward-options-to-host-compiler)
  _toprope_carrier(${target} carrier)
  set_property(TARGET ${carrier} APPEND PROPERTY TOPROPE_OPTIONS ${options})
endfunction()
