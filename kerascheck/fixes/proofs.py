"""The obligations of safe fixes: a fix proves them before ``--fix`` applies it without asking.

With a safe fix, the program trains to the same numbers, prints the same, and writes the same files, in the same order; speed,
memory and thread names may differ (``docs/fix-safety.md``). A builder states its obligations and proves each of them, or gives an
objection. A single missing proof makes the fix unsafe. Unknown facts prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Obligation:
    """A statement that a safe fix has to prove.

    Attributes:
        name: its identifier in reports and in ``cases.md``, such as "static-shape".
        statement: the statement, as a clause without a full stop.

    Example:
        >>> proofs.SAME_NUMBERS.name
        'same-numbers'
    """

    name: str
    statement: str

    def unless(self, objection: str | None) -> Proof:
        """Return the proof of this obligation, which holds if there is no objection.

        Args:
            objection: the objection as a clause, such as "`scale` is also called at line 40"; None if the obligation is proven.
        """
        return Proof(self, objection)


@dataclass(frozen=True, slots=True)
class Proof:
    """An obligation with the objection to it; None if it is proven.

    Example:
        >>> proofs.SAME_NUMBERS.unless("XLA rounds in another order").objection
        'XLA rounds in another order'
    """

    obligation: Obligation
    objection: str | None = None


SAME_NUMBERS = Obligation("same-numbers", "the training computes the same numbers, to the last bit")
SAME_OUTPUT = Obligation("same-output", "the program prints and writes the same, in the same order")
SAME_MEMORY = Obligation("same-memory", "no more elements are held at once, unless the runtime bounds them")
SAME_NAMES = Obligation("same-names", "layers, weights and files keep their names")
SAME_OBJECT = Obligation("same-object", "both names stand for one object, and nothing replaces it by name")
SAME_MEANING = Obligation("same-meaning", "each argument means the same for both functions, for this type of data")
SAME_ORDER = Obligation("same-order", "the elements keep their order, on any number of processors")
SAME_EVERY_EPOCH = Obligation("same-every-epoch", "the elements are the same in every epoch, in the same order")
RUNTIME_DOES_IT = Obligation(
    "runtime-does-it", "tf.data makes this change, or runs ahead of the training here, by itself"
)
RAISES_NOW = Obligation("raises-now", "the code raises as it is, and nothing catches that")
PURE_FUNCTION = Obligation(
    "pure-function",
    "the function is visible as a whole, draws nothing, and neither reads nor writes what others can change",
)
UNCHANGED_SOURCES = Obligation("unchanged-sources", "nothing that the pipeline reads changes while it is iterated")
BATCH_LIKE_ELEMENTS = Obligation(
    "batch-like-elements",
    "the function gives for a batch, to the last bit, the batch of what it gives for its elements",
)
STATIC_SHAPE = Obligation("static-shape", "all elements are dense tensors of one static shape")
KNOWN_CONSUMERS = Obligation(
    "known-consumers", "every consumer of the dataset is visible, and none shows of which class the dataset is"
)
ONLY_CONSUMER = Obligation("only-consumer", "nothing else in the program uses the dataset that changes")
PLAIN_CALL = Obligation("plain-call", "the calls have only arguments whose meaning is kept")
ONLY_CALLER = Obligation("only-caller", "nothing else calls the function that changes")
BOUND_BEFORE = Obligation("bound-before", "every name of the moved statements is bound before the new place")
NOTHING_BETWEEN = Obligation("nothing-between", "no statement in between reads or changes what the moved ones do")
ONLY_COMMENTS = Obligation("only-comments", "only comments change")


def all_obligations() -> dict[str, Obligation]:
    """Return all obligations by name."""
    return {each.name: each for each in globals().values() if isinstance(each, Obligation)}
