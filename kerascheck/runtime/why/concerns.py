"""The parts of a step that each rule can shorten."""

from __future__ import annotations

from collections.abc import Mapping

from kerascheck.runtime.why.step import Part

_I, _T, _C, _P, _E, _O, _K, _B, _R, _H, _N, _S, _F, _L, _V, _D, _W = (
    Part.INPUT, Part.TRACING, Part.CALLBACKS, Part.PYTHON, Part.EAGER, Part.OVERHEAD, Part.COMPUTE, Part.EPOCHS, Part.PREDICT,
    Part.INSIDE, Part.BETWEEN_EPOCHS, Part.START, Part.FIT, Part.LOOKUP, Part.COMPILE,
    Part.VALIDATION, Part.TABLES,
)  # fmt: skip

CONCERNS: Mapping[str, tuple[Part, ...]] = {
    "KC101": (_I,), "KC102": (_I,), "KC103": (_I,), "KC104": (_I,), "KC105": (_I,), "KC106": (_I,), "KC107": (_I,),
    "KC109": (_I,), "KC110": (_I,), "KC111": (_I,), "KC112": (_P,), "KC113": (_I,), "KC116": (_I,), "KC118": (_I,),
    "KC119": (_I,), "KC120": (_I,), "KC121": (_T,), "KC122": (_I, _P), "KC123": (_I,), "KC124": (_I, _K),
    "KC125": (_I,), "KC126": (_B,), "KC128": (_I,), "KC129": (_I,), "KC130": (_I, _B), "KC131": (_T,), "KC132": (_I, _D),
    "KC133": (_I,),
    "KC202": (_K, _O, _E), "KC203": (_H, _K, _O), "KC205": (_K, _O, _T, _S), "KC206": (_K, _O), "KC208": (_K,), "KC209": (_K,),
    "KC210": (_K, _O), "KC211": (_K, _O), "KC212": (_L, _K, _O), "KC213": (_K,), "KC214": (_T, _S, _V),
    "KC301": (_K,), "KC302": (_K,), "KC305": (_K,), "KC308": (_K,), "KC309": (_E,), "KC310": (_K, _O), "KC313": (_K,), "KC314": (_K,),
    "KC401": (_E,), "KC402": (_P, _O, _E), "KC403": (_T,), "KC404": (_T,), "KC405": (_R, _P, _C, _N), "KC406": (_C,), "KC407": (_O,),
    "KC408": (_T,), "KC409": (_T,), "KC410": (_O, _P), "KC411": (_O,), "KC412": (_C, _N), "KC413": (_K,), "KC415": (_B, _O, _T, _F),
    "KC416": (_P, _E), "KC417": (_T,), "KC419": (_D,), "KC421": (_P, _C), "KC422": (_P, _I), "KC423": (_P, _C),
    "KC424": (_W, _K), "KC425": (_V, _T), "KC426": (_H, _K), "KC430": (_P, _I),
    "KC501": (_K,), "KC502": (_O,), "KC503": (_E,), "KC505": (_O,), "KC506": (_K,),
    "KC701": (_K,),
}  # fmt: skip
"""Parts by rule code, the most important part first.

Rules about accuracy, memory, measuring, removed names, the number of steps or the choice of a backend are missing.
"""

PYTHON_IN_PIPELINE = frozenset({"KC107", "KC109"})
"""Rules about Python code that tf.data calls. They apply to all of that code, regardless of its lines."""

PYTHON_OF_KERAS = frozenset({"KC110", "KC111"})
"""Rules about how Keras makes batches in Python. They are the cause if the script's own lines take the time."""

DIVIDES_BY_CORES = frozenset({"KC101", "KC105", "KC110"})
"""Rules whose fix spreads the same work over several cores, so the processor time stays the same."""

HALVES = frozenset({"KC301"})
"""Rules whose fix computes in 16-bit types."""


def parts_of(code: str) -> frozenset[Part]:
    """The parts that a rule can shorten.

    Computing and the fixed cost of a step include the part in which the two cannot be separated. Input includes the
    first batch of an epoch.
    """
    parts = frozenset(CONCERNS[code])
    if parts & {Part.COMPUTE, Part.OVERHEAD}:
        parts |= {Part.STEP}
    if Part.INPUT in parts:
        parts |= {Part.EPOCHS}
    return parts
