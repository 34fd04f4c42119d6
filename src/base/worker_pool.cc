#include "base/worker_pool.h"

#include <pthread.h>

namespace gimbal {

void SetThreadName(const std::string& name) {
  // The kernel keeps 15 characters and refuses longer names.
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

WorkerPool::WorkerPool(std::string name, int threads, size_t max_queued) : max_queued_(max_queued) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, name, i] {
      SetThreadName(name + "-" + std::to_string(i));
      Run();
    });
  }
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::TrySubmit(std::function<void()> job) {
  {
    MutexLock lock(mu_);
    if (stopping_ || jobs_.size() >= max_queued_) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.NotifyOne();
  return true;
}

size_t WorkerPool::queued() {
  MutexLock lock(mu_);
  return jobs_.size();
}

void WorkerPool::Stop() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::Run() {
  while (true) {
    std::function<void()> job;
    {
      MutexLock lock(mu_);
      while (jobs_.empty() && !stopping_) changed_.Wait(mu_);
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace gimbal
