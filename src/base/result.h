#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/status.h"

namespace gimbal {

// A value of type T, or the Status (never OK) that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<1>, std::move(value)) {}  // NOLINT: implicit on purpose
  template <typename U>
    requires(std::is_convertible_v<U&&, T> && !std::is_convertible_v<U&&, Status> &&
             !std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : state_(std::in_place_index<1>, std::forward<U>(value)) {}  // NOLINT
  Result(Status status) : state_(std::in_place_index<0>, std::move(status)) {    // NOLINT
    CHECK(!std::get<0>(state_).ok(), "a Result without a value needs an error");
  }

  bool ok() const { return state_.index() == 1; }
  // The error, or OK.
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  // REQUIRES: ok().
  T& value() & { return Checked(); }
  const T& value() const& { return const_cast<Result*>(this)->Checked(); }
  T&& value() && { return std::move(Checked()); }
  T& operator*() & { return Checked(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &Checked(); }
  const T* operator->() const { return &value(); }

 private:
  T& Checked() {
    CHECK(ok(), "value() of a Result that holds an error");
    return std::get<1>(state_);
  }
  std::variant<Status, T> state_;
};

}  // namespace gimbal
