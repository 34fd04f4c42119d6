#include "registry/model_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace gimbal::registry {
namespace {

using pipeline::Pooling;

constexpr const char* kModules = R"([
  {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
  {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
  {"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";

// A folder with the layout of all-MiniLM-L6-v2, which tests change.
class ModelFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "modelXXXXXX";
    dir_ = mkdtemp(pattern.data());
    Write("model.onnx", "graph");
    Write("modules.json", kModules);
    Write("config.json",
          R"({"architectures": ["BertModel"], "model_type": "bert", "hidden_size": 384,
                             "max_position_embeddings": 512, "pad_token_id": 0})");
    Write("sentence_bert_config.json", R"({"max_seq_length": 256, "do_lower_case": false})");
    Write("1_Pooling/config.json",
          R"({"word_embedding_dimension": 384, "pooling_mode_cls_token": false,
                                       "pooling_mode_mean_tokens": true})");
    Write("tokenizer.json", R"({"truncation": {"max_length": 128},
                                "padding": {"pad_id": 0, "pad_type_id": 0}})");
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void Write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(dir_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Remove(const std::string& name) { std::filesystem::remove(dir_ + "/" + name); }

  ModelFiles Found() {
    auto files = FindModelFiles(dir_);
    EXPECT_TRUE(files.ok()) << files.status().message();
    return files.ok() ? *files : ModelFiles();
  }
  // The error, with the folder's name as DIR.
  std::string Error() {
    std::string message = FindModelFiles(dir_).status().message();
    for (size_t at; (at = message.find(dir_)) != std::string::npos;) {
      message.replace(at, dir_.size(), "DIR");
    }
    return message;
  }

  std::string dir_;
};

TEST_F(ModelFilesTest, ASentenceTransformersFolder) {
  const ModelFiles files = Found();
  EXPECT_EQ(files.graph, dir_ + "/model.onnx");
  EXPECT_EQ(files.tokenizer, dir_ + "/tokenizer.json");
  EXPECT_EQ(files.task, model::Task::kTextEmbedding);
  EXPECT_EQ(files.pooling.pooling, Pooling::kMean);
  EXPECT_TRUE(files.pooling.normalize);
  EXPECT_EQ(files.max_tokens, 256);
  EXPECT_EQ(files.position_limit, 512);
  EXPECT_EQ(files.hidden_size, 384);
  EXPECT_EQ(files.files, (std::vector<std::string>{"model.onnx", "modules.json", "config.json",
                                                   "1_Pooling/config.json", "tokenizer.json",
                                                   "sentence_bert_config.json"}));
  EXPECT_TRUE(files.notes.empty());
}

TEST_F(ModelFilesTest, TheLimitOfTokensComesFromTheFirstFileThatHasOne) {
  Write("sentence_bert_config.json", R"({"max_seq_length": null})");
  EXPECT_EQ(Found().max_tokens, 128);
  Remove("sentence_bert_config.json");
  EXPECT_EQ(Found().max_tokens, 128);
  Write("tokenizer.json", R"({"truncation": null})");
  EXPECT_EQ(Found().max_tokens, 512);
  Write("sentence_bert_config.json", R"({"max_seq_length": 1024})");
  EXPECT_EQ(Found().max_tokens, 512) << "the model has no more positions";
  EXPECT_EQ(Found().notes.size(), 1u);
}

TEST_F(ModelFilesTest, RobertaCountsPositionsFromItsPaddingToken) {
  Write("config.json", R"({"architectures": ["XLMRobertaModel"], "model_type": "xlm-roberta",
                           "max_position_embeddings": 514, "pad_token_id": 1})");
  Write("sentence_bert_config.json", R"({"max_seq_length": 514})");
  EXPECT_EQ(Found().position_limit, 512);
  EXPECT_EQ(Found().max_tokens, 512);
  EXPECT_EQ(Found().pad_token_id, 1);
}

