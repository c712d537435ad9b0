// Flat arrays from Python, copied once into vectors.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

namespace pdacon {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::vector<T> copy(const Array<T>& array) {
    return {array.data(), array.data() + array.size()};
}

}  // namespace pdacon
