"""Prevents a measured run from leaving files: redirects what training writes to a scratch folder.

Writes are redirected instead of dropped, so the measurement includes their time. Files that the script's own code
writes before or during the training are written as usual.
"""

import functools
import os

from .recorder import WEAK_KINDS

_PATH_ATTRIBUTES = ("filepath", "log_dir", "backup_dir", "filename")


def _scratch(state, path):
    """A path in the scratch folder that ends like ``path``."""
    folder = os.path.join(state.run["scratch"], "redirected")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, os.path.basename(os.path.normpath(os.fspath(path))))


def callbacks(given, state):
    """Point the path attributes of callbacks into the scratch folder (ModelCheckpoint, TensorBoard, CSVLogger ...)."""
    if given is None:
        return
    items = getattr(given, "callbacks", given)
    for callback in items if isinstance(items, (list, tuple)) else [items]:
        for attribute in _PATH_ATTRIBUTES:
            old = getattr(callback, attribute, None)
            if not isinstance(old, (str, os.PathLike)) or str(old).startswith(state.run["scratch"]):
                continue
            new = _scratch(state, old)
            for name, value in list(vars(callback).items()):
                # Update paths that were derived from it when the callback was created.
                if isinstance(value, (str, os.PathLike)) and os.fspath(value).startswith(os.fspath(old)):
                    setattr(callback, name, new + os.fspath(value)[len(os.fspath(old)) :])
            state.recorder.note(f"files of {type(callback).__name__} were written to a scratch folder instead of {old}")


def no_early_stop(given, state):
    """Disable EarlyStopping in a fit whose validation is skipped."""
    items = getattr(given, "callbacks", given)
    for callback in items if isinstance(items, (list, tuple)) else [items]:
        if type(callback).__name__ == "EarlyStopping":
            callback.patience = float("inf")
            state.recorder.note("EarlyStopping was put off")


def patch_model(model, state):
    """Redirect files that a model saves after the training has begun."""
    for name in ("save", "save_weights", "export"):
        owner = next((c for c in model.__mro__ if name in c.__dict__), None)
        if owner is not None:
            _redirect_argument(owner, name, 1, "filepath", state)
    owner = next((c for c in model.__mro__ if "load_weights" in c.__dict__), None)
    if owner is not None:
        _read_redirected(owner, "load_weights", 1, state)


def patch_loading(keras, state):
    """Let models be loaded from the paths to which this run redirected them."""
    for owner in (keras.models, getattr(keras, "saving", None)):
        if hasattr(owner, "load_model"):
            _read_redirected(owner, "load_model", 0, state)


def _read_redirected(owner, name, position, state):
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(*args, **kwargs):
        given = args[position] if len(args) > position else kwargs.get("filepath")
        written = _scratch(state, given) if isinstance(given, (str, os.PathLike)) else ""
        if state.recorder.disabled or not os.path.exists(written):
            return original(*args, **kwargs)
        if len(args) > position:
            return original(*args[:position], written, *args[position + 1 :], **kwargs)
        return original(*args, **{**kwargs, "filepath": written})

    state.patches.set(owner, name, method)


def patch_tensorflow(tf, state):
    """Redirect checkpoints, summaries and cache files of TensorFlow."""
    for name in ("save", "write"):
        _redirect_argument(tf.train.Checkpoint, name, 1, "file_prefix", state)
    _patch_manager(tf.train.CheckpointManager, state)
    dataset = next(c for c in tf.data.Dataset.__mro__ if "cache" in c.__dict__)
    original_cache = dataset.cache

    @functools.wraps(original_cache)
    def cache(self, filename="", *args, **kwargs):
        # Complete caches are only read. An incomplete one would stay locked after a run that is stopped.
        if isinstance(filename, str) and filename and not os.path.exists(filename + ".index"):
            state.recorder.note(f"the cache file {filename} was written to a scratch folder")
            filename = _scratch(state, filename)
        return original_cache(self, filename, *args, **kwargs)

    state.patches.set(dataset, "cache", cache)
    writer = tf.summary.create_file_writer

    @functools.wraps(writer)
    def create_file_writer(logdir, *args, **kwargs):
        if isinstance(logdir, (str, os.PathLike)) and not os.fspath(logdir).startswith(state.run["scratch"]):
            state.recorder.note(f"summaries were written to a scratch folder instead of {logdir}")
            logdir = _scratch(state, logdir)
        return writer(logdir, *args, **kwargs)

    state.patches.set(tf.summary, "create_file_writer", create_file_writer)


def _redirect_argument(owner, name, position, keyword, state):
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(*args, **kwargs):
        given = args[position] if len(args) > position else kwargs.get(keyword)
        began = any(series.kind not in WEAK_KINDS for series in state.recorder.series.values())
        if not began or state.recorder.disabled or not isinstance(given, (str, os.PathLike)):
            return original(*args, **kwargs)
        if os.fspath(given).startswith(state.run["scratch"]):
            return original(*args, **kwargs)
        state.recorder.note(f"{name} wrote to a scratch folder instead of {given}")
        path = _scratch(state, given)
        if len(args) > position:
            args = (*args[:position], path, *args[position + 1 :])
        else:
            kwargs[keyword] = path
        return original(*args, **kwargs)

    state.patches.set(owner, name, method)


def _patch_manager(manager, state):
    original = manager.save

    @functools.wraps(original)
    def save(self, *args, **kwargs):
        if state.recorder.disabled:
            return original(self, *args, **kwargs)
        state.recorder.note(f"checkpoints were written to a scratch folder instead of {self.directory}")
        return self.checkpoint.write(_scratch(state, os.path.join(self.directory, "ckpt")))

    state.patches.set(manager, "save", save)
