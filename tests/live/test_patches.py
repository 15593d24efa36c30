"""Replaced attributes and how they come back."""

import gc
import os
import sys
import types

import pytest

from kerascheck.runtime.live import loop_watch
from kerascheck.runtime.live.references import unwrap
from kerascheck.runtime.verify.child.patches import Notes, Patches


class Base:
    @staticmethod
    def shared():
        return "shared"

    def inherited(self):
        return "inherited"


class Derived(Base):
    def own(self):
        return "own"


@pytest.fixture
def patches():
    return Patches()


def test_attributes_come_back_as_the_same_objects(patches):
    module = types.ModuleType("made_up")
    module.function = function = lambda: 1
    before = dict(vars(Base)), dict(vars(Derived)), dict(vars(module))
    patches.set(Derived, "own", lambda self: "patched")
    patches.set(Derived, "inherited", lambda self: "patched")
    patches.set(Base, "shared", staticmethod(lambda: "patched"))
    patches.set(module, "function", lambda: 2)
    assert Derived().own() == Derived().inherited() == Derived.shared() == "patched" and module.function() == 2
    patches.undo()
    assert before == (dict(vars(Base)), dict(vars(Derived)), dict(vars(module)))
    assert type(vars(Base)["shared"]) is staticmethod and module.function is function
    assert patches.remaining == []


def test_a_later_patch_of_the_same_attribute_goes_first(patches):
    original = vars(Derived)["own"]
    for number in range(3):
        patches.set(Derived, "own", lambda self, number=number: number)
    patches.undo()
    assert vars(Derived)["own"] is original
    patches.undo()
    assert vars(Derived)["own"] is original


def test_patches_of_others_are_kept_and_named(patches, monkeypatch):
    patches.set(Derived, "own", lambda self: "patched")
    monkeypatch.setattr(Derived, "own", lambda self: "theirs")
    patches.undo()
    assert Derived().own() == "theirs"
    assert "Derived.own" in patches.remaining[0]
    monkeypatch.undo()
    del Derived.own
    Derived.own = lambda self: "own"


def test_an_interrupted_undo_can_be_continued(patches):
    done = []

    def interrupted():
        done.append("first")
        if len(done) == 1:
            raise KeyboardInterrupt

    patches.on_undo(lambda: done.append("last"))
    patches.on_undo(interrupted)
    with pytest.raises(KeyboardInterrupt):
        patches.undo()
    patches.undo()
    assert done == ["first", "first", "last"]


def test_an_error_does_not_stop_the_undo(patches):
    done = []
    patches.on_undo(lambda: done.append("last"))
    patches.on_undo(lambda: 1 / 0)
    patches.undo()
    assert done == ["last"] and "ZeroDivisionError" in patches.remaining[0]


def test_notes_go_with_their_object():
    class Unhashable:
        __hash__ = None

    notes, kept, gone = Notes(), Unhashable(), Unhashable()
    notes.set(kept, 1)
    notes.set(kept, 2)
    notes.set(gone, 3)
    assert (notes.get(kept), notes.get(gone), notes.get(object()), vars(kept)) == (2, 3, None, {})
    del gone
    gc.collect()
    assert list(notes._values) == [id(kept)]


class Wrapper:
    def __init__(self, wrapped):
        self.__wrapped__ = wrapped
        self.__name__ = "step"


def test_wrappers_disappear_from_variables_attributes_and_lists():
    original = object()
    wrapper = Wrapper(original)
    space = types.ModuleType("made_up")
    space.step, space.steps, space.table = wrapper, [wrapper], {"step": wrapper}

    class Trainer:
        step = wrapper

    holder = Trainer()
    holder.step = wrapper

    def closure(inner):
        return lambda: inner

    function = closure(wrapper)
    wrappers = [wrapper]
    del wrapper
    left = unwrap(iter([(wrappers.pop(), original)]))
    assert left == []
    assert space.step is space.steps[0] is space.table["step"] is holder.step is Trainer.step is function() is original


def test_wrappers_that_stay_are_named():
    pair = (Wrapper(object()), 1)
    assert unwrap([(pair[0], None)]) == ["step"]


def test_bound_methods_of_a_patched_function_get_the_original(patches):
    original = vars(Derived)["own"]
    patches.set(Derived, "own", lambda self: "patched")
    holder = Derived()
    methods = [holder.own]
    patches.undo()
    assert methods[0]() == "patched" and len(patches.in_use()) == 1
    left = unwrap(patches.in_use())  # an assertion would hold its argument
    assert left == []
    assert methods[0].__func__ is original and methods[0].__self__ is holder and patches.in_use() == []


@pytest.mark.parametrize("moment", ["entry", "exit"])
def test_an_interrupt_of_the_watch_itself_leaves_nothing(monkeypatch, moment):
    finders, setter = list(sys.meta_path), vars(os._Environ)["__setitem__"]
    calls = []

    def interrupted(*arguments):
        calls.append(vars(os._Environ)["__setitem__"] is setter)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return []

    if moment == "entry":
        monkeypatch.setattr(loop_watch.probes.diagnose, "install", interrupted)
    else:
        monkeypatch.setattr(loop_watch, "_left_by", interrupted)
    with pytest.raises(KeyboardInterrupt), loop_watch.LoopWatch():
        pass
    assert calls == ([False] if moment == "entry" else [True, True])
    assert loop_watch._active is None and sys.meta_path == finders
    assert vars(os._Environ)["__setitem__"] is setter
