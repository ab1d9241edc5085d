// What sources on PyTorch and JAX do otherwise than their profile.
#pragma once

#include "fourhold/measured/measured_row.h"
#include "fourhold/measured/row_draft.h"

namespace fourhold::measured {

// Eager PyTorch beside compiled: what activations keep, and each operation's passes and host time.
void run_each_operation(RowDraft& draft);

void refine_llm_foundry(const MeasuredRow& row, RowDraft& draft);
void refine_nanotron(const MeasuredRow& row, RowDraft& draft);
void refine_internevo(const MeasuredRow& row, RowDraft& draft);
void refine_qwen(const MeasuredRow& row, RowDraft& draft);
void refine_swift(const MeasuredRow& row, RowDraft& draft);
void refine_deepspeed(const MeasuredRow& row, RowDraft& draft);
void refine_fine_tuning(const MeasuredRow& row, RowDraft& draft);
void refine_torchtune(const MeasuredRow& row, RowDraft& draft);
void refine_litgpt(const MeasuredRow& row, RowDraft& draft);
void refine_maxtext(const MeasuredRow& row, RowDraft& draft);
void refine_graph(const MeasuredRow& row, RowDraft& draft);  // no host time: CUDA graphs, XLA
void refine_flash_paper(const MeasuredRow& row, RowDraft& draft);

}  // namespace fourhold::measured
