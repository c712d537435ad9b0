// Room `bindings`: the one module that Python sees.
//
// In: Python's arguments. Out: calls of the rooms below, without the GIL where they are long, and typed
// errors. Nothing below knows Python, and nothing here decides anything.
//
// Flat arrays from Python, copied once into vectors or looked at for one call; and vectors that become
// arrays.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdacon {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::vector<T> copy(const Array<T>& array) {
    return {array.data(), array.data() + array.size()};
}

template <class T>
std::span<const T> view(const Array<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
using Owned = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;
template <class T>
using OwnedRows = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<2>>;

template <class OwnedArray, class T>
OwnedArray owned(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    auto* const vector = kept.get();
    nanobind::capsule owner(vector, [](void* of) noexcept { delete static_cast<std::vector<T>*>(of); });
    kept.release();
    return OwnedArray(vector->data(), shape, owner);
}

template <class T>
Owned<T> owned(std::vector<T> values) {
    const auto size = values.size();
    return owned<Owned<T>>(std::move(values), {size});
}

// A matrix, by rows.
template <class T>
OwnedRows<T> owned(std::vector<T> values, std::size_t rows, std::size_t columns) {
    return owned<OwnedRows<T>>(std::move(values), {rows, columns});
}

}  // namespace pdacon
