// What the calls for many matchers share: their matchers, and the errors of those for which something failed.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "matching/matcher.hpp"

namespace pdacon {

inline std::string place_in_batch(std::size_t at) { return "matchers[" + std::to_string(at) + "]"; }

// The matchers of a sequence, null for None where it may have it. They are kept alive by a tuple of their
// own, since the caller's list may change while the GIL is released or Python's code runs.
class KeptMatchers {
  public:
    KeptMatchers(nanobind::handle matchers, bool may_be_none) {
        namespace nb = nanobind;
        const nb::object given = nb::steal(PySequence_Fast(matchers.ptr(), "matchers must be a sequence"));
        if (!given.is_valid()) throw nb::python_error();
        owners_ = nb::steal(PySequence_Tuple(given.ptr()));
        if (!owners_.is_valid()) throw nb::python_error();
        const auto count = PyTuple_GET_SIZE(owners_.ptr());
        all_.reserve(static_cast<std::size_t>(count));
        nb::handle known;  // a type whose instances are matchers; to find that out takes its time
        for (Py_ssize_t at = 0; at < count; ++at) {
            const nb::handle item = PyTuple_GET_ITEM(owners_.ptr(), at);
            if (item.type().is(known) && nb::inst_ready(item)) {
                all_.push_back(nb::inst_ptr<Matcher>(item));
                continue;
            }
            Matcher* matcher = nullptr;
            if (!(may_be_none && item.is_none()) &&
                (!nb::try_cast<Matcher*>(item, matcher) || matcher == nullptr))
                throw nb::type_error((place_in_batch(all_.size()) + " must be a Matcher" +
                                      (may_be_none ? " or None" : "") + ", not " +
                                      nb::type_name(item.type()).c_str())
                                         .c_str());
            if (matcher != nullptr) known = item.type();
            all_.push_back(matcher);
        }
    }
    const std::vector<Matcher*>& all() const { return all_; }
    // Whether a list or tuple has the same objects. They are alive, so that no other one has their address.
    bool are(nanobind::handle sequence) const {
        const auto same = [&](auto size, auto item) {
            if (static_cast<std::size_t>(size) != all_.size()) return false;
            for (decltype(size) at = 0; at < size; ++at)
                if (item(at) != NB_TUPLE_GET_ITEM(owners_.ptr(), at)) return false;
            return true;
        };
        auto* const given = sequence.ptr();
        if (PyTuple_Check(given))
            return same(NB_TUPLE_GET_SIZE(given), [&](auto at) { return NB_TUPLE_GET_ITEM(given, at); });
        return PyList_Check(given) &&
               same(NB_LIST_GET_SIZE(given), [&](auto at) { return NB_LIST_GET_ITEM(given, at); });
    }

  private:
    std::vector<Matcher*> all_;
    nanobind::object owners_;
};

// Lets the work for the other matchers of a batch go on where that for some of them fails.
class BatchFailures {
  public:
    // Does the work for the matcher at an index; an `Error` is kept for later, any other is thrown.
    template <class Error = std::exception, class Work>
    void watch(std::size_t at, Work work) {
        try {
            work();
        } catch (const Error&) {
            if (!first_) first_ = std::current_exception();
            failed_.push_back(at);
        }
    }
    // Throws the first error with its place in the batch, if there is any. `others`: what is with the rest.
    void complain(const std::string& others) const {
        if (!first_) return;
        auto whose = place_in_batch(failed_[0]);
        if (failed_.size() > 1) whose += " and " + std::to_string(failed_.size() - 1) + " behind it";
        try {
            std::rethrow_exception(first_);
        } catch (const LimitExceeded& error) {
            throw LimitExceeded(error.what(), error.given, error.limit, "by " + whose + "; " + others);
        } catch (const ArtifactDamage& error) {
            throw ArtifactDamage(whose + ": " + error.what() + "; " + others);
        } catch (const MatcherMisuse& error) {
            throw MatcherMisuse(whose + ": " + error.what() + "; " + others);
        } catch (const std::out_of_range& error) {
            throw std::out_of_range(whose + ": " + error.what() + "; " + others);
        } catch (const std::runtime_error& error) {
            throw std::runtime_error(whose + ": " + error.what() + "; " + others);
        }
    }

  private:
    std::vector<std::size_t> failed_;
    std::exception_ptr first_;
};

}  // namespace pdacon
