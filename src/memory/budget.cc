#include "memory/budget.h"

#include <utility>

namespace gimbal::memory {
namespace {

constexpr std::array<std::string_view, kKindCount> kKindNames = {
    "weights", "kv_cache", "activations", "batch_inputs", "queue", "other"};

// For people: whole KiB or MiB, rounded up so that "needs" never looks smaller than it is.
std::string Rounded(Bytes bytes) {
  if (bytes.value >= 10 << 20) return std::to_string((bytes.value + (1 << 20) - 1) >> 20) + "MiB";
  if (bytes.value >= 10 << 10) return std::to_string((bytes.value + (1 << 10) - 1) >> 10) + "KiB";
  return std::to_string(bytes.value) + "B";
}

}  // namespace

std::string_view KindName(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    Release();
    budget_ = std::exchange(other.budget_, nullptr);
    kind_ = other.kind_;
    bytes_ = std::exchange(other.bytes_, Bytes{});
  }
  return *this;
}

Status Reservation::Resize(Bytes bytes) {
  if (bytes > bytes_) {
    RETURN_IF_ERROR(budget_->Take(kind_, bytes - bytes_));
  } else {
    budget_->Give(kind_, bytes_ - bytes);
  }
  bytes_ = bytes;
  return Status::Ok();
}

void Reservation::Release() {
  if (budget_ != nullptr) budget_->Give(kind_, bytes_);
  budget_ = nullptr;
  bytes_ = Bytes{};
}

Budget::Budget(std::string name, Bytes limit, Budget* parent)
    : name_(std::move(name)), limit_(limit), parent_(parent) {}

Result<Reservation> Budget::Reserve(Kind kind, Bytes bytes) {
  RETURN_IF_ERROR(Take(kind, bytes));
  return Reservation(this, kind, bytes);
}

Status Budget::Take(Kind kind, Bytes bytes) {
  const int64_t before = total_.fetch_add(bytes.value, std::memory_order_relaxed);
  Status status;
  if (limit_.value > 0 && before + bytes.value > limit_.value) {
    const std::string needs = std::string(KindName(kind)) + " need " + Rounded(bytes);
    if (bytes.value > limit_.value) {
      status = TooLargeError(needs + ", the budget of " + name_ + " is " + Rounded(limit_));
    } else {
      status = Status(Code::kOutOfMemoryBudget, needs + ", " + Rounded({limit_.value - before}) +
                                                    " of the " + Rounded(limit_) + " of " + name_ +
                                                    " are free");
    }
  } else if (parent_ != nullptr) {
    status = parent_->Take(kind, bytes);
  }
  if (!status.ok()) {
    total_.fetch_sub(bytes.value, std::memory_order_relaxed);
    return status;
  }
  by_kind_[static_cast<size_t>(kind)].fetch_add(bytes.value, std::memory_order_relaxed);
  return Status::Ok();
}

void Budget::Give(Kind kind, Bytes bytes) {
  by_kind_[static_cast<size_t>(kind)].fetch_sub(bytes.value, std::memory_order_relaxed);
  total_.fetch_sub(bytes.value, std::memory_order_relaxed);
  if (parent_ != nullptr) parent_->Give(kind, bytes);
}

}  // namespace gimbal::memory
