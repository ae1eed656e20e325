"""The arrays as compiled code sees them: by their addresses, in one small array (a *book*).

Handing a tuple of twenty arrays from function to function made numba compile for half a minute and
spend more time on passing arguments than on work. A book is one argument; a function looks up in it
the arrays it needs, which costs nothing once compiled. Whoever makes a book keeps its arrays alive.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, attr-defined, call-arg"

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import carray
from numba.core import cgutils, types
from numba.extending import intrinsic

from ensue.maintain.kernel.compiling import inlined
from ensue.maintain.kernel.layout import Array

# Three entries of the book for each array, in the order of the fields of its tuple.
_ADDRESS, _LENGTH, _WIDTH = range(3)


def book_of(arrays: NamedTuple) -> Array:
    """The book for a `Store` or for `Plans`."""
    entries = [
        (array.__array_interface__["data"][0], len(array), array.shape[1] if array.ndim > 1 else 1)
        for array in arrays
    ]
    return np.array(entries, np.int64)


@intrinsic
def _pointer(typing_context, address):
    def generate(_context, builder, _signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


def _vector_compiled(address, length, dtype):
    return carray(_pointer(address), (length,), dtype)


def _matrix_compiled(address, length, width, dtype):
    return carray(_pointer(address), (length, width), dtype)


def _vector_interpreted(address, length, dtype):
    size = length * np.dtype(dtype).itemsize
    memory = (ctypes.c_char * int(size)).from_address(int(address))
    return np.frombuffer(memoryview(memory), dtype)


def _matrix_interpreted(address, length, width, dtype):
    return _vector_interpreted(address, length * width, dtype).reshape(length, width)


# The tests that plant mistakes run with numba switched off.
_interpreted = bool(numba.config.DISABLE_JIT)
_vector = _vector_interpreted if _interpreted else inlined(_vector_compiled)
_matrix = _matrix_interpreted if _interpreted else inlined(_matrix_compiled)


def _reader(number: int, dtype: Any, columns: int) -> Any:
    if columns == 1:

        def read(book):
            return _vector(book[number, _ADDRESS], book[number, _LENGTH], dtype)
    else:

        def read(book):
            return _matrix(book[number, _ADDRESS], book[number, _LENGTH], book[number, _WIDTH], dtype)

    return inlined(read)


# Of a store, in the order of its fields.
rows = _reader(0, np.int32, 2)
ground_links = _reader(1, np.int32, 2)
stamps = _reader(2, np.int64, 1)
flags = _reader(3, np.uint8, 1)
slots = _reader(4, np.uint64, 1)
tables = _reader(5, np.int64, 2)
masks = _reader(6, np.int64, 1)
pane_stamps = _reader(7, np.int64, 1)
pane_heads = _reader(8, np.int32, 1)
heap = _reader(9, np.int64, 1)
queue = _reader(10, np.int32, 1)
queue_old = _reader(11, np.int64, 1)
born = _reader(12, np.int32, 1)
gone = _reader(13, np.int32, 1)
suspects = _reader(14, np.int32, 1)
solutions = _reader(15, np.int32, 2)
solution_stamps = _reader(16, np.int64, 1)
alpha_counts = _reader(17, np.int64, 2)
kinds = _reader(18, np.uint8, 1)
binding = _reader(19, np.int32, 1)
cursor = _reader(20, np.int64, 2)
meta = _reader(21, np.int64, 1)

# Of plans, in the order of their fields.
plans = _reader(0, np.int32, 2)
steps = _reader(1, np.int32, 2)
guards = _reader(2, np.int32, 2)
heads = _reader(3, np.int32, 2)
forward_starts = _reader(4, np.int32, 1)
forward = _reader(5, np.int32, 1)
backward_starts = _reader(6, np.int32, 1)
backward = _reader(7, np.int32, 1)
alpha_starts = _reader(8, np.int32, 1)
alphas = _reader(9, np.int32, 2)
