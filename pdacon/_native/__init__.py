"""The native core: everything that runs per byte, per DFA state, per LALR item or per token.

In: integers and flat arrays, validated once. Out: the same. It never sees grammar text. Beside the rooms
above, programs in C call it (``embedding``, and llama.cpp's samplers).
"""
