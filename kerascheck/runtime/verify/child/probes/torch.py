"""Probes of PyTorch: ``backward`` and the optimizers."""

import functools

from .. import torch_loops
from .scalars import scalar


def patch(torch, state):
    """Count optimizer steps, with the last tensor on which ``backward`` was called as the loss."""
    recorder = state.recorder
    recorder.found_version("torch", torch.__version__)
    if not state.is_passive:
        _patch_backward(torch, state)

    def stepped(optimizer, args, kwargs):
        if state.counts_here():
            key = ("optimizer", id(optimizer))
            loss = scalar(state.target) if recorder.wants_loss(key) else None
            if state.run["plan"]["parts"]:
                torch_loops.stepped(key, state)
            recorder.tick(key, "optimizer loop", type(optimizer).__name__, loss=loss, framework="torch")

    from torch.optim.optimizer import register_optimizer_step_post_hook

    handle = register_optimizer_step_post_hook(stepped)
    state.patches.on_undo(lambda: handle.remove())
    if state.run["plan"]["parts"]:
        torch_loops.patch(torch, state)
    if torch.cuda.is_available():
        previous = recorder.sync
        recorder.sync = lambda value: (previous(value), torch.cuda.synchronize())


def _patch_backward(torch, state):
    """Remember the tensor on which ``backward`` was called."""
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def watched_backward(self, *args, **kwargs):
        if state.counts_here():
            state.target = self
        return backward(self, *args, **kwargs)

    state.patches.set(torch.Tensor, "backward", watched_backward)
