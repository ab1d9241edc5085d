// `fourhold stall`.
#include "fourhold/engine/optimizer/stall.h"
#include "fourhold/engine/checkpoint/saved_checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "apps/engine/verbs.h"
#include "apps/shell/output.h"
#include "fourhold/api/request.h"
#include "fourhold/api/stall.h"
#include "fourhold/base/quantity.h"
#include "fourhold/engine/checkpoint/safetensors_reader.h"
#include "fourhold/model/catalogue.h"
#include "fourhold/report/table.h"
#include "fourhold/report/text.h"

namespace fourhold::engine_app {
namespace {

DType dtype_of(api::StallFormat format) {
  switch (format) {
    case api::StallFormat::fp32:
      return DType::fp32;
    case api::StallFormat::fp16:
      return DType::fp16;
    case api::StallFormat::bf16:
      break;
  }
  return DType::bf16;
}

void require_weights(const std::string& path) {
  constexpr const char* kKinds = "name a .safetensors file, its .index.json, or a folder of them";
  if (path.empty()) throw Error("MODEL.safetensors", "is missing", kKinds);
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) {
    const bool built_in = model::catalogue_text(path).has_value();
    throw Error(
        "MODEL.safetensors",
        "'" + path + "' " +
            (built_in ? "is a built-in description, which has no weights" : "does not exist"),
        kKinds);
  }
  const std::string_view text(path);
  if (text.ends_with(".json") && !text.ends_with(".index.json")) {
    throw Error(path, "is neither weights nor an index of them", kKinds);
  }
  static_cast<void>(engine::own_checkpoint(path, engine::Verify::contents));
}

// Names of optimizer state end with "@" and its first element (engine/checkpoint/state_files.h).
bool is_optimizer_state(std::string_view name) {
  const std::size_t at = name.rfind('@');
  return at != std::string_view::npos && at + 1 < name.size() &&
         name.find_first_not_of("0123456789", at + 1) == std::string_view::npos;
}

void require_finite(const engine::TensorStall& stall, const engine::StoredBytes& stored) {
  if (!stall.first_not_a_weight) return;
  throw Error(stored.file,
              fmt::format("tensor {:.120} is not finite: element {}", stored.tensor.name,
                          format_count(*stall.first_not_a_weight)),
              "training went wrong before it was saved: use an earlier checkpoint");
}

struct NamedStall {
  std::string name;
  engine::TensorStall stall;
};

json::Value stall_json(const engine::TensorStall& stall) {
  return json::Object{{"updates", stall.count.updates},
                      {"lost", stall.count.lost},
                      {"lost_share", stall.count.share()},
                      {"elements", stall.elements},
                      {"nonfinite", stall.nonfinite}};
}

}  // namespace

ExitCode stall(const Question& question) {
  const auto request = api::request_of<api::StallRequest>(question.arguments);
  require_weights(request.model);
  if (!request.lr) {
    throw Error("--lr", "is missing", "give the learning rate of the updates, such as --lr 1e-5");
  }
  const DType dtype = dtype_of(request.dtype.value_or(api::StallFormat::bf16));
  const engine::StallAnalysis analysis({.dtype = dtype,
                                        .learning_rate = *request.lr,
                                        .weight_decay = request.weight_decay.value_or(0)});
  const engine::WeightFiles files(request.model);
  engine::TensorStall total;
  std::vector<NamedStall> tensors;
  std::vector<std::string> left_out;
  for (const engine::StoredBytes& stored : files.tensors()) {
    if (is_optimizer_state(stored.tensor.name)) {
      throw Error(stored.file, "is optimizer state, not weights",
                  "name the folder it stands in, or model.safetensors there");
    }
    if (!engine::holds_weights(stored.tensor.type)) {
      left_out.push_back(stored.tensor.name);
      continue;
    }
    tensors.push_back({stored.tensor.name, analysis.of(stored.bytes, stored.tensor.type)});
    require_finite(tensors.back().stall, stored);
    total += tensors.back().stall;
  }
  if (total.elements == 0) {
    throw Error(files.path(),
                left_out.empty() ? std::string("holds no tensors")
                                 : fmt::format("holds no weights: {:.120} and all else is of types "
                                               "that weights do not have",
                                               left_out.front()),
                "name the .safetensors file of a model");
  }
  if (total.nonfinite == total.elements) {
    throw Error("--dtype", fmt::format("no weight is finite in {}", to_string(dtype)),
                "choose bf16 or fp32, which hold larger numbers");
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const NamedStall& a, const NamedStall& b) {
    return a.stall.count.share() > b.stall.count.share();
  });
  if (question.form == api::Form::json) {
    json::Array list;
    for (const NamedStall& tensor : tensors) {
      json::Object object = stall_json(tensor.stall).object();
      object.insert(object.begin(), {"name", tensor.name});
      list.emplace_back(std::move(object));
    }
    shell::write_output(json::write(json::Object{{"schema", "fourhold.stall/1"},
                                                 {"dtype", to_string(dtype)},
                                                 {"learning_rate", *request.lr},
                                                 {"total", stall_json(total)},
                                                 {"tensors", std::move(list)}}) +
                        "\n");
    return ExitCode::done;
  }
  const auto say = [&question](const std::string& sentence) {
    return report::wrapped(sentence, question.screen.columns);
  };
  std::string text = say(fmt::format(
      "{:.2f}% of updates of size {:g} would change nothing in {} without a master copy",
      100 * total.count.share(), *request.lr, to_string(dtype)));
  text += say(fmt::format("{} weights in {}, each moved once up and once down",
                          format_count(total.elements),
                          counted(static_cast<std::int64_t>(tensors.size()), "tensor")));
  if (total.nonfinite > 0) {
    text += say(counted(total.nonfinite, "weight") + " not finite in this type");
  }
  for (const std::string& note : files.notes()) text += say("note: " + note);
  report::Table table({{"lost", report::Align::right},
                       {"weights", report::Align::right},
                       {"tensor", report::Align::left, report::WhenTight::wrap}});
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(tensors.size(), kShown); ++i) {
    table.add({fmt::format("{:.2f}%", 100 * tensors[i].stall.count.share()),
               format_count(tensors[i].stall.elements), tensors[i].name});
  }
  text += "\n" + table.text(question.screen);
  if (tensors.size() > kShown) {
    text += fmt::format("and {} more; --json lists all\n", tensors.size() - kShown);
  }
  if (!left_out.empty()) {
    text += say(fmt::format("left out, of types that weights do not have: {}, such as {:.120}",
                            counted(static_cast<std::int64_t>(left_out.size()), "tensor"),
                            left_out.front()));
  }
  shell::write_output(text);
  return ExitCode::done;
}

}  // namespace fourhold::engine_app
