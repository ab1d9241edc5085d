// Uses the installed libraries: a header of the lowest floor, and code behind it.
#include <iostream>

#include "fourhold/base/json.h"
#include "fourhold/base/version.h"

int main() {
  const fourhold::json::Value value = fourhold::json::parse(R"({"layers": 32})", "text");
  std::cout << "fourhold " << fourhold::build_info().version << ", "
            << value.find("layers")->integer() << " layers\n";
  return value.find("layers")->integer() == 32 ? 0 : 1;
}
