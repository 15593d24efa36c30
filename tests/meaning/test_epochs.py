"""Differences between epochs, and caches that freeze them."""

import pytest
from snippets import IMPORTS, load, operation

from kerascheck.meaning.data.epochs import Unfrozen, frozen_by

RANGE = "tf.data.Dataset.range(9)"
DRAW = "map(lambda x: x + tf.random.uniform([], maxval=9, dtype=tf.int64))"
FOLDER = "keras.utils.image_dataset_from_directory('a')"


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (f"{RANGE}.map(lambda x: x + 1).cache()", Unfrozen.NOTHING_RANDOM),
        (f"{RANGE}.{DRAW}.cache()", ("map", False)),
        (f"{RANGE}.shuffle(9).{DRAW}.cache()", ("shuffle", False)),
        (f"{RANGE}.shuffle(9).{DRAW}.cache().shuffle(9)", ("map", False)),
        (f"{RANGE}.shuffle(9, reshuffle_each_iteration=False).cache()", Unfrozen.NOTHING_RANDOM),
        (f"{RANGE}.shuffle(9).take(5).cache()", Unfrozen.FEW_ELEMENTS),
        (f"{RANGE}.shuffle(9).cache().skip(5)", Unfrozen.HELD_OUT),
        (f"{RANGE}.{DRAW}.cache().skip(5)", ("map", False)),
        (f"{FOLDER}.cache()", ("image_dataset_from_directory", True)),
        (f"{FOLDER}.cache().shuffle(9)", Unfrozen.BATCHES_SHUFFLED_LATER),
        (f"{RANGE}.shuffle(9).cache().shuffle(9)", Unfrozen.SHUFFLED_LATER),
        (f"{RANGE}.map(unseen).cache()", Unfrozen.NOTHING_SEEN),
        (f"{RANGE}.apply(unseen).cache()", Unfrozen.NOTHING_SEEN),
        (f"{FOLDER}.{DRAW}.cache()", ("map", False)),
    ],
)
def test_randomness_frozen_by_a_cache(tmp_path, chain, expected):
    module = load(tmp_path, IMPORTS + f"data = {chain}")
    (found,) = frozen_by(module, operation(module, "cache"))
    facts = found if isinstance(found, Unfrozen) else (found.random.name.rpartition(".")[2], found.is_folder)
    assert facts == expected
