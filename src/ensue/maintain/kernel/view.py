"""The arrays as compiled code sees them: by their addresses, in one small table (a *book*).

Handing a tuple of twenty arrays from function to function made numba compile for half a minute and
count twenty references at each call, which took longer than the work (640 ns instead of 24 for one
look-up). The address of a book is one number; a function looks up in it the arrays it needs, which
costs nothing once compiled. Whoever makes a book keeps it and its arrays alive.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, attr-defined, misc"

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from ensue.maintain.kernel.layout import Array

# Three entries of the book for each array, in the order of the fields of its tuple.
_ADDRESS, _LENGTH, _WIDTH = range(3)
_WORD = 8


def book_of(arrays: NamedTuple) -> Array:
    """The book for a `Store` or for `Plans`."""
    entries = [
        (array.__array_interface__["data"][0], len(array), array.shape[1] if array.ndim > 1 else 1)
        for array in arrays
    ]
    return np.array(entries, np.int64)


def address_of(book: Array) -> int:
    """What a compiled function is given for a book."""
    return int(book.__array_interface__["data"][0])


def _interpreted_reader(number: int, dtype: Any, columns: int) -> Any:
    """For tests that plant mistakes: they run with numba switched off."""

    def memory(address, size):
        return memoryview((ctypes.c_char * int(size)).from_address(int(address)))

    def read(book):
        entries = np.frombuffer(memory(book + 3 * _WORD * number, 3 * _WORD), np.int64)
        size = entries[_LENGTH] * entries[_WIDTH] * np.dtype(dtype).itemsize
        found = np.frombuffer(memory(entries[_ADDRESS], size), dtype)
        return found if columns == 1 else found.reshape(entries[_LENGTH], entries[_WIDTH])

    return read


def _compiled_reader(number: int, dtype: Any, columns: int) -> Any:
    """A function that compiles to the loads of an address and a length, and no reference count."""
    element = numba.from_dtype(np.dtype(dtype))
    array_type = types.Array(element, columns, "C")

    def generate(context, builder, _signature, arguments):
        word = context.get_value_type(types.intp)
        book = builder.inttoptr(arguments[0], word.as_pointer())
        entries = [
            builder.load(builder.gep(book, [ir.Constant(word, 3 * number + k)]))
            for k in (_ADDRESS, _LENGTH, _WIDTH)
        ]
        item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(element)))
        array = make_array(array_type)(context, builder)
        data = builder.inttoptr(entries[_ADDRESS], context.get_data_type(element).as_pointer())
        row = builder.mul(entries[_WIDTH], item)
        shape, strides = ([entries[_LENGTH]], [item]) if columns == 1 else (entries[1:], [row, item])
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
        return array._getvalue()

    @intrinsic
    def read(typing_context, book):
        return array_type(types.intp), generate

    return read


_reader = _interpreted_reader if numba.config.DISABLE_JIT else _compiled_reader

# Of a store, in the order of its fields.
rows = _reader(0, np.int32, 2)
ground_links = _reader(1, np.int32, 2)
stamps = _reader(2, np.int64, 1)
flags = _reader(3, np.uint8, 1)
slots = _reader(4, np.uint64, 1)
tables = _reader(5, np.int64, 2)
masks = _reader(6, np.int64, 1)
built = _reader(7, np.uint8, 1)
pane_stamps = _reader(8, np.int64, 1)
pane_heads = _reader(9, np.int32, 1)
heap = _reader(10, np.int64, 1)
queue = _reader(11, np.int32, 1)
queue_old = _reader(12, np.int64, 1)
born = _reader(13, np.int32, 1)
gone = _reader(14, np.int32, 1)
suspects = _reader(15, np.int32, 1)
solutions = _reader(16, np.int32, 2)
solution_stamps = _reader(17, np.int64, 1)
alpha_counts = _reader(18, np.int64, 2)
assumed = _reader(19, np.uint8, 1)
active_keys = _reader(20, np.int32, 1)
active_starts = _reader(21, np.int32, 2)
active_objects = _reader(22, np.int64, 1)
active = _reader(23, np.int32, 1)
epsilon_keys = _reader(24, np.int32, 2)
epsilon_starts = _reader(25, np.int32, 2)
epsilon = _reader(26, np.int32, 2)
kinds = _reader(27, np.uint8, 1)
binding = _reader(28, np.int32, 1)
cursor = _reader(29, np.int64, 2)
meta = _reader(30, np.int64, 1)

# Of plans, in the order of their fields.
plans = _reader(0, np.int32, 2)
steps = _reader(1, np.int32, 2)
guards = _reader(2, np.int32, 2)
heads = _reader(3, np.int32, 2)
echoes = _reader(4, np.int32, 2)
forward_starts = _reader(5, np.int32, 1)
forward = _reader(6, np.int32, 1)
backward_starts = _reader(7, np.int32, 1)
backward = _reader(8, np.int32, 1)
alpha_starts = _reader(9, np.int32, 1)
alphas = _reader(10, np.int32, 2)
