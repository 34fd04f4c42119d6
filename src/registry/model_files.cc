#include "registry/model_files.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

namespace gimbal::registry {
namespace {

namespace fs = std::filesystem;
namespace dom = simdjson::dom;

// A value as a person would recognise it in the file, cut when it is long.
std::string Shown(dom::element value) {
  std::string text = simdjson::minify(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

// A JSON file of the model's folder. Accessors give nothing for a key that is absent or null, and
// an error for a value of the wrong kind.
class JsonFile {
 public:
  static Result<JsonFile> Read(const std::string& path) {
    JsonFile file(path);
    const auto error = file.parser_->load(path).get(file.root_);
    if (error == simdjson::IO_ERROR) return InvalidError(path + ": cannot be read");
    if (error != simdjson::SUCCESS) {
      return InvalidError(
          fmt::format("{}: not valid JSON: {}", path, simdjson::error_message(error)));
    }
    return file;
  }

  const std::string& path() const { return path_; }
  dom::element root() const { return root_; }

  // `key` may be a path: "truncation/max_length".
  std::optional<dom::element> Find(std::string_view key) const {
    dom::element value = root_;
    while (!key.empty()) {
      const size_t slash = key.find('/');
      if (value.at_key(key.substr(0, slash)).get(value) != simdjson::SUCCESS) return std::nullopt;
      key = slash == std::string_view::npos ? "" : key.substr(slash + 1);
    }
    return value.is_null() ? std::nullopt : std::optional(value);
  }

  Result<std::optional<int>> Int(std::string_view key, int least) const {
    const auto value = Find(key);
    if (!value) return std::optional<int>();
    int64_t number = 0;
    if (value->get(number) != simdjson::SUCCESS || number < least ||
        number > std::numeric_limits<int>::max()) {
      return Wrong(key, fmt::format("a whole number of at least {}", least), *value);
    }
    return std::optional<int>(static_cast<int>(number));
  }

  Result<bool> Bool(std::string_view key) const {
    const auto value = Find(key);
    bool flag = false;
    if (value && value->get(flag) != simdjson::SUCCESS) return Wrong(key, "true or false", *value);
    return flag;
  }

  Result<std::string> Text(std::string_view key) const {
    const auto value = Find(key);
    std::string_view text;
    if (value && value->get(text) != simdjson::SUCCESS) return Wrong(key, "a text", *value);
    return std::string(text);
  }

  Status Wrong(std::string_view key, std::string_view expected, dom::element got) const {
    return InvalidError(fmt::format("{}: {} is {}, expected {}", path_, key, Shown(got), expected));
  }

 private:
  explicit JsonFile(std::string path) : path_(std::move(path)), parser_(new dom::parser) {}

  std::string path_;
  std::unique_ptr<dom::parser> parser_;  // owns what root_ points to
  dom::element root_;
};

// The only file of `dir` that ends in .onnx: "" when there is none.
Result<std::string> OnlyGraphIn(const fs::path& dir) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path().filename().string());
  }
  if (found.size() > 1) {
    std::sort(found.begin(), found.end());
    return InvalidError(fmt::format("{}: has several graphs ({}), expected one named model.onnx",
                                    dir.string(), fmt::join(found, ", ")));
  }
  return found.empty() ? std::string() : (dir / found[0]).string();
}

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

Result<std::string> FindGraph(const fs::path& dir) {
  for (const char* name : {"model.onnx", "onnx/model.onnx"}) {
    if (IsFile(dir / name)) return (dir / name).string();
  }
  for (const fs::path& folder : {dir, dir / "onnx"}) {
    ASSIGN_OR_RETURN(const std::string path, OnlyGraphIn(folder));
    if (!path.empty()) return path;
  }
  return NotFoundError(
      fmt::format("{}: has no graph, expected model.onnx or onnx/model.onnx", dir.string()));
}

// "sentence_transformers.models.Pooling" -> "Pooling"
std::string_view LastPart(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

// Reads one model folder, file by file; what it learns goes into `files_`.
class FolderReader {
 public:
  explicit FolderReader(const std::string& dir) : dir_(dir) { files_.dir = dir; }

  Result<ModelFiles> Read() {
    std::error_code error;
    if (!fs::is_directory(dir_, error)) {
      return NotFoundError(fmt::format("{}: {}, expected a model's folder", dir_.string(),
                                       fs::exists(dir_, error) ? "no folder" : "no such folder"));
    }
    ASSIGN_OR_RETURN(files_.graph, FindGraph(dir_));
    files_.files.push_back(Relative(files_.graph));
    RETURN_IF_ERROR(ReadModules());
    RETURN_IF_ERROR(ReadConfig());
    RETURN_IF_ERROR(ReadPooling());
    RETURN_IF_ERROR(ReadTokenizer());
    return std::move(files_);
  }

 private:
  // Files of the encoder lie in the folder itself or where modules.json puts the encoder.
  std::optional<std::string> Locate(std::string_view name) const {
    for (const fs::path& folder : {dir_, dir_ / encoder_path_}) {
      if (IsFile(folder / name)) return (folder / name).string();
    }
    return std::nullopt;
  }

  std::string Relative(const std::string& path) const {
    return fs::path(path).lexically_relative(dir_).generic_string();
  }

  // Nothing when there is no such file.
  Result<std::optional<JsonFile>> Open(std::string_view name) {
    const auto path = Locate(name);
    if (!path) return std::optional<JsonFile>();
    ASSIGN_OR_RETURN(JsonFile file, JsonFile::Read(*path));
    if (!file.root().is_object()) {
      return InvalidError(fmt::format("{}: is {}, expected an object", *path, Shown(file.root())));
    }
    files_.files.push_back(Relative(*path));
    return std::optional<JsonFile>(std::move(file));
  }

  void Note(std::string note) { files_.notes.push_back(std::move(note)); }

  // The chain of a sentence-transformers model.
  Status ReadModules() {
    const std::string path = (dir_ / "modules.json").string();
    if (!IsFile(path)) {
      Note("no modules.json: embeddings are not normalized");
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const JsonFile file, JsonFile::Read(path));
    files_.files.push_back("modules.json");
    dom::array modules;
    if (file.root().get(modules) != simdjson::SUCCESS) {
      return InvalidError(fmt::format("{}: is {}, expected a list", path, Shown(file.root())));
    }
    has_modules_ = true;
    size_t index = 0;
    for (const dom::element module : modules) {
      RETURN_IF_ERROR(ReadModule(file, index++, module));
    }
    return Status::Ok();
  }

  Status ReadModule(const JsonFile& file, size_t index, dom::element module) {
    std::string_view type, path;
    if (module["type"].get(type) != simdjson::SUCCESS) {
      return file.Wrong(fmt::format("[{}]", index), "an object with a type", module);
    }
    // The path leads to a folder inside the model's; one that leaves it is nobody's honest file.
    if (module["path"].get(path) != simdjson::SUCCESS) path = "";
    const fs::path folder = fs::path(path).lexically_normal();
    if (folder.is_absolute() || (!folder.empty() && *folder.begin() == "..")) {
      return file.Wrong(fmt::format("[{}].path", index), "a folder of the model", module["path"]);
    }
    const std::string_view kind = LastPart(type);
    if (kind == "Transformer" && index == 0) {
      encoder_path_ = folder;
    } else if (kind == "Pooling") {
      pooling_path_ = folder;
    } else if (kind == "Normalize") {
      files_.pooling.normalize = true;
    } else {
      return file.Wrong(fmt::format("[{}].type", index),
                        "Transformer, then Pooling and perhaps Normalize", module["type"]);
    }
    return Status::Ok();
  }

  Status ReadConfig() {
    ASSIGN_OR_RETURN(const auto config, Open("config.json"));
    if (!config) {
      Note("no config.json: the limit of positions is not known");
      return Status::Ok();
    }
    RETURN_IF_ERROR(CheckTask(*config));
    ASSIGN_OR_RETURN(const auto hidden, config->Int("hidden_size", 1));
    ASSIGN_OR_RETURN(const auto pad, config->Int("pad_token_id", 0));
    ASSIGN_OR_RETURN(const auto positions, config->Int("max_position_embeddings", 1));
    files_.hidden_size = hidden.value_or(0);
    pad_ = pad;
    files_.position_limit = positions.value_or(0);
    // Models of this family count positions from pad_token_id + 1 on.
    ASSIGN_OR_RETURN(const std::string type, config->Text("model_type"));
    constexpr std::array kShifted = {"roberta", "xlm-roberta", "camembert", "mpnet", "xmod"};
    if (std::find(kShifted.begin(), kShifted.end(), type) != kShifted.end()) {
      files_.position_limit = std::max(0, files_.position_limit - pad.value_or(1) - 1);
    }
    return Status::Ok();
  }

  // Text embedding is what sentence-transformers says of itself, or an encoder without a head.
  Status CheckTask(const JsonFile& config) const {
    ASSIGN_OR_RETURN(const bool has_decoder, config.Bool("is_encoder_decoder"));
    if (has_decoder) {
      return InvalidError(config.path() +
                          ": is_encoder_decoder is true, expected an encoder alone");
    }
    if (has_modules_) return Status::Ok();
    const auto value = config.Find("architectures");
    dom::array architectures;
    if (!value) return Status::Ok();
    if (value->get(architectures) != simdjson::SUCCESS) {
      return config.Wrong("architectures", "a list of names", *value);
    }
    for (const dom::element element : architectures) {
      std::string_view name;
      if (element.get(name) == simdjson::SUCCESS &&
          (name.ends_with("Model") || name.ends_with("ForMaskedLM"))) {
        return Status::Ok();
      }
    }
    return config.Wrong("architectures",
                        "an encoder without a head, as BertModel, for text-embedding", *value);
  }

  Status ReadPooling() {
    const fs::path folder = pooling_path_.value_or("1_Pooling");
    const std::string name = (folder / "config.json").generic_string();
    if (!IsFile(dir_ / name)) {
      if (pooling_path_) {
        return NotFoundError(fmt::format("{}: no such file, but modules.json has a Pooling there",
                                         (dir_ / name).string()));
      }
      Note("no 1_Pooling/config.json: mean pooling is assumed");
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const JsonFile file, JsonFile::Read((dir_ / name).string()));
    files_.files.push_back(name);
    ASSIGN_OR_RETURN(files_.pooling.pooling, PoolingOf(file));
    return Status::Ok();
  }

  static Result<pipeline::Pooling> PoolingOf(const JsonFile& file) {
    using pipeline::Pooling;
    constexpr std::pair<std::string_view, Pooling> kModes[] = {
        {"cls", Pooling::kCls},
        {"mean", Pooling::kMean},
        {"max", Pooling::kMax},
        {"mean_sqrt_len", Pooling::kMeanSqrtLen},
    };
    ASSIGN_OR_RETURN(std::string chosen, ChosenMode(file));
    for (const auto& [name, pooling] : kModes) {
      if (chosen == name || chosen == std::string(name) + "_tokens" ||
          chosen == std::string(name) + "_token") {
        return pooling;
      }
    }
    return InvalidError(
        fmt::format("{}: pooling mode \"{}\" is not supported, expected cls, mean, max or "
                    "mean_sqrt_len",
                    file.path(), chosen));
  }

  // Older files have a flag for each mode, "pooling_mode_mean_tokens": true; newer ones a name.
  static Result<std::string> ChosenMode(const JsonFile& file) {
    constexpr std::string_view kPrefix = "pooling_mode";
    dom::object object;
    if (file.root().get(object) != simdjson::SUCCESS) {
      return InvalidError(
          fmt::format("{}: is {}, expected an object", file.path(), Shown(file.root())));
    }
    std::string chosen;
    for (const auto& [key, value] : object) {
      if (!key.starts_with(kPrefix)) continue;
      std::string mode;
      if (key == kPrefix) {
        ASSIGN_OR_RETURN(mode, file.Text(key));
      } else {
        ASSIGN_OR_RETURN(const bool on, file.Bool(key));
        if (on) mode = key.substr(kPrefix.size() + 1);
      }
      if (mode.empty()) continue;
      if (!chosen.empty()) {
        return InvalidError(fmt::format("{}: has two pooling modes, {} and {}; expected one",
                                        file.path(), chosen, mode));
      }
      chosen = mode;
    }
    if (!chosen.empty()) return chosen;
    return InvalidError(file.path() +
                        ": names no pooling mode, expected pooling_mode_mean_tokens or another");
  }

  Status ReadTokenizer() {
    ASSIGN_OR_RETURN(const auto tokenizer, Open("tokenizer.json"));
    if (!tokenizer) {
      return NotFoundError(fmt::format("{}: no such file, expected a Hugging Face tokenizer",
                                       (dir_ / "tokenizer.json").string()));
    }
    files_.tokenizer = tokenizer->path();
    ASSIGN_OR_RETURN(const auto pad_type, tokenizer->Int("padding/pad_type_id", 0));
    files_.pad_type_id = pad_type.value_or(0);
    ASSIGN_OR_RETURN(const auto pad, tokenizer->Int("padding/pad_id", 0));
    if (!pad_) pad_ = pad;
    if (!pad_) RETURN_IF_ERROR(FindPadToken(*tokenizer));
    files_.pad_token_id = pad_.value_or(0);
    return ReadLimit(*tokenizer);
  }

  // The id of tokenizer_config.json's pad_token.
  Status FindPadToken(const JsonFile& tokenizer) {
    std::string_view wanted = "[PAD]";
    ASSIGN_OR_RETURN(const auto config, Open("tokenizer_config.json"));
    if (config) {
      for (const char* key : {"pad_token", "pad_token/content"}) {
        const auto value = config->Find(key);
        std::string_view text;
        if (value && value->get(text) == simdjson::SUCCESS) wanted = text;
      }
    }
    dom::array tokens;
    const auto added = tokenizer.Find("added_tokens");
    if (added && added->get(tokens) == simdjson::SUCCESS) {
      for (const dom::element token : tokens) {
        std::string_view content;
        int64_t id = 0;
        if (token["content"].get(content) == simdjson::SUCCESS && content == wanted &&
            token["id"].get(id) == simdjson::SUCCESS && id >= 0 &&
            id <= std::numeric_limits<int>::max()) {
          pad_ = static_cast<int>(id);
          return Status::Ok();
        }
      }
    }
    Note("no file names the padding token: id 0 is assumed");
    return Status::Ok();
  }

  Status ReadLimit(const JsonFile& tokenizer) {
    ASSIGN_OR_RETURN(const auto sentence, Open("sentence_bert_config.json"));
    std::optional<int> limit;
    if (sentence) {
      ASSIGN_OR_RETURN(limit, sentence->Int("max_seq_length", 1));
    }
    if (!limit) {
      ASSIGN_OR_RETURN(limit, tokenizer.Int("truncation/max_length", 1));
    }
    const int positions = files_.position_limit;
    files_.max_tokens = limit.value_or(positions);
    if (positions > 0 && files_.max_tokens > positions) {
      Note(fmt::format("the files allow {} tokens, the model has {} positions: {} is the limit",
                       files_.max_tokens, positions, positions));
      files_.max_tokens = positions;
    }
    if (files_.max_tokens == 0) Note("no file sets a limit on the length of a text");
    return Status::Ok();
  }

  const fs::path dir_;
  fs::path encoder_path_;                 // below dir_
  std::optional<fs::path> pooling_path_;  // below dir_
  bool has_modules_ = false;
  std::optional<int> pad_;
  ModelFiles files_;
};

}  // namespace

Result<ModelFiles> FindModelFiles(const std::string& dir) {
  // "models/minilm/" and "models/minilm" are one folder; errors show it without the slash.
  std::string clean = fs::path(dir).lexically_normal().string();
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  return FolderReader(clean).Read();
}

}  // namespace gimbal::registry
