// Python's lock, given back around work that does without it, and taken by threads that have it not.
//
// A thread that asks for the lock while the interpreter exits is ended by Python before 3.14, which unwinds
// it; a destructor cannot be unwound, and the process would be aborted. Such a thread waits here for the end
// of the process instead, as it does in later Pythons.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace pdacon {

template <class Take>
auto taken_or_waiting(Take take) noexcept {
    try {
        return take();
    } catch (...) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

class WithoutGil {
  public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() {
        taken_or_waiting([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

  private:
    PyThreadState* state_;
};

class WithGil {
  public:
    WithGil() : state_(taken_or_waiting([] { return PyGILState_Ensure(); })) {}
    ~WithGil() { PyGILState_Release(state_); }
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

  private:
    PyGILState_STATE state_;
};

// Holds a mutex whose owners may ask for Python's lock: nobody waits for it with that.
template <class Mutex>
std::unique_lock<Mutex> held(Mutex& mutex) {
    std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
        const WithoutGil release;
        lock.lock();
    }
    return lock;
}

}  // namespace pdacon
