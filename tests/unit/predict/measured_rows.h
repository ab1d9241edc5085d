// Rows of measured runs, and the model, plan and cluster that each states.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fourhold/base/error.h"
#include "fourhold/hardware/catalogue.h"
#include "fourhold/hardware/cluster.h"
#include "fourhold/model/hf_config.h"
#include "fourhold/plan/plan_request.h"

namespace fourhold::test {

using Row = std::map<std::string, std::string>;

// The fields of one line of CSV; a field in quotes may hold commas.
inline std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back().push_back(c);
    }
  }
  return fields;
}

inline std::vector<Row> read_rows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = csv_fields(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    Row row;
    for (std::size_t i = 0; i < fields.size() && i < header.size(); ++i) row[header[i]] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

inline std::int64_t integer(const Row& row, const std::string& field) {
  return std::strtoll(row.at(field).c_str(), nullptr, 10);
}
inline double number(const Row& row, const std::string& field) {
  return std::strtod(row.at(field).c_str(), nullptr);
}

// The first needed fact that the row does not state, or "".
inline std::string missing_fact(const Row& row) {
  for (const char* field : {"step_time_s", "layers", "hidden", "heads", "seq_len", "num_gpus", "tp",
                            "pp", "micro_batch", "global_batch"}) {
    if (row.at(field).empty()) return std::string(field) + " is not published";
  }
  return "";
}

// A GPT of that shape with the padded vocabulary of 51,200 rows where it is not published.
inline model::ModelConfig gpt_of(const Row& row, double dropout) {
  const std::int64_t vocab = row.at("vocab").empty() ? 51200 : integer(row, "vocab");
  return model::read_hf_config(
      fmt::format(R"({{"model_type":"gpt2","n_embd":{},"n_layer":{},"n_head":{},"n_positions":{},)"
                  R"("n_inner":{},"vocab_size":{},"resid_pdrop":{},"embd_pdrop":{},)"
                  R"("attn_pdrop":{}}})",
                  row.at("hidden"), row.at("layers"), row.at("heads"), row.at("seq_len"),
                  row.at("ffn"), vocab, dropout, dropout, dropout),
      row.at("id"));
}

inline int zero_stage(const Row& row) {
  const std::string& sharding = row.at("sharding");  // "zero3", "none" ...
  return sharding.rfind("zero", 0) == 0 ? sharding[4] - '0' : 0;
}

inline plan::PlanRequest request_of(const Row& row) {
  plan::PlanRequest request;
  request.tp = integer(row, "tp");
  request.pp = integer(row, "pp");
  request.sp = row.at("notes").find("sequence parallel on") != std::string::npos;
  if (!row.at("vpp").empty()) request.vpp = integer(row, "vpp");
  request.dp = integer(row, "dp");
  request.micro_batch = integer(row, "micro_batch");
  request.global_batch = integer(row, "global_batch");
  request.seq = integer(row, "seq_len");
  request.recompute = plan::recompute_from_string(row.at("recompute"));
  request.zero = zero_stage(row);
  return request;
}

}  // namespace fourhold::test
