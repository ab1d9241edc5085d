// The words of a command line, told apart but not yet understood.
#pragma once

#include <string>
#include <vector>

namespace fourhold::api {

struct Arguments {
  struct Given {
    std::string flag;  // as in OptionInfo::flag: "--micro-batch"
    std::string text;
  };
  std::vector<std::string> operands;
  std::vector<Given> options;  // in the order of the command line, repetitions included
};

}  // namespace fourhold::api
