#include "codec/v2.h"

#include "base/json_writer.h"

namespace gimbal::codec {
namespace {

void WriteTensors(JsonWriter& w, const std::vector<model::TensorSpec>& specs) {
  w.BeginArray();
  for (const model::TensorSpec& spec : specs) {
    w.BeginObject().Key("name").String(spec.name);
    w.Key("datatype").String(model::DataTypeName(spec.type)).Key("shape").BeginArray();
    for (const int64_t dimension : spec.shape) w.Int(dimension);
    w.EndArray().EndObject();
  }
  w.EndArray();
}

}  // namespace

std::string EncodeServerMetadata(std::string_view version,
                                 std::span<const std::string_view> extensions) {
  JsonWriter w;
  w.BeginObject().Key("name").String("gimbal").Key("version").String(version);
  w.Key("extensions").BeginArray();
  for (const std::string_view extension : extensions) w.String(extension);
  w.EndArray().EndObject();
  return std::move(w).Take();
}

std::string EncodeModelMetadata(const model::ModelInfo& model,
                                std::span<const std::string> versions) {
  JsonWriter w;
  w.BeginObject().Key("name").String(model.name).Key("versions").BeginArray();
  for (const std::string& version : versions) w.String(version);
  w.EndArray().Key("platform").String(model.platform);
  w.Key("inputs");
  WriteTensors(w, model.signature.inputs);
  w.Key("outputs");
  WriteTensors(w, model.signature.outputs);
  w.EndObject();
  return std::move(w).Take();
}

std::string EncodeLive(bool live) { return live ? R"({"live":true})" : R"({"live":false})"; }
std::string EncodeReady(bool ready) { return ready ? R"({"ready":true})" : R"({"ready":false})"; }

std::string EncodeModelReady(std::string_view name, bool ready) {
  JsonWriter w;
  w.BeginObject().Key("name").String(name).Key("ready").Bool(ready).EndObject();
  return std::move(w).Take();
}

}  // namespace gimbal::codec
