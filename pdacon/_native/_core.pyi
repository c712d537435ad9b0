"""The native core: integers and flat arrays in, integers and flat arrays out."""

import numpy as np
from numpy.typing import NDArray

# lalr

class LalrTables:
    """What lalr_tables returns: read-only int32 views (S states, T terminals, N nonterminals, K starts)."""

    @property
    def action(self) -> NDArray[np.int32]: ...  # [S, T + 1]
    @property
    def goto(self) -> NDArray[np.int32]: ...  # [S, N]
    @property
    def start_states(self) -> NDArray[np.int32]: ...  # [K]
    @property
    def end_states(self) -> NDArray[np.int32]: ...  # [K]
    @property
    def accessing(self) -> NDArray[np.int32]: ...  # [S]
    @property
    def kernel_offset(self) -> NDArray[np.int32]: ...  # [S + 1]
    @property
    def kernel_production(self) -> NDArray[np.int32]: ...
    @property
    def kernel_dot(self) -> NDArray[np.int32]: ...
    @property
    def conflicts(self) -> NDArray[np.int32]:
        """[n, 8]: kind, state, symbol, shift_to, settled, chosen, lark_only, first production."""
    @property
    def conflict_productions(self) -> NDArray[np.int32]: ...

def lalr_tables(
    num_terminals: int,
    num_nonterminals: int,
    lhs: NDArray[np.int32],
    rhs_offset: NDArray[np.int32],
    rhs: NDArray[np.int32],
    priority: NDArray[np.int32],
    starts: NDArray[np.int32],
    max_states: int,
    max_bytes: int,
    max_seconds: float,
) -> LalrTables: ...
