"""Nouns that never change, made by the hundred thousand."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a frozen dataclass with slots whose making is cheap.

    That nobody assigns to a field is what the type checker holds, not the object itself: the
    guard of `dataclass(frozen=True)` makes it five times as slow to make one.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
