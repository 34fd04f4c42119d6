#pragma once

#include <atomic>
#include <list>

#include "base/clock.h"
#include "base/mutex.h"

namespace gimbal {

// A clock that stands still until someone moves it; for tests and the simulator. Moving it wakes
// the threads that wait by it for a time that has come. Any thread may call it.
class ManualClock : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint(std::chrono::seconds(1))) : now_(start) {}

  TimePoint Now() const override { return now_.load(); }

  // The analysis cannot follow `mu`, which belongs to the caller's object.
  void Wait(CondVar& cv, Mutex& mu, TimePoint until) const override NO_THREAD_SAFETY_ANALYSIS {
    std::list<Waiter>::iterator self;
    {
      MutexLock lock(waiters_mu_);
      self = waiters_.insert(waiters_.end(), {&cv, &mu, until});
      waiting_.NotifyAll();
    }
    // Looked at after signing in, so that an advance is either seen here or wakes the wait.
    if (Now() < until) cv.Wait(mu);
    MutexLock lock(waiters_mu_);
    waiters_.erase(self);
  }

  void Advance(Duration by) { Set(now_.load() + by); }

  void Set(TimePoint to) NO_THREAD_SAFETY_ANALYSIS {
    now_.store(to);
    std::list<Waiter> waiters;
    {
      MutexLock lock(waiters_mu_);
      waiters = waiters_;
    }
    for (const Waiter& waiter : waiters) {
      if (waiter.until > to) continue;  // a wait without end must be ended by a notification
      waiter.mu->lock();  // the waiter is now either inside the wait or has seen the new time
      waiter.mu->unlock();
      waiter.cv->NotifyAll();
    }
  }

  // Blocks until at least `count` threads wait by this clock; how a test knows that all is at rest.
  void AwaitWaiters(size_t count) {
    MutexLock lock(waiters_mu_);
    while (waiters_.size() < count) waiting_.Wait(waiters_mu_);
  }

 private:
  struct Waiter {
    CondVar* cv;
    Mutex* mu;
    TimePoint until;
  };
  std::atomic<TimePoint> now_;
  mutable Mutex waiters_mu_;
  mutable CondVar waiting_;
  mutable std::list<Waiter> waiters_ GUARDED_BY(waiters_mu_);
};

}  // namespace gimbal
