#include "fourhold/model/hf_misspelled.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fourhold/model/catalogue.h"
#include "fourhold/model/load_model.h"
#include "tests/unit/model/read_config.h"

namespace fourhold::model {
namespace {

constexpr const char* kSlip = "is it meant to be";

ModelConfig llama_with(const std::string& fields) {
  return read_config(R"({"model_type": "llama", )" + fields + "}");
}

TEST(HfMisspelled, AFieldThatIsNearlyOneThatIsAbsentIsNoted) {
  struct Slip {
    std::string written;
    std::string meant;
  };
  const std::vector<Slip> slips{{"num_hidden_layer", "num_hidden_layers"},
                                {"hiden_size", "hidden_size"},
                                {"vocabsize", "vocab_size"},
                                {"intermediate_sizes", "intermediate_size"},
                                {"numHiddenLayers", "num_hidden_layers"}};
  for (const Slip& slip : slips) {
    const ModelConfig config = llama_with("\"" + slip.written + "\": 8");
    EXPECT_TRUE(has_note(config, slip.written +
                                     " is no field of this model type and is not read: "
                                     "is it meant to be " +
                                     slip.meant))
        << slip.written;
  }
}

TEST(HfMisspelled, AFieldBesideTheRightOneIsPassedOver) {
  EXPECT_FALSE(has_note(llama_with(R"("hidden_size": 4096, "hiden_size": 8)"), kSlip));
}

// Fields of published files that change no count.
TEST(HfMisspelled, UsualFieldsWithoutACountArePassedOver) {
  EXPECT_FALSE(has_note(
      llama_with(
          R"("torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
                    "transformers_version": "4.40", "auto_map": {}, "use_cache": true,
                    "pretraining_tp": 1, "rope_theta": 1e4, "initializer_range": 0.02,
                    "output_router_logits": false, "max_window_layers": 28, "unk_token_id": 0,
                    "use_sliding_window": false, "is_llama_config": true, "n_ctx": 2048,
                    "mlp_only_layers": [], "router_aux_loss_coef": 0.01, "layer_norm_eps": 1e-5)"),
      kSlip));
}

TEST(HfMisspelled, NoPublishedModelIsNoted) {
  std::size_t read = 0;
  for (const std::string_view name : catalogue_names()) {
    try {
      const ModelConfig config = load_model(std::string(name));
      EXPECT_FALSE(has_note(config, kSlip)) << name;
      ++read;
    } catch (const Error&) {  // the one that is known not to be countable
    }
  }
  EXPECT_GE(read, 45U);
}

TEST(HfMisspelled, WhereTheFieldItselfIsMissingTheHintNamesIt) {
  const Error error = refused_config(R"({"model_type": "mamba2lm", "vocab_size": 32000,
      "hiden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
      "num_attention_heads": 32, "hidden_act": "silu", "rms_norm_eps": 1e-6})");
  EXPECT_NE(error.hint().find("hiden_size may be meant to be hidden_size"), std::string::npos)
      << error.hint();
}

}  // namespace
}  // namespace fourhold::model
