// What a wrong program raises, so that the test that runs it fails and says where.
#pragma once

#include <stdexcept>

namespace fourhold::interpreter {

class ProgramFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace fourhold::interpreter
