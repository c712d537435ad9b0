"""What to write instead of rules with a conflict; each suggestion of rules is tried before it is made."""
