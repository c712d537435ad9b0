"""What a constraint did to a text, as a picture: needs matplotlib."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

_WIDTH = 0.35  # inches for a token


def plot(
    texts: Sequence[str],
    alone: Sequence[float],
    allowed: Sequence[float],
    removed: Sequence[float],
    diverged: Collection[int],
    axes: Any = None,
) -> Any:
    """Draw the probabilities of each token, and how much was removed there; see `Diagnostics.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'pdacon[plot]'") from error
    if axes is None:
        width = max(4.0, _WIDTH * len(texts) + 1.5)
        axes = Figure(figsize=(width, 3.5), layout="constrained").add_subplot()
    places = range(len(texts))
    axes.bar(
        places,
        removed,
        color=["tab:red" if number in diverged else "tab:orange" for number in places],
        alpha=0.4,
        label="removed (red: with what the model wanted)",
    )
    axes.plot(places, alone, "o-", color="tab:blue", label="the token, by the model alone")
    axes.plot(places, allowed, "s--", color="tab:green", label="the token, among what is allowed")
    # Nothing in a token is an instruction to matplotlib, which reads $ as mathematics.
    names = [(repr(text)[1:-1] or "(end)").replace("$", r"\$") for text in texts]
    axes.set_xticks(places, names, rotation=90, family="monospace")
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("probability")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.3), ncols=1, frameon=False, fontsize="small")
    return axes
