"""What several test files share: grammars, stock Lark as the oracle, samplers."""
