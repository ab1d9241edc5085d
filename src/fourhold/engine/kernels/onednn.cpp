#include "fourhold/engine/kernels/onednn.h"

#include <omp.h>

#include <cassert>
#include <dnnl.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fourhold/engine/kernels/gemm_operand.h"

namespace fourhold::engine {
namespace {

using dnnl::memory;

// oneDNN runs with OpenMP's current number of threads, when preparing as when running.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

memory::data_type type_of(DType dtype) {
  return dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::desc matrix(std::int64_t rows, std::int64_t columns, DType dtype) {
  return {{rows, columns}, type_of(dtype), memory::dims{columns, 1}};
}

// An operand seen as [outer, depth] or, for the right one, as [depth, outer].
enum class Side : std::uint8_t { left, right };
memory::desc operand_matrix(const GemmOperand& operand, std::int64_t outer, std::int64_t depth,
                            Side side) {
  const bool along_depth = operand.contiguous == Contiguous::depth;
  const std::int64_t outer_stride = along_depth ? operand.stride : 1;
  const std::int64_t depth_stride = along_depth ? 1 : operand.stride;
  if (side == Side::left) {
    return {{outer, depth}, type_of(operand.dtype), memory::dims{outer_stride, depth_stride}};
  }
  return {{depth, outer}, type_of(operand.dtype), memory::dims{depth_stride, outer_stride}};
}

dnnl::matmul::primitive_desc describe(const GemmProblem& problem, const dnnl::engine& engine) {
  const plan::ProductSizes sizes = plan::product_sizes(problem.form, problem.sizes);
  const memory::desc left =
      operand_matrix(left_operand(problem, {}), sizes.rows, sizes.depth, Side::left);
  const memory::desc right =
      operand_matrix(right_operand(problem, {}), sizes.columns, sizes.depth, Side::right);
  const memory::desc output = matrix(sizes.rows, sizes.columns, problem.output);
  dnnl::post_ops after;
  if (problem.residual) {
    after.append_binary(dnnl::algorithm::binary_add,
                        matrix(sizes.rows, sizes.columns, *problem.residual));
  }
  if (problem.destination == Destination::accumulate) after.append_sum(1.0F);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (problem.bias) {
    return {{left, right, matrix(1, sizes.columns, *problem.bias), output}, attributes, engine};
  }
  return {{left, right, output}, attributes, engine};
}

class OnednnGemm final : public Gemm {
 public:
  OnednnGemm(const GemmProblem& problem, const dnnl::engine& engine,
             const dnnl::matmul::primitive_desc& description)
      : threads_(problem.threads), stream_(engine), matmul_(description) {
    const auto add = [&](int argument, const memory::desc& of) {
      arguments_.emplace(argument, memory(of, engine, nullptr));
    };
    add(DNNL_ARG_SRC, description.src_desc());
    add(DNNL_ARG_WEIGHTS, description.weights_desc());
    add(DNNL_ARG_DST, description.dst_desc());
    add(DNNL_ARG_SCRATCHPAD, description.scratchpad_desc());
    if (problem.bias) add(DNNL_ARG_BIAS, description.bias_desc());
    if (problem.residual) {
      const plan::ProductSizes sizes = plan::product_sizes(problem.form, problem.sizes);
      add(kResidual, matrix(sizes.rows, sizes.columns, *problem.residual));
    }
  }

  void run(const GemmOperands& operands, std::span<std::byte> scratch) const override {
    const ThreadCount count(threads_);
    set(DNNL_ARG_SRC, operands.left.data);
    set(DNNL_ARG_WEIGHTS, operands.right.data);
    set(DNNL_ARG_DST, operands.output.data);
    set(DNNL_ARG_SCRATCHPAD, scratch.data());
    if (arguments_.contains(DNNL_ARG_BIAS)) set(DNNL_ARG_BIAS, operands.bias.data);
    if (arguments_.contains(kResidual)) set(kResidual, operands.residual.data);
    matmul_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  static constexpr int kResidual = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

  void set(int argument, void* data) const { arguments_.at(argument).set_data_handle(data); }

  int threads_;
  mutable dnnl::stream stream_;
  dnnl::matmul matmul_;
  mutable std::unordered_map<int, memory> arguments_;
};

}  // namespace

OnednnPreparation onednn_gemm(const GemmProblem& problem) {
  const ThreadCount count(problem.threads);
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const dnnl::matmul::primitive_desc description = describe(problem, engine);
    const std::string_view implementation = description.impl_info_str();
    if (implementation.substr(0, 3) == "ref") {
      return {nullptr, 0, "has only reference loops for this on this machine"};
    }
    const auto scratch_bytes = static_cast<std::int64_t>(description.scratchpad_desc().get_size());
    return {std::make_unique<OnednnGemm>(problem, engine, description), scratch_bytes, {}};
  } catch (const dnnl::error& error) {
    return {nullptr, 0, std::string("cannot do this on this machine: ") + error.what()};
  }
}

}  // namespace fourhold::engine
