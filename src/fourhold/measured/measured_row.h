// One published measurement: a row of the CSV schema that data/measured/SOURCES.md describes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fourhold/measured/csv.h"

namespace fourhold::measured {

// A blank is a fact that was not published: "" or no value.
struct MeasuredRow {
  std::string id;  // "<family>-<number>"
  std::string source;
  std::string framework;
  std::string framework_version;
  std::string model;
  std::optional<double> params_b;
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> hidden;
  std::optional<std::int64_t> heads;
  std::optional<std::int64_t> kv_heads;
  std::optional<std::int64_t> head_dim;  // no column: of models.csv, where it is not hidden / heads
  std::optional<std::int64_t> ffn;       // of one routed expert where there are experts
  std::optional<std::int64_t> vocab;
  std::optional<std::int64_t> experts;
  std::optional<std::int64_t> active_experts;
  std::optional<std::int64_t> seq_len;
  std::string gpu;
  std::optional<double> gpu_mem_gib;  // as marketed
  std::optional<std::int64_t> num_gpus;
  std::optional<std::int64_t> tp;
  std::optional<std::int64_t> pp;
  std::optional<std::int64_t> vpp;
  std::optional<std::int64_t> cp;
  std::optional<std::int64_t> ep;
  std::optional<std::int64_t> dp;
  std::string sharding;
  std::string offload;
  std::optional<std::int64_t> micro_batch;
  std::optional<std::int64_t> grad_accum;
  std::optional<std::int64_t> global_batch;
  std::string precision;
  std::string optimizer;
  std::string recompute;
  std::string attention_impl;
  std::string compile;
  std::string peft;
  std::optional<double> peak_mem_gib_allocated;
  std::optional<double> peak_mem_gib_reserved;
  std::optional<bool> oom;  // yes: published as not fitting
  std::optional<double> tokens_per_s_per_gpu;
  std::optional<double> tflops_per_gpu;
  std::optional<double> mfu_pct;
  std::optional<double> hfu_pct;
  std::optional<double> step_time_s;
  std::string notes;

  // What no plan can be made of although it is a number ("grad_accum 2.5"): a reason to skip the
  // row, not to refuse its file.
  std::vector<std::string> unusable;

  // The `key=value` facts of `notes`.
  std::map<std::string, std::string, std::less<>> facts;

  // "aleph" for "aleph-0001".
  [[nodiscard]] std::string_view family() const;
  // The fact's value, or "".
  [[nodiscard]] std::string_view fact(std::string_view key) const;
  [[nodiscard]] bool is_on(std::string_view key) const { return fact(key) == "true"; }
  [[nodiscard]] bool says(std::string_view words) const;  // in its notes
};

// Calls visit(column name, field) for every column, in the order of the header.
template <class Visitor, class Row>
void visit_columns(Visitor&& visit, Row& row) {
  visit("id", row.id);
  visit("source", row.source);
  visit("framework", row.framework);
  visit("framework_version", row.framework_version);
  visit("model", row.model);
  visit("params_b", row.params_b);
  visit("layers", row.layers);
  visit("hidden", row.hidden);
  visit("heads", row.heads);
  visit("kv_heads", row.kv_heads);
  visit("ffn", row.ffn);
  visit("vocab", row.vocab);
  visit("experts", row.experts);
  visit("active_experts", row.active_experts);
  visit("seq_len", row.seq_len);
  visit("gpu", row.gpu);
  visit("gpu_mem_gib", row.gpu_mem_gib);
  visit("num_gpus", row.num_gpus);
  visit("tp", row.tp);
  visit("pp", row.pp);
  visit("vpp", row.vpp);
  visit("cp", row.cp);
  visit("ep", row.ep);
  visit("dp", row.dp);
  visit("sharding", row.sharding);
  visit("offload", row.offload);
  visit("micro_batch", row.micro_batch);
  visit("grad_accum", row.grad_accum);
  visit("global_batch", row.global_batch);
  visit("precision", row.precision);
  visit("optimizer", row.optimizer);
  visit("recompute", row.recompute);
  visit("attention_impl", row.attention_impl);
  visit("compile", row.compile);
  visit("peft", row.peft);
  visit("peak_mem_gib_allocated", row.peak_mem_gib_allocated);
  visit("peak_mem_gib_reserved", row.peak_mem_gib_reserved);
  visit("oom", row.oom);
  visit("tokens_per_s_per_gpu", row.tokens_per_s_per_gpu);
  visit("tflops_per_gpu", row.tflops_per_gpu);
  visit("mfu_pct", row.mfu_pct);
  visit("hfu_pct", row.hfu_pct);
  visit("step_time_s", row.step_time_s);
  visit("notes", row.notes);
}

// Reads rows one by one. The header may have its columns in any order, but all of them.
class RowReader {
 public:
  // Throws Error with file:line:column for a header that is missing, lacks a column, or has one
  // that is not known (with the nearest name) or stands twice. `text` must outlive the reader.
  RowReader(std::string_view text, const std::string& where);

  // False at the end. Throws Error with file:line:column for a record of another length, a number
  // that is none or negative, an `oom` that is neither yes, no nor blank, and a blank id.
  bool next(MeasuredRow& row);

 private:
  CsvReader reader_;
  std::vector<CsvField> record_;
  std::vector<std::size_t> column_of_;  // where in a record each column of the schema stands
};

// All rows of a file. Throws Error as RowReader, and for an id that stands twice.
[[nodiscard]] std::vector<MeasuredRow> parse_rows(std::string_view text, const std::string& where);

}  // namespace fourhold::measured
