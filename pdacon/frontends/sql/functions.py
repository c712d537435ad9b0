"""The functions of SQLite that a query may call."""

from __future__ import annotations

_NAMES = """
    abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling changes char coalesce cos cosh count cume_dist date
    datetime degrees dense_rank exp first_value floor format glob group_concat hex ifnull iif instr json json_array
    json_array_length json_extract json_group_array json_group_object json_insert json_object json_patch json_quote
    json_remove json_replace json_set json_type json_valid julianday lag last_insert_rowid last_value lead length
    like likelihood likely ln log log10 log2 lower ltrim match max min mod nth_value ntile nullif percent_rank pi
    pow power printf quote radians random randomblob rank replace round row_number rtrim sign sin sinh soundex
    sqlite_version sqrt strftime substr substring sum tan tanh time total total_changes trim trunc typeof unicode
    unixepoch unlikely upper zeroblob
"""

SQL_FUNCTIONS: tuple[str, ...] = tuple(_NAMES.split())
"""SQLite's own functions, less those that load code, write to the program's log or tell how it was built."""