TEST_F(ModelFilesTest, WhatNoFileSaysIsAssumedAndNoted) {
  for (const char* name :
       {"modules.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json"}) {
    Remove(name);
  }
  Write("tokenizer.json", "{}");
  const ModelFiles files = Found();
  EXPECT_EQ(files.pooling.pooling, Pooling::kMean);
  EXPECT_FALSE(files.pooling.normalize);
  EXPECT_EQ(files.max_tokens, 0);
  EXPECT_EQ(files.notes.size(), 5u);
}

TEST_F(ModelFilesTest, PoolingModes) {
  const auto pooling = [&](std::string_view json) {
    Write("1_Pooling/config.json", json);
    return Found().pooling.pooling;
  };
  EXPECT_EQ(pooling(R"({"pooling_mode_cls_token": true})"), Pooling::kCls);
  EXPECT_EQ(pooling(R"({"pooling_mode_max_tokens": true})"), Pooling::kMax);
  EXPECT_EQ(pooling(R"({"pooling_mode_mean_sqrt_len_tokens": true})"), Pooling::kMeanSqrtLen);
  EXPECT_EQ(pooling(R"({"pooling_mode": "cls"})"), Pooling::kCls);
  Write("1_Pooling/config.json", R"({"pooling_mode_lasttoken": true})");
  EXPECT_EQ(Error(),
            "DIR/1_Pooling/config.json: pooling mode \"lasttoken\" is not supported, expected "
            "cls, mean, max or mean_sqrt_len");
  Write("1_Pooling/config.json",
        R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true})");
  EXPECT_EQ(Error(),
            "DIR/1_Pooling/config.json: has two pooling modes, cls_token and max_tokens; "
            "expected one");
  Write("1_Pooling/config.json", R"({"pooling_mode_cls_token": false})");
  EXPECT_NE(Error().find("names no pooling mode"), std::string::npos);
}

TEST_F(ModelFilesTest, ThePaddingTokenIsFoundByName) {
  Write("config.json", R"({"architectures": ["BertModel"]})");
  Write("tokenizer.json", R"({"padding": {"pad_id": 7, "pad_type_id": 2}})");
  EXPECT_EQ(Found().pad_token_id, 7);
  EXPECT_EQ(Found().pad_type_id, 2);
  Write("tokenizer.json",
        R"({"added_tokens": [{"id": 3, "content": "[PAD]"}, {"id": 5, "content": "<pad>"}]})");
  EXPECT_EQ(Found().pad_token_id, 3);
  Write("tokenizer_config.json", R"({"pad_token": "<pad>"})");
  EXPECT_EQ(Found().pad_token_id, 5);
  Write("tokenizer_config.json", R"({"pad_token": {"content": "<pad>"}})");
  EXPECT_EQ(Found().pad_token_id, 5);
}

TEST_F(ModelFilesTest, GraphsAreFoundByNameAndWhenAlone) {
  Remove("model.onnx");
  EXPECT_EQ(Error(), "DIR: has no graph, expected model.onnx or onnx/model.onnx");
  Write("onnx/encoder.onnx", "graph");
  EXPECT_EQ(Found().graph, dir_ + "/onnx/encoder.onnx");
  Write("onnx/decoder.onnx", "graph");
  EXPECT_EQ(Error(),
            "DIR/onnx: has several graphs (decoder.onnx, encoder.onnx), expected one named "
            "model.onnx");
  Write("onnx/model.onnx", "graph");
  EXPECT_EQ(Found().graph, dir_ + "/onnx/model.onnx");
  EXPECT_EQ(FindModelFiles(dir_ + "/").value().graph, dir_ + "/onnx/model.onnx");
}

