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
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from ensue.maintain.kernel.layout import Array, Store
from ensue.maintain.kernel.plans import Plans

# Three entries of the book for each array, in the order of the fields of its tuple.
_ADDRESS, _LENGTH, _WIDTH = range(3)
_WORD = 8
_NO_BYTES = ctypes.c_char * 0


def book_of(arrays: NamedTuple) -> Array:
    """The book for a `Store` or for `Plans`."""
    return np.array([_entry(array) for array in arrays], np.int64)


def correct(book: Array, before: NamedTuple, arrays: NamedTuple) -> None:
    """Let a book that was for the arrays `before` be for others of its kind, most of them the same."""
    for number, (old, array) in enumerate(zip(before, arrays, strict=True)):
        if array is not old:
            book[number] = _entry(array)


def _entry(array: Any) -> tuple[int, int, int]:
    return address_of(array), len(array), array.shape[1] if array.ndim > 1 else 1


def address_of(array: Any) -> int:
    """Where an array begins, quickly; of a book it is what a compiled function is given."""
    return ctypes.addressof(_NO_BYTES.from_buffer(array))


def _interpreted_reader(number: int, dtype: Any, columns: int, halves: int) -> Any:
    """For tests that plant mistakes: they run with numba switched off."""

    def memory(address, size):
        return memoryview((ctypes.c_char * int(size)).from_address(int(address)))

    def read(book):
        entries = np.frombuffer(memory(book + 3 * _WORD * number, 3 * _WORD), np.int64)
        width = entries[_WIDTH] // halves
        size = entries[_LENGTH] * width * np.dtype(dtype).itemsize
        found = np.frombuffer(memory(entries[_ADDRESS], size), dtype)
        return found if columns == 1 else found.reshape(entries[_LENGTH], width)

    return read


def _compiled_reader(number: int, dtype: Any, columns: int, halves: int) -> Any:
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
        entries[_WIDTH] = builder.udiv(entries[_WIDTH], ir.Constant(word, halves))
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


def _compiled_prefetch() -> Any:
    """A function that asks for the memory of `array[at]`, without waiting for it."""

    def generate(context, builder, signature, arguments):
        array = make_array(signature.args[0])(context, builder, arguments[0])
        item = builder.gep(array.data, [arguments[1]])
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        ask = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag]), "llvm.prefetch.p0i8"
        )
        reading, soon, data = 0, 3, 1
        builder.call(ask, [builder.bitcast(item, byte), *(flag(k) for k in (reading, soon, data))])
        return context.get_dummy_value()

    @intrinsic
    def ask_for(typing_context, array, at):
        return types.void(array, at), generate

    return ask_for


prefetch = (lambda array, at: None) if numba.config.DISABLE_JIT else _compiled_prefetch()

_make_reader = _interpreted_reader if numba.config.DISABLE_JIT else _compiled_reader


def _reader(book: type[NamedTuple], name: str, dtype: Any, columns: int, halves: int = 1) -> Any:
    """What reads an array from a book; `halves` are the columns that make one of this type."""
    return _make_reader(book._fields.index(name), dtype, columns, halves)


# Of a store.
rows = _reader(Store, "rows", np.int32, 2)
stamps = _reader(Store, "rows", np.int64, 2, halves=2)
"""The rows again, as pairs of columns: for the stamp, which is as wide as two."""
ground_links = _reader(Store, "ground_links", np.int32, 2)
slots = _reader(Store, "slots", np.uint64, 1)
tables = _reader(Store, "tables", np.int64, 2)
masks = _reader(Store, "masks", np.int64, 1)
links = _reader(Store, "links", np.int64, 1)
hangs = _reader(Store, "hangs", np.uint16, 1)
pane_stamps = _reader(Store, "pane_stamps", np.int64, 1)
pane_heads = _reader(Store, "pane_heads", np.int32, 1)
heap = _reader(Store, "heap", np.int64, 1)
queue = _reader(Store, "queue", np.int32, 1)
queue_old = _reader(Store, "queue_old", np.int64, 1)
born = _reader(Store, "born", np.int32, 1)
gone = _reader(Store, "gone", np.int32, 1)
suspects = _reader(Store, "suspects", np.int32, 1)
solutions = _reader(Store, "solutions", np.int32, 2)
solution_stamps = _reader(Store, "solution_stamps", np.int64, 1)
alpha_counts = _reader(Store, "alpha_counts", np.int64, 2)
assumed = _reader(Store, "assumed", np.uint8, 1)
wanted = _reader(Store, "wanted", np.uint8, 1)
active_keys = _reader(Store, "active_keys", np.int32, 1)
active_starts = _reader(Store, "active_starts", np.int32, 2)
active_objects = _reader(Store, "active_objects", np.int64, 1)
active = _reader(Store, "active", np.int64, 2)
epsilon_keys = _reader(Store, "epsilon_keys", np.int32, 2)
epsilon_starts = _reader(Store, "epsilon_starts", np.int32, 2)
epsilon = _reader(Store, "epsilon", np.int32, 2)
kinds = _reader(Store, "kinds", np.uint8, 1)
binding = _reader(Store, "binding", np.int32, 1)
cursor = _reader(Store, "cursor", np.int64, 2)
made = _reader(Store, "made", np.int64, 1)
meta = _reader(Store, "meta", np.int64, 1)

# Of plans.
plans = _reader(Plans, "plans", np.int32, 2)
steps = _reader(Plans, "steps", np.int32, 2)
guards = _reader(Plans, "guards", np.int32, 2)
heads = _reader(Plans, "heads", np.int32, 2)
forward_starts = _reader(Plans, "forward_starts", np.int32, 1)
forward = _reader(Plans, "forward", np.int32, 1)
backward_starts = _reader(Plans, "backward_starts", np.int32, 1)
backward = _reader(Plans, "backward", np.int32, 1)
alpha_starts = _reader(Plans, "alpha_starts", np.int32, 1)
alphas = _reader(Plans, "alphas", np.int32, 2)
