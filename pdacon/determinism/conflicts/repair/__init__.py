"""Rules written anew so that a conflict is gone; each suggestion is tried before it is made."""