TEST_F(ModelFilesTest, OlderFoldersHaveTheEncoderInAFolderOfItsOwn) {
  Write("modules.json",
        R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
                            {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  for (const char* name : {"config.json", "tokenizer.json", "sentence_bert_config.json"}) {
    std::filesystem::create_directories(dir_ + "/0_Transformer");
    std::filesystem::rename(dir_ + "/" + name, dir_ + "/0_Transformer/" + name);
  }
  EXPECT_EQ(Found().tokenizer, dir_ + "/0_Transformer/tokenizer.json");
  EXPECT_EQ(Found().max_tokens, 256);
  EXPECT_FALSE(Found().pooling.normalize);
}

struct Broken {
  const char* file;
  const char* text;
  const char* error;
};

class BrokenFiles : public ModelFilesTest, public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenFiles, ErrorsNameFileKeyAndValue) {
  Write(GetParam().file, GetParam().text);
  EXPECT_TRUE(Error().starts_with(GetParam().error)) << Error();
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenFiles,
    ::testing::Values(
        Broken{"config.json", "{\"hidden_size\": ", "DIR/config.json: not valid JSON: "},
        Broken{"config.json", "", "DIR/config.json: not valid JSON: "},
        Broken{"config.json", "[]", "DIR/config.json: is [], expected an object"},
        Broken{"config.json", R"({"hidden_size": "384"})",
               "DIR/config.json: hidden_size is \"384\", expected a whole number of at least 1"},
        Broken{"config.json", R"({"max_position_embeddings": 99999999999})",
               "DIR/config.json: max_position_embeddings is 99999999999, expected a whole number"},
        Broken{"config.json", R"({"is_encoder_decoder": true})",
               "DIR/config.json: is_encoder_decoder is true, expected an encoder alone"},
        Broken{"sentence_bert_config.json", R"({"max_seq_length": 0})",
               "DIR/sentence_bert_config.json: max_seq_length is 0, expected a whole number of at "
               "least 1"},
        Broken{"modules.json", "{}", "DIR/modules.json: is {}, expected a list"},
        Broken{"modules.json", R"([3])",
               "DIR/modules.json: [0] is 3, expected an object with a type"},
        Broken{"modules.json",
               R"([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])",
               "DIR/modules.json: [0].type is \"sentence_transformers.models.Dense\", expected "},
        Broken{"modules.json", R"([{"type": "m.Pooling", "path": "../../secret"}])",
               "DIR/modules.json: [0].path is \"../../secret\", expected a folder of the model"},
        Broken{"modules.json", R"([{"type": "m.Pooling", "path": "9_Pooling"}])",
               "DIR/9_Pooling/config.json: no such file, but modules.json has a Pooling there"},
        Broken{"tokenizer.json", R"({"padding": {"pad_id": "x"}})",
               "DIR/tokenizer.json: padding/pad_id is \"x\", expected a whole number"}));

TEST_F(ModelFilesTest, WhatIsNoTextEmbeddingIsRefused) {
  Remove("modules.json");
  Write("config.json", R"({"architectures": ["BertForSequenceClassification"]})");
  EXPECT_EQ(Error(),
            "DIR/config.json: architectures is [\"BertForSequenceClassification\"], expected an "
            "encoder without a head, as BertModel, for text-embedding");
  Write("config.json", R"({"architectures": ["DistilBertModel"]})");
  EXPECT_EQ(Error(), "");
}

TEST_F(ModelFilesTest, MissingFoldersAndTokenizers) {
  Remove("tokenizer.json");
  EXPECT_EQ(Error(), "DIR/tokenizer.json: no such file, expected a Hugging Face tokenizer");
  EXPECT_EQ(FindModelFiles("/nowhere/at/all").status().message(),
            "/nowhere/at/all: no such folder, expected a model's folder");
  EXPECT_EQ(FindModelFiles(dir_ + "/model.onnx").status().message(),
            dir_ + "/model.onnx: no folder, expected a model's folder");
}

TEST_F(ModelFilesTest, Sha256OfAFile) {
  EXPECT_EQ(Sha256File(dir_ + "/model.onnx").value(),
            "eef93e1d14482804277fca0172464032d1a4fdbcc338524059fa1e861454ad4d");
  EXPECT_EQ(Sha256File(dir_ + "/nothing").status().code(), Code::kNotFound);
  EXPECT_FALSE(Sha256File(dir_).ok());
}

model::Signature Encoder() {
  const model::Shape ids = {-1, -1};
  return {.inputs = {{"input_ids", model::DataType::kInt64, ids},
                     {"attention_mask", model::DataType::kInt64, ids},
                     {"token_type_ids", model::DataType::kInt64, ids}},
          .outputs = {{"last_hidden_state", model::DataType::kFp32, {-1, -1, 384}},
                      {"pooler_output", model::DataType::kFp32, {-1, 384}}}};
}

TEST(BindTextEmbedding, FindsInputsAndOutput) {
  const auto binding = BindTextEmbedding(Encoder()).value();
  EXPECT_EQ(binding.input_ids, "input_ids");
  EXPECT_EQ(binding.attention_mask, "attention_mask");
  EXPECT_EQ(binding.token_type_ids, "token_type_ids");
  EXPECT_EQ(binding.position_ids, "");
  EXPECT_EQ(binding.output, "last_hidden_state");
  EXPECT_FALSE(binding.pooled);
  EXPECT_EQ(binding.dim, 384);
}

TEST(BindTextEmbedding, PrefersWhatTheGraphPooledItself) {
  model::Signature signature = Encoder();
  signature.outputs = {{"token_embeddings", model::DataType::kFp32, {-1, -1, 384}},
                       {"sentence_embedding", model::DataType::kFp32, {-1, -1}}};
  for (auto& input : signature.inputs) input.type = model::DataType::kInt32;
  const auto binding = BindTextEmbedding(signature).value();
  EXPECT_EQ(binding.output, "sentence_embedding");
  EXPECT_EQ(binding.output_index, 1u);
  EXPECT_TRUE(binding.pooled);
  EXPECT_EQ(binding.dim, 0);
  EXPECT_EQ(binding.input_type, model::DataType::kInt32);
}

TEST(BindTextEmbedding, WhatDoesNotFitIsNamed) {
  const auto error = [](auto change) {
    model::Signature signature = Encoder();
    change(signature);
    return BindTextEmbedding(signature).status().message();
  };
  EXPECT_EQ(error([](auto& s) { s.inputs.erase(s.inputs.begin()); }),
            "the graph has no input \"input_ids\"; it has: attention_mask, token_type_ids");
  EXPECT_EQ(error([](auto& s) { s.inputs[1].name = "pixel_values"; }),
            "the graph's input \"pixel_values\" has no part in text embedding, expected input_ids, "
            "attention_mask, token_type_ids or position_ids");
  EXPECT_EQ(error([](auto& s) { s.inputs[0].type = model::DataType::kFp32; }),
            "the graph's input \"input_ids\" is FP32 [-1,-1], expected INT64 or INT32");
  EXPECT_EQ(error([](auto& s) { s.inputs[2].type = model::DataType::kInt32; }),
            "the graph's input \"token_type_ids\" is INT32 [-1,-1], expected the type of the other "
            "inputs");
  EXPECT_EQ(
      error([](auto& s) { s.inputs[1].shape = {1, 128}; }),
      "the graph's input \"attention_mask\" is INT64 [1,128], expected [-1,-1]: any number of "
      "rows of any length");
  EXPECT_EQ(error([](auto& s) { s.outputs[0].name = "logits"; }),
            "the graph has no output \"last_hidden_state\", \"sentence_embedding\" or "
            "\"token_embeddings\"; it has: logits, pooler_output");
  EXPECT_EQ(error([](auto& s) { s.outputs[0].type = model::DataType::kFp16; }),
            "the graph's output \"last_hidden_state\" is FP16 [-1,-1,384], expected FP32");
  EXPECT_EQ(
      error([](auto& s) { s.outputs[0].shape = {-1, 384}; }),
      "the graph's output \"last_hidden_state\" is FP32 [-1,384], expected [rows, length, dim]");
}

}  // namespace
}  // namespace gimbal::registry
