#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "registry/model_files.h"

namespace gimbal::registry {

Result<std::string> Sha256File(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return NotFoundError(fmt::format("{}: {}", path, std::strerror(errno)));
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   &EVP_MD_CTX_free);
  bool ok = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> buffer(1 << 18);
  while (const size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    ok = ok && EVP_DigestUpdate(context.get(), buffer.data(), size) == 1;
  }
  if (std::ferror(file.get()) != 0) return InvalidError(path + ": cannot be read");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  ok = ok && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  if (!ok) return InternalError(path + ": SHA-256 failed");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace gimbal::registry
