"""Parts of a step in a hand-written loop on PyTorch."""

import functools
import time

from .patches import Notes
from .replay import fed


def patch(torch, state):
    """Time ``next()`` of a ``DataLoader``, repeat its last batch during replay, and record the first forward pass."""
    from torch.nn.modules.module import register_module_forward_pre_hook
    from torch.utils.data.dataloader import _BaseDataLoaderIter

    state.step_began = state.newest_batch = state.feeding = None
    begun = Notes()
    recorder = state.recorder
    original = _BaseDataLoaderIter.__next__

    @functools.wraps(original)
    def next_batch(self):
        if not state.counts_here() or recorder.disabled:
            return original(self)
        if state.replaying and self is state.feeding:
            return state.last_element
        state.parts.begins_epoch = not begun.get(self)
        recorder.epoch_began = recorder.epoch_began or state.parts.begins_epoch
        begun.set(self, True)
        start = time.perf_counter()
        batch = original(self)
        state.parts.add("next", time.perf_counter() - start)
        state.newest_batch = self, batch
        return batch

    state.patches.set(_BaseDataLoaderIter, "__next__", next_batch)

    def forward(module, arguments):
        if state.step_began is None and state.counts_here():
            state.step_began = time.perf_counter()

    handle = register_module_forward_pre_hook(forward)
    state.patches.on_undo(lambda: handle.remove())


def stepped(key, state):
    """Record the time from the first forward pass to this optimizer step of ``key`` as a call."""
    leader = state.recorder.leader()
    if leader is not None and leader is not state.recorder.series.get(key):
        return
    if state.step_began is not None:
        if state.parts.waits:
            state.recorder.sync(None)
        state.parts.called(time.perf_counter() - state.step_began)
    state.step_began = None
    if state.newest_batch is not None and not state.replaying:
        # For example, validation data must not be replayed to the training.
        state.feeding, batch = state.newest_batch
        fed(state, batch)
        state.recorder.facts["feeder"] = ["dataloader", None, None, None]
