#include "fourhold/engine/checkpoint/initial_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/engine/checkpoint/element_copy.h"
#include "fourhold/engine/tensor/counter_random.h"

namespace fourhold::engine {
namespace {

using model::TensorName;

bool is_bias(TensorName name) { return to_string(name).ends_with("_bias"); }

bool is_norm_weight(TensorName name) {
  return to_string(name).ends_with("_weight") &&
         to_string(name).find("norm") != std::string_view::npos;
}

void check(const model::ModelConfig& config, double range) {
  if (!model::published_style(config.model_type).has_value()) {
    throw Error(config.name,
                fmt::format("the published initialisation of model type '{}' is not known here",
                            config.model_type),
                fmt::format("known are {}; other models can start from published weights",
                            fmt::join(model::published_model_types(), ", ")));
  }
  if (!(range > 0) || !std::isfinite(range)) {
    throw Error("initializer_range", fmt::format("is {}", range),
                "it is a deviation above 0, mostly 0.02");
  }
}

// The values of one parameter.
class Values {
 public:
  Values(const model::ModelConfig& config, const model::ParameterId& id,
         const Initialisation& initialisation)
      : deviation_(static_cast<float>(initial_deviation(config, id.name, initialisation.range))),
        mean_(is_norm_weight(id.name) ? 1.0F : 0.0F),
        random_(initialisation.seed, to_string(id)) {}

  // Of elements [begin, end).
  void fill(std::int64_t begin, std::int64_t end, DType dtype, std::byte* out) const {
    std::array<float, 256> values{};
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t count = std::min<std::int64_t>(std::int64_t{values.size()}, end - at);
      for (std::int64_t i = 0; i < count; ++i) {
        values[static_cast<std::size_t>(i)] =
            deviation_ == 0 ? mean_
                            : deviation_ * random_.normal(static_cast<std::uint64_t>(at + i));
      }
      copy_elements({reinterpret_cast<const std::byte*>(values.data()), DType::fp32, count},
                    {out + bytes_of(at - begin, dtype), dtype, count}, 1, count);
      at += count;
    }
  }

 private:
  float deviation_;
  float mean_;
  CounterRandom random_;
};

}  // namespace

double initial_deviation(const model::ModelConfig& config, TensorName name, double range) {
  check(config, range);
  if (is_bias(name) || is_norm_weight(name)) return 0;
  const bool residual = name == TensorName::o_weight || name == TensorName::down_weight;
  if (residual && model::published_style(config.model_type) == model::PublishedStyle::gpt2) {
    return range / std::sqrt(2.0 * static_cast<double>(config.layer_count()));
  }
  return range;
}

void fill_initial(const model::ModelConfig& config, const model::ParameterId& id,
                  const Initialisation& initialisation, std::int64_t begin, std::int64_t end,
                  DType dtype, std::byte* out) {
  Values(config, id, initialisation).fill(begin, end, dtype, out);
}

void fill_initial(const model::ModelConfig& config, const model::ParameterId& id,
                  const Initialisation& initialisation, const plan::ParameterPart& part,
                  DType dtype, std::byte* out) {
  const Values values(config, id, initialisation);
  for (std::int64_t at = part.begin; at < part.end;) {
    const plan::GlobalRun run = plan::run_at(part, at);
    values.fill(run.begin, run.begin + run.elements, dtype, out + bytes_of(at - part.begin, dtype));
    at += run.elements;
  }
}

}  // namespace fourhold::engine
