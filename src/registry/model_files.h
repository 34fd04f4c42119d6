#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/names.h"
#include "model/tensor.h"
#include "pipeline/pooling.h"
#include "pipeline/text_binding.h"

namespace gimbal::registry {

// What the files of a Hugging-Face-style folder say about a model.
struct ModelFiles {
  std::string dir;
  std::string graph;      // path of the ONNX file
  std::string tokenizer;  // path of tokenizer.json
  model::Task task = model::Task::kTextEmbedding;
  pipeline::PoolingOptions pooling;
  int max_tokens = 0;      // longest input, special tokens included; 0: no file sets a limit
  int position_limit = 0;  // positions that the graph has; 0: unknown
  int hidden_size = 0;     // 0: unknown
  int64_t pad_token_id = 0;
  int64_t pad_type_id = 0;
  std::vector<std::string> files;  // all that the answers depend on, relative to `dir`
  std::vector<std::string> notes;  // what was assumed or changed because the files do not say it
};

// Reads `dir`: model.onnx (or onnx/model.onnx, or the only *.onnx), tokenizer.json, config.json,
// and where present sentence_bert_config.json, modules.json with the folders it names, and
// tokenizer_config.json. An error says FILE: what, what was expected, what came.
Result<ModelFiles> FindModelFiles(const std::string& dir);

// Finds the inputs and the output of a text encoder in a graph's signature, or says which tensor is
// missing or does not fit.
Result<pipeline::TextEmbeddingBinding> BindTextEmbedding(const model::Signature& signature);

// Lower-case hexadecimal SHA-256 of a file's bytes.
Result<std::string> Sha256File(const std::string& path);

}  // namespace gimbal::registry
