"""Where the time goes: what can be read from TensorFlow and Keras once steps have been measured."""

import sys


def patch_tensorflow(tf, state):
    """Count traces and host reads, and remember where datasets were made (diagnosing run only)."""


def facts(state, leader):
    """What every run tells about the training: element spec, batches per epoch, weights, versions."""
    found = {key: value for key, value in state.recorder.facts.items() if key != "on_warm"}
    found["epoch_lengths"] = state.epoch_lengths
    found["iterators"] = len(state.iterators)
    iterator = training_iterator(state)
    if iterator is not None:
        found["element_spec"] = flat_spec(iterator.element_spec)
    if "gpus" in found and state.uses_gpu():
        found["gpus"] = [device.name for device in sys.modules["tensorflow"].config.list_physical_devices("GPU")]
    return found


def flat_spec(spec):
    """[shape (a list, None if unknown), dtype name] of every component of an element."""
    flat = []
    for part in sys.modules["tensorflow"].nest.flatten(spec):
        shape = getattr(part, "shape", None)
        rank = getattr(shape, "rank", None)
        flat.append([None if rank is None else shape.as_list(), getattr(getattr(part, "dtype", None), "name", "?")])
    return flat


def training_iterator(state):
    """The newest living tf.data iterator, the one that feeds the training; None without one."""
    for reference in reversed(state.iterators):
        iterator = reference()
        if iterator is not None:
            return iterator
    return None
