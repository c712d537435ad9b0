"""Constraints on disk: one file, mapped into memory and shared by all who load it.

In: the automata of a constraint, with its grammar and vocabulary. Out: the bytes of a file that holds them; and from
such bytes the same again, each part checked when it is first used. What the file has is in docs/artifacts.md; the
native core reads and writes its arrays. Nothing in it is executed.

It does not know how the automata were made, nor what they are asked.
"""

from pdacon.artifact.lowered_builtins import LoweredBuiltin, lowered_builtin
from pdacon.artifact.mapped_files import map_file, require_place, write
from pdacon.artifact.stored_constraint import StoredConstraint, encode, own_version

__all__ = [
    "LoweredBuiltin",
    "StoredConstraint",
    "encode",
    "lowered_builtin",
    "map_file",
    "own_version",
    "require_place",
    "write",
]
