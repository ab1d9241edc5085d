#include "tests/torch/torch_run.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "fourhold/base/json.h"
#include "fourhold/base/text_file.h"
#include "fourhold/engine/checkpoint/published_reader.h"
#include "fourhold/engine/kernels/isa.h"

namespace fourhold::engine::torch_oracle {
namespace {

json::Value array_of(const std::vector<std::int64_t>& numbers) {
  json::Array array;
  for (const std::int64_t number : numbers) array.emplace_back(number);
  return array;
}

std::string text_of(const TorchJob& job) {
  json::Array points;
  for (const std::string& folder : job.points) points.emplace_back(folder);
  json::Array batches;
  for (const auto& batch : job.batches) batches.push_back(array_of(batch));
  const StepOptions options = step_options();
  const Hyperparameters& own = options.hyperparameters;
  const json::Object training{{"weights", job.start},
                              {"batches", batches},
                              {"lr", options.schedule.peak},
                              {"min_lr", options.schedule.minimum},
                              {"warm_up", options.schedule.warm_up_steps},
                              {"beta1", own.beta1},
                              {"beta2", own.beta2},
                              {"epsilon", own.epsilon},
                              {"weight_decay", own.weight_decay},
                              {"clip", options.clip_norm}};
  return json::write(
      json::Object{{"precision", plan::kPrecisionNames[static_cast<std::size_t>(job.precision)]},
                   {"tokens", job.tokens},
                   {"seq", kSeq},
                   {"points", points},
                   {"batch", array_of(job.batch)},
                   {"logits", kMicroBatch},
                   {"training", training},
                   {"out", job.out}});
}

// OpenBLAS 0.3.21 does not know every newer CPU; named, it has kernels of their width.
std::string blas_core() {
  if (best_isa() >= Isa::avx512) return "OPENBLAS_CORETYPE=SkylakeX ";
  return best_isa() == Isa::avx2 ? "OPENBLAS_CORETYPE=Haswell " : "";
}

void run_script(const std::string& job_path) {
  const std::string command =
      "env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 " + blas_core() +
      "/usr/bin/python3 '" FOURHOLD_SOURCE_DIR "/tests/torch/reference.py' '" + job_path + "' 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no process can be started: " + command);
  std::string said;
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) said += piece.data();
  if (pclose(pipe) != 0) throw std::runtime_error("torch did not answer: " + said);
}

Gradients read_gradients(const std::string& path, const model::ModelConfig& config) {
  const WeightFiles files(path);
  const PublishedWeights stored(files.tensors(), config, path);
  Gradients gradients;
  for (const model::PublishedTensor& tensor : model::published_tensors(config)) {
    for (const model::PublishedPart& part : tensor.parts) {
      std::vector<float>& own = gradients[to_string(part.id)];
      own.resize(static_cast<std::size_t>(part.size.elements()));
      stored.read(part.id, Tensor{reinterpret_cast<std::byte*>(own.data()), DType::fp32,
                                  Dims{part.size.elements()}});
    }
  }
  return gradients;
}

// Logits less the log-sum-exp of their row.
std::vector<double> read_log_probabilities(const std::string& path) {
  const WeightFiles files(path);
  const std::span<const std::byte> bytes = files.tensors().at(0).bytes;
  std::vector<float> logits(static_cast<std::size_t>(kMicroBatch * kSeq * kVocabulary));
  if (bytes.size() != logits.size() * sizeof(float)) throw std::runtime_error(path + ": size");
  std::memcpy(logits.data(), bytes.data(), bytes.size());
  std::vector<double> result(logits.begin(), logits.end());
  for (auto row = result.begin(); row != result.end(); row += kVocabulary) {
    double sum = 0;
    for (auto at = row; at != row + kVocabulary; ++at) sum += std::exp(*at);
    for (auto at = row; at != row + kVocabulary; ++at) *at -= std::log(sum);
  }
  return result;
}

}  // namespace

TorchResult run_torch(const TorchJob& job, const model::ModelConfig& config) {
  const std::string job_path = job.out + "/job.json";
  std::ofstream(job_path) << text_of(job);
  run_script(job_path);
  const json::Value answer =
      json::parse(read_text_file(job.out + "/result.json", 1 << 20), "result.json");
  TorchResult result;
  for (const json::Value& point : answer.find("points")->array()) {
    const std::string number = std::to_string(result.points.size());
    result.points.push_back(
        {.loss = point.find("loss")->number(),
         .gradients = read_gradients(job.out + "/gradients-" + number + ".safetensors", config),
         .log_probabilities =
             read_log_probabilities(job.out + "/logits-" + number + ".safetensors")});
  }
  for (const json::Value& step : answer.find("steps")->array()) {
    result.steps.push_back({step.find("loss")->number(), step.find("norm")->number()});
  }
  return result;
}

}  // namespace fourhold::engine::torch_oracle
