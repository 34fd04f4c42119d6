#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace gimbal::memory {

// Owners of the bytes that matter; the `kind` label of gimbal_memory_bytes.
enum class Kind { kWeights, kKvCache, kActivations, kBatchInputs, kQueue, kOther };
inline constexpr int kKindCount = 6;
std::string_view KindName(Kind kind);  // "weights", ...

class Budget;

// Bytes taken from a budget; given back when it goes. Move-only. REQUIRES: the budget outlives it.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept { *this = std::move(other); }
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { Release(); }

  Bytes bytes() const { return bytes_; }
  // Takes or gives back the difference; on an error the reservation is as it was. REQUIRES: it came
  // from a budget.
  Status Resize(Bytes bytes);
  void Release();

 private:
  friend class Budget;
  Reservation(Budget* budget, Kind kind, Bytes bytes)
      : budget_(budget), kind_(kind), bytes_(bytes) {}

  Budget* budget_ = nullptr;
  Kind kind_ = Kind::kOther;
  Bytes bytes_;
};

// An amount of memory that reservations are taken from; a model's budget may stand inside the
// server's, and then both must have room. Any thread; lock-free.
class Budget {
 public:
  // `name` is said in errors ("model minilm"); limit zero: none, bytes are only counted.
  Budget(std::string name, Bytes limit, Budget* parent = nullptr);

  // kTooLarge when it can never fit, kOutOfMemoryBudget when it does not at the moment; both with
  // the numbers: `weights need 812MiB, the budget of model minilm is 512MiB`.
  Result<Reservation> Reserve(Kind kind, Bytes bytes);

  Bytes used() const { return {total_.load(std::memory_order_relaxed)}; }
  Bytes used(Kind kind) const {
    return {by_kind_[static_cast<size_t>(kind)].load(std::memory_order_relaxed)};
  }
  Bytes limit() const { return limit_; }

 private:
  friend class Reservation;
  Status Take(Kind kind, Bytes bytes);
  void Give(Kind kind, Bytes bytes);

  const std::string name_;
  const Bytes limit_;
  Budget* const parent_;
  std::atomic<int64_t> total_{0};
  std::array<std::atomic<int64_t>, kKindCount> by_kind_{};
};

}  // namespace gimbal::memory
