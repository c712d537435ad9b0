"""Constrained decoding with grammars: the public names and nothing else."""
