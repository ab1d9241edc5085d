# MPI for the engine's ranks: AUTO takes it where it is found, ON requires it, OFF leaves it out.
# Sets FOURHOLD_MPI_FOUND, and gives the target MPI::MPI_CXX.
#
# Where Open MPI and MPICH are both installed, which of them mpicxx means is up to the machine's
# alternatives. The build asks for Open MPI by its own name, unless MPI_CXX_COMPILER says otherwise.
set(FOURHOLD_MPI AUTO CACHE STRING "Build the engine with MPI: AUTO, ON or OFF")
set_property(CACHE FOURHOLD_MPI PROPERTY STRINGS AUTO ON OFF)
if(NOT FOURHOLD_MPI MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "FOURHOLD_MPI is AUTO, ON or OFF, not '${FOURHOLD_MPI}'")
endif()

set(FOURHOLD_MPI_FOUND FALSE)
if(NOT FOURHOLD_MPI STREQUAL "OFF")
  find_program(MPI_CXX_COMPILER NAMES mpicxx.openmpi mpic++.openmpi
               DOC "MPI compiler wrapper for C++")
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.openmpi mpirun.openmpi
               DOC "Executable for running MPI programs")
  # FindMPI takes what was found, and looks for itself where nothing was.
  foreach(name MPI_CXX_COMPILER MPIEXEC_EXECUTABLE)
    if(NOT ${name})
      unset(${name} CACHE)
    endif()
  endforeach()
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the bindings for C++ that MPI gave up
  find_package(MPI QUIET COMPONENTS CXX)
  set(FOURHOLD_MPI_FOUND ${MPI_CXX_FOUND})
  if(NOT FOURHOLD_MPI_FOUND AND FOURHOLD_MPI STREQUAL "ON")
    message(FATAL_ERROR "FOURHOLD_MPI=ON, but no MPI was found: install libopenmpi-dev and "
                        "openmpi-bin, or name a wrapper with -DMPI_CXX_COMPILER=...")
  endif()
endif()
if(FOURHOLD_MPI_FOUND)
  message(STATUS "MPI: ${MPI_CXX_COMPILER}")
else()
  message(STATUS "MPI: not used, the engine runs one rank")
endif()
