"""The commands, each with its arguments and options, by what they are about.

In: what the command line says. Out: a call of the module that does it, which is imported then, and its exit status.
`pdacon.cli.app` gives them their names and examples.
"""
