"""What every room may need and no room owns: checked arguments, time limits, warnings, quoted texts, limits, HTML.

In: nothing of pdacon but its errors. Out: small functions and records, which the rooms import one by one.
"""
