"""Terminals written anew so that a finding is gone; each suggestion is tried before it is made."""
