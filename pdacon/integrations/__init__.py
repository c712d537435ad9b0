"""Hosts that sample tokens, each told by its own means which tokens may come next.

In: a Constraint and what the host has generated so far. Out: the host's scores with -inf where the mask says no. An
integration never decides what is allowed, and never lets a row pass unmasked: what it cannot follow, it raises.

Each module imports its host, and `import pdacon` imports none of them.
"""
