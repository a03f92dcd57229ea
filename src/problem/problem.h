// What is computed, projections y[rows, n] = x[rows, k] . W[n, k]^T, and where shapes come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/storage.h"
#include "tare/arm.h"

namespace tare::problem {

// Tare weighs row counts up to this many (tokens per dispatch); beyond it a matrix product is
// another problem.
inline constexpr std::uint32_t kMostRows = 4096;

// One projection of a model, before a row count is chosen. Projections of one model with equal k
// and n that are stored alike are one Projection: `name` joins their names with '/', e.g. "q/o".
struct Projection {
  // "q/o", "k/v", "gate/up", "down", "lm_head"; "qkv" and "gate_up" where a model fuses them, and
  // "q+k+v" and "gate+up" where fuse() did; the
  // last parts of its name in the file for any other ("pooler.dense"); "-" for a bare shape.
  std::string name;
  std::uint64_t k = 0;      // columns of W: length of a dot product
  std::uint64_t n = 0;      // rows of W: outputs
  std::uint64_t count = 1;  // matrices of this shape that decoding one token reads: layers x names
  // How the file stores it: "BF16", "F32", "Q4_K", "gptq4-g128-f16" (storage.h); "" when only the
  // shape is known.
  std::string stored;
  // The type that it is weighed as, by the name of formats/weight_format.h; "" while that is not
  // decided, and in results files of before.
  std::string weighed{};
  // Of each of the joined names, in their order: how many of `count` it has. Results files of
  // before do not say.
  std::vector<std::uint64_t> counts{};
  // Of a fused projection ("q+k+v"): n of each part, in their order. Empty: it is one matrix.
  std::vector<std::uint64_t> parts{};
  // tare_problem::bias. 0 unless take_biases() was called.
  std::uint32_t bias = 0;
};

// One matrix that decoding a token reads.
struct Matrix {
  std::string name;                    // "q"
  std::optional<std::uint64_t> layer;  // from 0; nothing for an lm_head, and where no name tells
  std::uint64_t k = 0, n = 0;
  std::string stored;                  // as Projection::stored
  std::vector<std::uint64_t> parts{};  // as Projection::parts
  std::uint32_t bias = 0;              // tare_problem::bias, as the model has it
  std::string tensor{};                // its name in the file, printable; "" without one
  Storage storage{};                   // where its weights lie; kUnknown without a file of them
};

struct Model {
  std::string name;    // as printed: "Qwen2.5-1.5B"; the file's folder or stem where it names none
  std::string source;  // path, or "built in"
  std::vector<Projection> projections;
  // Elements of all projection weights that decoding one token reads (sum of k*n*count), lm_head
  // included, also of projections that a filter leaves out: the base of "share of a token's
  // weights".
  std::uint64_t weights_per_token = 0;
  // The same in bytes, scales included, each projection in the type that it is weighed as; 0 while
  // that is not decided, and in results files of before.
  double bytes_per_token = 0;
  // All of them in the order in which a token meets them: layer by layer, then what belongs to
  // none. Not kept in results files.
  std::vector<Matrix> matrices{};
  // What a person must know: "mixture of experts: ... not yet weighed".
  std::vector<std::string> notes;
};

// Reads a Hugging Face config.json, a .safetensors file, a model.safetensors.index.json, or a .gguf
// file; which one it is is decided by its content. A folder stands for its config.json, else its
// model.safetensors.index.json, else its only .safetensors or .gguf file; config.json comes last
// where it says that the weights are quantised, and with Want::kWeights. Throws tare::Error
// (Blame::kInput) with one sentence that names the path and what is wrong. Never trusts a length,
// an offset or a count in the file.
enum class Want { kShapes, kWeights };
Model read_model(const std::filesystem::path& path, Want want = Want::kShapes);

// "4096x1024" is k x n. Throws tare::Error (Blame::kInput).
Model parse_shape(std::string_view text);

// Qwen2.5-1.5B and Qwen3-8B, from their config.json, which are built into the program
// (data/models/).
std::vector<Model> default_models();

// Where a token meets a projection of that name within its layer: q first, lm_head last of those
// that are known, all others after it. A fused one stands where its first part does.
std::size_t place_of(std::string_view name);

// The names that a projection joins: "q/o" is q and o.
std::vector<std::string> names_in(const Projection& projection);

// The matrices' biases become part of the projections: those of one shape with and without one are
// two (Qwen2.5's q and o). Of a model that says its matrices.
void take_biases(Model& model);
// Forgets that the matrices have any. A model that was read is given to one of the two before
// keep_only(), which tells matrices with and without one apart.
void leave_biases(Model& model);

// Lays q, k and v of every layer side by side as one matrix "q+k+v", and gate and up as "gate+up":
// what an engine can dispatch at once, since they multiply the same x. Where a layer lacks one of
// them, or they are not stored alike, they stay apart, and a note says so. Throws tare::Error
// (kInput) where the model says no matrices (a bare shape).
void fuse(Model& model);

// Keeps the projections whose name, or one of whose joined names, is in `names` (q, k, v, o, gate,
// up, down, lm_head, or any the model has; a fused one by each of its parts' names); all of them
// when `names` is empty. Throws when a name
// matches nothing, and says which names the model has.
// Matrices are kept alike.
void keep_only(Model& model, const std::vector<std::string>& names);

// The C problem of one row of the table: bf16 output, f32 with f32 activations; f32 accumulator;
// the projection's bias. `weights` and `activations` are types of tare/arm.h. Throws tare::Error
// (Blame::kInput) where k is no whole number of the weights' blocks.
tare_problem problem_of(const Projection& projection, std::uint32_t rows, std::uint32_t weights,
                        std::uint32_t activations);
// bf16 weights and activations.
tare_problem bf16_problem(const Projection& projection, std::uint32_t rows);

// The type of tare/arm.h that weights stored as "Q4_K" are weighed as; 0 where none is near
// (weighed_as in storage.h).
std::uint32_t weight_type(std::string_view stored);

// The type of a bias that a file stores as "BF16"; 0 where it is none of tare_problem::bias's.
std::uint32_t bias_type(std::string_view stored);

// The type of a bias beside such weights, where only a shape is known: f32 beside GGUF blocks, as
// in those files, and f16 and f32 beside their own kind; else bf16.
std::uint32_t usual_bias(std::uint32_t weights);

// What activations such weights are multiplied with where people use them: GGUF blocks with 8-bit
// ones, as ggml does, others with bf16.
std::uint32_t usual_activations(std::uint32_t weights);

}  // namespace tare::problem
