"""Masks on the device where the logits are: a step sends one integer per sequence, never a mask that was sent before.

In: a Vocabulary, matchers of any of its constraints, logits. Out: the logits with -inf where the masks say no.

    masks = DeviceMasks(vocabulary, logits.device)
    ...
    masks.apply(logits, matchers, tokens)  # each step; tokens: those that the last one chose. Or, in two halves:
    ids = masks.ids(matchers, tokens)
    apply_masks(logits, masks.table, ids)

A host that keeps int32 bitmasks itself, as vLLM, SGLang and XGrammar lay them out (token t is bit t % 32 of word
t // 32), uses `apply_bitmask`. Needs ``torch``; nothing else of pdacon does. On a CUDA or ROCm device with Triton,
which comes with PyTorch there, masking is one kernel (`mask_kernel.py`); elsewhere it is done in plain torch.
"""

from __future__ import annotations

import functools
import importlib.util
import operator
import threading
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from pdacon.detokenizer import Vocabulary
from pdacon.integrations.mask_rows import MaskRows, Tokens
from pdacon.integrations.widths import refusal
from pdacon.matching import Matcher
from pdacon.matching.drafted_trees import matchers_of_tree

_KEPT_BITS: dict[torch.device, torch.Tensor] = {}


class DeviceMasks:
    """A table of masks on a device, for batches of any constraints of one vocabulary.

    Parameters
    ----------
    vocabulary : Vocabulary
        That of all constraints whose matchers come.
    device : torch.device or str
        Where the logits are.
    rows : int
        For how many masks there is room at first: a row has 4 bytes for each 32 tokens. The room is doubled when it is
        used up, and `table` is another tensor then.
    max_bytes : int
        For how many bytes of masks there is room at most. Masks that were not used for the longest time make room for
        new ones; no step may have more at once. A host that captures graphs gives ``rows=`` so many that it is all
        taken from the beginning.

    Notes
    -----
    Equal masks of all constraints are one row. A step sends the numbers of its rows, and what rows are new. The host
    keeps a copy of the table, which on the CPU is the table. Threads may share it, on one stream of the device. The
    matchers of the last step are kept alive until others come: a step with the same ones, in the same order, is faster.
    """

    def __init__(
        self, vocabulary: Vocabulary, device: torch.device | str, *, rows: int = 64, max_bytes: int = 1 << 26
    ) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"DeviceMasks are of a pdacon.Vocabulary, not of {type(vocabulary).__name__}")
        if operator.index(rows) < 1:
            raise ValueError(f"rows must be at least 1, got {rows}")
        self._size = vocabulary.size
        words = -(-self._size // 32)
        if operator.index(max_bytes) < 4 * words:
            raise ValueError(f"max_bytes must be at least {4 * words}, which one mask has, got {max_bytes}")
        self._rows = MaskRows(words, torch.device(device), rows, max_bytes // (4 * words))
        self._lock = threading.Lock()  # held from the choice of rows until what reads them is under way

    @property
    def table(self) -> torch.Tensor:
        """The masks by number: int32[rows, words]. `ids` says which are meant; read it after that."""
        return self._rows.table

    def apply(
        self,
        logits: torch.Tensor,
        matchers: Sequence[Matcher | None],
        tokens: Tokens | None = None,
    ) -> torch.Tensor:
        """Set to -inf, in place, what the matchers do not allow: `ids`, then `apply_masks`, and their errors.

        ValueError, too, if the logits have more columns than models pad a vocabulary of this size to: more than twice
        as many, or more than 1,024 and an eighth beyond it. Where the constraints are known to be for the model,
        `apply_masks` with ``size=`` takes any number.
        """
        columns = logits.shape[-1] if isinstance(logits, torch.Tensor) and logits.dim() == 2 else 0
        way_out = "compile it for the vocabulary of this model, or use apply_masks with size= if it is"
        if columns > self._size and (said := refusal(columns, self._size, way_out)) is not None:
            raise ValueError(said)
        with self._lock:
            ids = self._ids(matchers, tokens)
            return apply_masks(logits, self._rows.table, ids, size=self._size)

    def ids(self, matchers: Sequence[Matcher | None], tokens: Tokens | None = None) -> torch.Tensor:
        """The mask of each matcher as a row of `table`, which has what is new then.

        Parameters
        ----------
        matchers : sequence of Matcher or None
            Of any constraints of the vocabulary. None: a sequence that nothing constrains.
        tokens : sequence of int, optional
            A token for each matcher, which it takes first; -1: it takes none. No matcher may come twice then.

        Returns
        -------
        torch.Tensor, int32[n], on the device
            -1 where the matcher is None. Rows stay what they are until the next call.

        Raises
        ------
        MatcherError
            A matcher does not allow its token, or another thread uses it.
        LimitExceededError, ArtifactError
            A mask or a step cannot be had.
        ValueError
            A matcher is of a larger vocabulary, or a step has more masks than there is room for.
        IndexError
            A token is not in the vocabulary.

        An error about a matcher names it, and whatever the others could do is done: they have taken their tokens, and
        ``ids(matchers)`` goes on from there.

        Notes
        -----
        Masks that are not known yet are computed by several threads, one for each constraint.
        """
        with self._lock:
            return self._ids(matchers, tokens)

    def tree_ids(self, trees: Sequence[tuple[Matcher, Sequence[int], Sequence[int]]]) -> torch.Tensor:
        """The masks of trees of drafted tokens, one for each sequence, which one pass of a model verifies.

        Parameters
        ----------
        trees : sequence of (matcher, tokens, parents)
            As `pdacon.matching.fill_tree_bitmask` takes them. The matchers stay where they are.

        Returns
        -------
        torch.Tensor, int32[n], on the device
            For each tree the row of its matcher's own mask, then one for each of its tokens: where that or one before
            it is not allowed, of a mask that allows nothing.

        Raises
        ------
        ValueError
            A tree is none, or as of `ids`, with the other errors.

        Notes
        -----
        Cost: a fork and a step for each token, and one call for all masks.
        """
        places: list[Matcher | None] = []
        refused: list[int] = []
        for matcher, tokens, parents in trees:
            first = len(places) + 1
            places += [matcher, *matchers_of_tree(matcher, tokens, parents)]
            refused += [place for place in range(first, len(places)) if places[place] is None]
        nothing = np.zeros((1, self._rows.words), np.int32)
        with self._lock:
            numbers, given = self._rows.find(places, others=nothing if refused else None)
            if refused:
                numbers[refused] = given[0]
            return self._rows.sent(len(numbers))

    def _ids(self, matchers: Sequence[Matcher | None], tokens: Tokens | None) -> torch.Tensor:
        numbers, _ = self._rows.find(matchers, tokens)
        return self._rows.sent(len(numbers))


def apply_masks(
    logits: torch.Tensor, table: torch.Tensor, ids: torch.Tensor, *, size: int | None = None
) -> torch.Tensor:
    """Set to -inf, in place, what the masks do not allow.

    Parameters
    ----------
    logits : torch.Tensor, floating[n, columns]
        Columns past the vocabulary are never allowed.
    table : torch.Tensor, int32[masks, words]
        Bit t % 32 of word t // 32 of a row is set iff token t is allowed. On the device of the logits.
    ids : torch.Tensor, integer[n]
        The row of `table` for each row of `logits`; a negative one leaves its row as it is. Of any integer dtype, on
        the device of the logits.
    size : int, optional
        How many tokens the vocabulary has. Without it, it is only known that they are more than fill all words but the
        last, and as many words are wanted as the logits need.

    Returns
    -------
    torch.Tensor
        `logits`.

    Raises
    ------
    TypeError
        An argument is no tensor, or not of its dtype.
    ValueError
        The logits have fewer columns than the vocabulary has tokens, or shapes or devices do not fit.
    IndexError
        On the CPU, an id is not in the table.

    Notes
    -----
    Nothing waits for the device, whose ids cannot be looked at: there one that is not in the table allows nothing. In
    one kernel (see the module), or in plain torch with one byte for each of the logits for the moment.
    """
    _require_fit(logits, table, "table", size)
    _require_tensor("ids", ids)
    if ids.is_floating_point() or ids.dtype == torch.bool:
        raise TypeError(f"ids must have an integer dtype, not {ids.dtype}")
    if ids.shape != logits.shape[:1]:
        raise ValueError(f"ids of shape {tuple(ids.shape)} for logits of shape {tuple(logits.shape)}")
    if _is_for_the_kernel(logits, table) and ids.device == logits.device:
        _kernel_forbid(logits, table, ids.contiguous())
        return logits
    ids = ids.to(torch.int64)  # torch takes uint8 for a mask, and other widths not at all
    return _forbid(logits, table[ids.clamp(min=0)], (ids < 0).unsqueeze(1))


def apply_bitmask(
    logits: torch.Tensor, bitmask: torch.Tensor | NDArray[np.int32], *, size: int | None = None
) -> torch.Tensor:
    """Set to -inf, in place, what a bitmask does not allow: `apply_masks` for rows that lie there one by one.

    Parameters
    ----------
    logits : torch.Tensor, floating[n, columns]
    bitmask : torch.Tensor or numpy.ndarray, int32[n, words]
        As `pdacon.fill_bitmasks` writes it: a tensor on the device of the logits, or an array, which is copied there. A
        row of -1 allows all that it has bits for: ``bitmask[row] = -1`` for a sequence that nothing constrains.
    size : int, optional
        As in `apply_masks`. With it the rows may have more words than the vocabulary needs, as a host may lay them out.
    """
    _require_tensor("logits", logits)
    if isinstance(bitmask, np.ndarray):
        bitmask = torch.from_numpy(bitmask).to(logits.device)
    _require_fit(logits, bitmask, "bitmask", size)
    if bitmask.shape[:1] != logits.shape[:1]:
        raise ValueError(f"a bitmask of {bitmask.shape[0]} rows for logits of shape {tuple(logits.shape)}")
    if _is_for_the_kernel(logits, bitmask):
        _kernel_forbid(logits, bitmask, None)
        return logits
    return _forbid(logits, bitmask, None)


def shift_out(words: torch.Tensor, columns: int) -> torch.Tensor:
    """Return the bits of int32[rows, words] as bool[rows, columns]; token t is bit t % 32 of word t // 32."""
    return _single_bits(words, columns) != 0


def _shift_out_zeros(words: torch.Tensor, columns: int) -> torch.Tensor:
    """Return where the bits are not set: ``~shift_out(words, columns)``, one kernel less."""
    return _single_bits(words, columns) == 0


def _single_bits(words: torch.Tensor, columns: int) -> torch.Tensor:
    """Each bit at its own place in an octet: uint8[rows, columns]."""
    octets = words.contiguous().view(torch.uint8)  # the least significant first, on every machine that torch runs on
    return (octets.unsqueeze(-1) & _bits_of_octet(words.device)).flatten(1)[:, :columns]


def _bits_of_octet(device: torch.device) -> torch.Tensor:
    """1, 2, 4 to 128: uint8[8]. They are kept: to make them costs a device as much as half a step's mask."""
    kept = _KEPT_BITS.get(device)
    if kept is not None:
        return kept
    with torch.inference_mode(False):
        bits = 1 << torch.arange(8, dtype=torch.uint8, device=device)
    if device.type != "cuda" or not torch.cuda.is_current_stream_capturing():
        _KEPT_BITS[device] = bits  # one of a captured graph has no values before the graph runs
    return bits


def _require_tensor(name: str, value: object) -> None:
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, not {type(value).__name__}")


def _require_fit(logits: torch.Tensor, masks: torch.Tensor, name: str, size: int | None) -> None:
    """Check all that is known without a look at the numbers."""
    _require_tensor("logits", logits)
    _require_tensor(name, masks)
    if not logits.is_floating_point():
        raise TypeError(f"logits must have a floating dtype, not {logits.dtype}")
    if masks.dtype != torch.int32:
        raise TypeError(f"{name} must have dtype int32, not {masks.dtype}")
    for what, tensor in (("logits", logits), (name, masks)):
        if tensor.dim() != 2:
            raise ValueError(f"{what} must have two dimensions, not shape {tuple(tensor.shape)}")
    if masks.device != logits.device:
        raise ValueError(f"{name} is on {masks.device}, the logits on {logits.device}")
    columns, words = logits.shape[1], masks.shape[1]
    if size is not None and operator.index(size) < 1:
        raise ValueError(f"size must be the number of tokens of the vocabulary, got {size}")
    if size is None and columns <= 32 * (words - 1):
        raise ValueError(
            f"logits have {columns} columns, and {name} is for more than {32 * (words - 1)} tokens; give size=, the "
            "vocabulary's, if it has more words than that needs"
        )
    if size is not None and columns < size:
        raise ValueError(f"logits have {columns} columns, and the vocabulary {size} tokens")
    if size is not None and words < -(-size // 32):
        raise ValueError(f"{name} has {words} words a row; the vocabulary needs {-(-size // 32)}")


def _is_for_the_kernel(logits: torch.Tensor, masks: torch.Tensor) -> bool:
    """Whether the fused kernel can be used: Triton is there, and neighbours in a row lie beside each other.

    Autograd does not see what a kernel does, so logits that have a gradient are masked by torch's own operations.
    """
    on_device = logits.is_cuda and logits.element_size() <= 4 and not logits.requires_grad
    return on_device and logits.stride(1) == 1 and masks.stride(1) == 1 and _has_triton()


@functools.cache
def _has_triton() -> bool:
    return importlib.util.find_spec("triton") is not None


def _kernel_forbid(logits: torch.Tensor, masks: torch.Tensor, ids: torch.Tensor | None) -> None:
    from pdacon.integrations.mask_kernel import forbid

    if logits.device.index == torch.cuda.current_device():
        forbid(logits, masks, ids)
    else:  # kernels run on the current device
        with torch.cuda.device(logits.device):
            forbid(logits, masks, ids)


def _forbid(logits: torch.Tensor, words: torch.Tensor, free: torch.Tensor | None) -> torch.Tensor:
    """Set to -inf what the words of each row do not allow; `free` rows, bool[n, 1], stay as they are.

    On a device it is the number of kernels that counts, some microseconds each, not how much they do.
    """
    if not len(logits):
        return logits
    if free is not None:
        words = torch.where(free, -1, words)
    forbidden = _shift_out_zeros(words, logits.shape[1])
    known = forbidden.shape[1]
    logits[:, :known].masked_fill_(forbidden, -torch.inf)
    if known < logits.shape[1]:
        surplus = logits[:, known:]
        surplus.fill_(-torch.inf) if free is None else surplus.masked_fill_(~free, -torch.inf)
    return logits
