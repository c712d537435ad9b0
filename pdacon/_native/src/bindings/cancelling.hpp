// Lets Python cancel a running compilation.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "base/budget.hpp"
#include "bindings/gil.hpp"

namespace pdacon {

// Asks the watch in whose block the call stands (pdacon/base/cancelling.py), and Python's signal handlers:
// Ctrl-C stops native work as well. Never says yes: what stops the work is thrown. Made and dropped with the
// GIL held; takes it when it is asked, so whoever asks holds no lock that another thread may wait for with
// the GIL.
class PythonCanceller final : public Canceller {
  public:
    PythonCanceller() : watch_(nanobind::module_::import_("pdacon.base.cancelling").attr("current")()) {
        if (watch_.is_none()) return;
        watch_.attr("look")();  // many short calls never come to ask
        patience_ = std::chrono::duration<double>(nanobind::cast<double>(watch_.attr("patience")));
    }

    std::chrono::duration<double> patience() const override { return patience_; }

    bool is_set() override {
        const WithGil acquire;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
        if (!watch_.is_none()) watch_.attr("look")();
        return false;
    }

  private:
    nanobind::object watch_;
    std::chrono::duration<double> patience_ = Canceller::patience();
};

// For work that is done in many short calls: asks as a PythonCanceller does, once.
inline void look_once() {
    const WithGil acquire;
    PythonCanceller canceller;
    if (canceller.is_set()) throw Cancelled();
}

}  // namespace pdacon
