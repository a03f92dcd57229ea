#include "problem/tensor_names.h"

#include <gtest/gtest.h>

namespace tare::problem {
namespace {

std::string st(std::string_view name) {
  const TensorName read = read_safetensors_name(name);
  switch (read.role) {
    case Role::kProjection:
      return read.projection;
    case Role::kEmbedding:
      return "(embedding)";
    case Role::kExpert:
      return "(expert)";
    case Role::kOther:
      return "(other)";
  }
  return "";
}

std::string gguf(std::string_view name, std::string_view architecture = "llama") {
  const TensorName read = read_gguf_name(name, architecture);
  switch (read.role) {
    case Role::kProjection:
      return read.projection;
    case Role::kEmbedding:
      return "(embedding)";
    case Role::kExpert:
      return "(expert)";
    case Role::kOther:
      return "(other)";
  }
  return "";
}

TEST(TensorNames, Llama) {
  EXPECT_EQ(st("model.layers.0.self_attn.q_proj.weight"), "q");
  EXPECT_EQ(st("model.layers.11.self_attn.k_proj.weight"), "k");
  EXPECT_EQ(st("model.layers.0.self_attn.v_proj.weight"), "v");
  EXPECT_EQ(st("model.layers.0.self_attn.o_proj.weight"), "o");
  EXPECT_EQ(st("model.layers.0.mlp.gate_proj.weight"), "gate");
  EXPECT_EQ(st("model.layers.0.mlp.up_proj.weight"), "up");
  EXPECT_EQ(st("model.layers.0.mlp.down_proj.weight"), "down");
  EXPECT_EQ(st("lm_head.weight"), "lm_head");
  EXPECT_EQ(st("language_model.lm_head.weight"), "lm_head");
  EXPECT_EQ(st("model.embed_tokens.weight"), "(embedding)");
  EXPECT_EQ(st("model.layers.0.self_attn.q_proj.bias"), "(other)");
  EXPECT_EQ(st("model.layers.0.self_attn.q_proj.scales"), "(other)");
  EXPECT_EQ(st("model.layers.0.self_attn.q_proj.qweight"), "q");
}

TEST(TensorNames, FusedAndOriginalFiles) {
  EXPECT_EQ(st("model.layers.0.self_attn.qkv_proj.weight"), "qkv");
  EXPECT_EQ(st("model.layers.0.mlp.gate_up_proj.weight"), "gate_up");
  EXPECT_EQ(st("layers.0.attention.wq.weight"), "q");
  EXPECT_EQ(st("layers.0.feed_forward.w2.weight"), "down");
  EXPECT_EQ(st("output.weight"), "lm_head");
  EXPECT_EQ(st("tok_embeddings.weight"), "(embedding)");
}

TEST(TensorNames, Bert) {
  EXPECT_EQ(st("encoder.layer.0.attention.self.query.weight"), "q");
  EXPECT_EQ(st("encoder.layer.0.attention.self.key.weight"), "k");
  EXPECT_EQ(st("encoder.layer.0.attention.self.value.weight"), "v");
  EXPECT_EQ(st("encoder.layer.0.attention.output.dense.weight"), "o");
  EXPECT_EQ(st("encoder.layer.0.intermediate.dense.weight"), "up");
  EXPECT_EQ(st("encoder.layer.0.output.dense.weight"), "down");
  EXPECT_EQ(st("bert.embeddings.word_embeddings.weight"), "(other)");
  EXPECT_EQ(st("embeddings.position_embeddings.weight"), "(other)");
}

TEST(TensorNames, OthersGoByTheirLastParts) {
  EXPECT_EQ(st("pooler.dense.weight"), "pooler.dense");
  EXPECT_EQ(st("transformer.h.3.attn.c_attn.weight"), "attn.c_attn");
  EXPECT_EQ(st("0.weight"), "0");
  EXPECT_EQ(st("w"), "w");
  EXPECT_EQ(st(""), "");
  EXPECT_EQ(st("."), "(other)");
  EXPECT_EQ(st("a\x1b.b.weight"), "a\\u001b.b");
}

TEST(TensorNames, ExpertsAndOtherSenses) {
  EXPECT_EQ(st("model.layers.0.mlp.experts.7.gate_proj.weight"), "(expert)");
  EXPECT_EQ(st("model.layers.0.mlp.gate.weight"), "(expert)");
  EXPECT_EQ(st("model.layers.0.mlp.shared_expert.up_proj.weight"), "(expert)");
  EXPECT_EQ(st("model.layers.0.mlp.experts.gate_up_proj"), "(expert)");
  EXPECT_EQ(st("model.layers.0.block_sparse_moe.experts.3.w1.weight"), "(expert)");
  EXPECT_EQ(st("vision_tower.vision_model.encoder.layers.0.self_attn.q_proj.weight"), "(other)");
  EXPECT_EQ(st("multi_modal_projector.linear.weight"), "(other)");
}

TEST(TensorNames, Gguf) {
  EXPECT_EQ(gguf("blk.0.attn_q.weight"), "q");
  EXPECT_EQ(gguf("blk.10.attn_output.weight"), "o");
  EXPECT_EQ(gguf("blk.0.attn_qkv.weight"), "qkv");
  EXPECT_EQ(gguf("blk.0.ffn_gate.weight"), "gate");
  EXPECT_EQ(gguf("blk.0.ffn_up.weight"), "up");
  EXPECT_EQ(gguf("blk.0.ffn_up.weight", "phi3"), "gate_up");
  EXPECT_EQ(gguf("blk.0.ffn_down.weight"), "down");
  EXPECT_EQ(gguf("output.weight"), "lm_head");
  EXPECT_EQ(gguf("token_embd.weight"), "(embedding)");
  EXPECT_EQ(gguf("token_embd.weight", "nomic-bert"), "(other)");
  EXPECT_EQ(gguf("blk.0.attn_q.bias"), "(other)");
  EXPECT_EQ(gguf("blk.0.ffn_gate_exps.weight"), "(expert)");
  EXPECT_EQ(gguf("blk.0.ffn_gate_inp.weight"), "(expert)");
  EXPECT_EQ(gguf("blk.0.ffn_gate.7.weight"), "(expert)");
  EXPECT_EQ(gguf("blk.0.attn_q_a.weight"), "attn_q_a");
  EXPECT_EQ(gguf("v.blk.0.attn_q.weight"), "(other)");
  EXPECT_EQ(gguf("position_embd.weight", "bert"), "(other)");
  EXPECT_EQ(gguf("weight"), "(other)");
  EXPECT_EQ(gguf(""), "(other)");
}

}  // namespace
}  // namespace tare::problem
