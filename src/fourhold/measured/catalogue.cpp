#include "fourhold/measured/catalogue.h"

#include "fourhold/model/load_model.h"

namespace fourhold::measured {

const model::ModelConfig& Catalogue::model(const std::string& name) {
  return found(models_, name, [&name] { return model::load_model(name); });
}

}  // namespace fourhold::measured
