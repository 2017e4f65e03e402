"""Tables for a paper: LaTeX with the rules of the package booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ratekeeper._wording._formatting import escape_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def escaped(text: str) -> str:
    r"""Return a text that LaTeX prints as it is.

    Examples
    --------
    >>> print(escaped("a_b & 5% <= {x}"))
    a\_b \& 5\% \textless{}= \{x\}
    """
    return "".join(_SIGNS.get(sign, sign) for sign in escape_controls(text))


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int, caption: str, label: str
) -> str:
    r"""Return a table; the first so many columns are texts, the others numbers.

    Examples
    --------
    >>> print(table(["system", "p"], [["a_b", "<.001"]], texts=1, caption="Who.", label="tab:a"))
    % needs \usepackage{booktabs}
    \begin{table}
      \centering
      \caption{Who.}
      \label{tab:a}
      \begin{tabular}{lr}
        \toprule
        system & p \\
        \midrule
        a\_b & \textless{}.001 \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    columns = "l" * texts + "r" * (len(heads) - texts)
    lines = [" & ".join(map(escaped, cells)) + r" \\" for cells in (heads, *rows)]
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{escaped(caption)}}}",
            rf"  \label{{{label}}}",
            rf"  \begin{{tabular}}{{{columns}}}",
            *(f"    {line}" for line in body),
            r"  \end{tabular}",
            r"\end{table}",
        ]
    )
