"""Replaced attributes of libraries, and how to restore them; notes about objects that stay as they are."""

import types
import weakref


class Patches:
    """Everything that the probes changed in this process, in order.

    A measured process never restores it. The process of a notebook does.
    """

    def __init__(self):
        self._undo = []
        self._wrappers = []
        self.remaining = []
        """Changes that :meth:`undo` could not revert, for display."""

    def set(self, owner, name, value):
        """Replace an attribute of a class, a module or another object."""
        # The value in the dictionary of a class, such as a static method, differs from what getattr() returns.
        is_own = name in vars(owner)
        # A module may create attributes when they are read; deleting one would not bring it back.
        is_kept = is_own or isinstance(owner, types.ModuleType)
        original = vars(owner)[name] if is_own else getattr(owner, name)

        def restore():
            current = vars(owner).get(name)
            if current is not value:
                if is_kept and current is not original:
                    self.remaining.append(
                        f"other code replaced {_name(owner)}.{name} meanwhile: it may call the wrapper of kerascheck"
                    )
            elif is_kept:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

        self.on_undo(restore)  # first, since the user of a notebook may interrupt
        setattr(owner, name, value)
        if isinstance(value, types.FunctionType):
            self._wrappers.append((weakref.ref(value), original))

    def in_use(self):
        """(value, original) of the functions that somebody holds after :meth:`undo`, such as in a bound method."""
        found = [(reference(), original) for reference, original in self._wrappers]
        return [(value, original) for value, original in found if value is not None]

    def on_undo(self, function):
        """Call ``function`` once when the changes are reverted; it may be called again if it was interrupted."""
        self._undo.append(function)

    def undo(self):
        """Revert all changes, the newest first; may be called again."""
        while self._undo:
            function = self._undo[-1]
            try:
                function()
            except Exception as error:
                self.remaining.append(f"{type(error).__name__} while a change was reverted: {error}")
            # Only now, so that an interrupted undo() can be continued.
            if self._undo and self._undo[-1] is function:
                self._undo.pop()


class Notes:
    """A value for each of some objects, without an attribute on them; it goes with its object."""

    def __init__(self):
        self._values = {}

    def get(self, owner, default=None):
        """The value for ``owner``."""
        found = self._values.get(id(owner))
        return default if found is None else found[1]

    def set(self, owner, value):
        """Keep ``value`` for ``owner``."""
        key, values = id(owner), self._values
        found = values.get(key)
        reference = weakref.ref(owner, lambda _: values.pop(key, None)) if found is None else found[0]
        values[key] = reference, value


def _name(owner):
    return getattr(owner, "__qualname__", None) or getattr(owner, "__name__", None) or type(owner).__name__
