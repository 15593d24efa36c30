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
        found["element_spec"] = str(iterator.element_spec)
    return found


def training_iterator(state):
    """The newest living tf.data iterator, the one that feeds the training; None without one."""
    for reference in reversed(state.iterators):
        iterator = reference()
        if iterator is not None:
            return iterator
    return None
