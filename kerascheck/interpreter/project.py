"""The modules of the linted tree that may import each other."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

from kerascheck.interpreter.module import MAY_BE_OF_1, OF_TENSORFLOW_2, Module
from kerascheck.interpreter.reached_code import reached_code
from kerascheck.interpreter.target import Target, target_of
from kerascheck.interpreter.version_hints import HintsOfModule
from kerascheck.knowledge.import_patterns import TOP_LEVEL_IMPORTS
from kerascheck.knowledge.runtime import NEWEST_BESIDE
from kerascheck.project import import_scan
from kerascheck.project.config import Settings
from kerascheck.project.requirements import (
    Pin,
    Stated,
    command_versions,
    estimator_versions,
    pinned_versions,
    script_versions,
)
from kerascheck.source import Source, dependencies

M = TypeVar("M", bound=Module)

# Names of libraries that files of the tree cannot shadow.
_LIBRARIES = frozenset(
    "tensorflow keras tf_keras numpy jax torch pandas sklearn scipy matplotlib cv2 PIL tqdm os sys re json random time math typing "
    "collections functools itertools logging argparse pathlib abc datetime pickle copy glob shutil subprocess warnings transformers "
    "tensorflow_datasets tensorflow_addons tensorflow_probability tensorflow_hub absl flask dataclasses enum csv string".split()
)
_MAX_IMPORTED = 80
_SEARCHED_FOLDERS = 7
_SHARE_BESIDE = 0.1
"""Cost of searching the modules beside a module for words, relative to analysing them."""
_ANYTHING = re.compile("")
_SHOWS_ONE_GPU = re.compile(r"""CUDA_VISIBLE_DEVICES["']\]?\s*[=,]\s*["']\d+["']""")
# Only TensorFlow 1 has sessions with this name, except in programs that import its interface from a later one.
_OPENS_SESSION = re.compile(r"(?m)^\w+[ \t]*=[ \t]*(?:tf|tensorflow)\.(?:Interactive)?Session\(")
_SWITCHES_EAGER = re.compile(r"(?m)^[ \t]*[\w.]+\brun_functions_eagerly\((?:run_eagerly=)?True\)")


class Project(Generic[M]):
    """The modules that may import each other.

    Args:
        settings: :class:`kerascheck.project.config.Settings`, for the target versions.
        read: turns a path into a :class:`kerascheck.source.Source`; raises for unreadable files.
        make: the class of modules, :class:`kerascheck.interpreter.module.Module` or a subclass.
        use: receives the text of every module reached from the last loaded one, and the relevant share of it.
    """

    def __init__(
        self,
        settings: Settings,
        read: Callable[[Path], Source],
        make: Callable[[Source, Project[M]], M],
        use: Callable[..., None] = lambda text, share=1.0: None,
    ) -> None:
        self.settings = settings
        self._read, self._make, self._use = read, make, use
        self._used: set[Path] = set()
        self._modules: dict[Path, M | None] = {}
        self._files: dict[tuple[Path, re.Pattern[str]], list[Path]] = {}
        self._holding: dict[tuple[Path, re.Pattern[str]], list[M]] = {}
        self._found: dict[tuple[str, str, int], Path | None] = {}
        self._names: dict[tuple[str, str], Path | None] = {}

    def load(self, source: Source) -> M:
        """The module of a source; raises :class:`SyntaxProblem` if it cannot be parsed."""
        path = Path(source.path).resolve()
        module = self._modules.get(path)
        if module is None or module.text != source.text:
            module = self._modules[path] = self._make(source, self)
        module.source = source
        self._used = {path}
        module.tree
        return module

    def find(self, importer: M, dotted: str, level: int) -> M | None:
        """The module of the tree that an import in ``importer`` refers to; None if it is outside.

        Args:
            dotted: the name after ``import`` or ``from``, without leading dots.
            level: the number of leading dots.
        """
        if not dotted and not level or (not level and dotted.partition(".")[0] in _LIBRARIES):
            return None
        return self._find(importer, dotted, level, _node(importer), dependencies.of_file)

    def _find(
        self, importer: M, dotted: str, level: int, asking: Hashable, uses: Callable[[Path], Hashable]
    ) -> M | None:
        """The same, with a dependency of ``asking`` on the result of ``uses`` for its path."""
        if not dotted and not level or (not level and dotted.partition(".")[0] in _LIBRARIES):
            return None
        key = (importer.folder, dotted, level)
        if key not in self._found:
            with dependencies.apart(("find", key)):
                self._found[key] = self._search(importer.folder, dotted, level)
        dependencies.link(asking, ("find", key))
        path = self._found[key]
        if path == importer.path and not level:
            # A module never imports itself, but another one with its name may be in a folder above. Its neighbours do
            # not see that one.
            with dependencies.apart(asking):
                path = self._search(importer.folder, dotted, level, but=path)
        if path is None and not level:
            with dependencies.apart(asking):
                added = (self._named(str(folder), dotted) for folder in importer.search_path)
                path = next((found for found in added if found is not None and found != importer.path), None)
        module = self._module_at(path) if path is not None else None
        if path is not None:
            dependencies.link(asking, uses(path))
        if module is not None:
            self._note_use(module)
        return module

    def imported(self, module: M) -> list[M]:
        """The modules of the tree that ``module`` imports, directly or indirectly (at most 80).

        It searches their texts without parsing.
        """
        if "imported" not in module.memory:
            module.memory["imported"] = self._reached(module)
            # Callers may read all of them.
            dependencies.link(_node(module), _imports_of(module.path))
            for each in module.memory["imported"]:
                dependencies.link(_node(module), _node(each))
        found: list[M] = module.memory["imported"]
        return found

    def _reached(self, module: M) -> list[M]:
        """The same for callers that need only the list.

        They depend on the imports of each module, not on its other code.
        """
        if "reached" not in module.memory:
            module.memory["reached"] = self._imported(module)
        found: list[M] = module.memory["reached"]
        return found

    def _imported(self, module: M) -> list[M]:
        found: list[M] = []
        seen = {module}
        pending = [module]
        while pending and len(seen) < _MAX_IMPORTED:
            for inner in self._imported_by(pending.pop(0)):
                self._note_use(inner)
                if inner not in seen:
                    seen.add(inner)
                    found.append(inner)
                    pending.append(inner)
        return found

    def _imported_by(self, importer: M) -> list[M]:
        """The modules of the tree that a module's imports refer to."""
        if "imports" not in importer.memory:
            asking = _imports_of(importer.path)
            if dependencies.current_tracker() is not None:
                with dependencies.apart(asking):
                    import_scan.note_imports(str(importer.path), importer.code, importer.import_names)
            named = (
                self._find(importer, dotted, level, asking, _imports_of) for dotted, level in importer.import_names
            )
            importer.memory["imports"] = [each for each in dict.fromkeys(named) if each is not None]
        found: list[M] = importer.memory["imports"]
        return found

    def _note_use(self, module: M) -> None:
        """Report that the last loaded module reaches this one."""
        if module.path not in self._used:
            self._used.add(module.path)
            self._use(module.text)

    def is_switched_eager(self, module: M) -> bool:
        """Whether a script that imports a module calls ``run_functions_eagerly(True)``."""
        return bool(self._importers_beside(module, _SWITCHES_EAGER))

    def imported_beside(self, module: M) -> list[M]:
        """The scripts beside a module that import it, and their other imports."""
        return [
            each
            for script in self._importers_beside(module, _ANYTHING)
            for each in (script, *self.imported(script))
            if each is not module
        ]

    def opens_session(self, module: M) -> bool:
        """Whether a module, or a script that imports it, unconditionally opens a session of TensorFlow 1.

        No other version can run such code.
        """
        opening = (
            [module] if _OPENS_SESSION.search(module.bare_code) else self._importers_beside(module, _OPENS_SESSION)
        )
        return any("compat.v1" not in each.bare_code for each in opening)

    def is_shown_one_gpu(self, module: M) -> bool:
        """Whether all scripts that import a module set ``CUDA_VISIBLE_DEVICES`` to one device."""
        with dependencies.asking(_node(module)):
            if not any(self._files_with(_SHOWS_ONE_GPU, folder) for folder in _folders_beside(module)):
                return False
        importers = self._importers_beside(module, _ANYTHING)
        scripts = [
            each
            for each in importers
            if not any(each in self.imported(other) for other in importers if other is not each)
        ]
        return bool(scripts) and all(script.mentions(_SHOWS_ONE_GPU) for script in scripts)

    def _importers_beside(self, module: M, pattern: re.Pattern[str]) -> list[M]:
        """The modules in the same folder or its parent that import a module and match a pattern.

        They import it directly or indirectly; the pattern applies to code without strings.
        """
        with dependencies.asking(_node(module)):
            beside = [each for folder in _folders_beside(module) for each in self._modules_with(pattern, folder)]
        found = []
        for other in beside:
            if other is not module:
                dependencies.link(_node(module), _imports_of(other.path))
                if module in self._reached(other):
                    dependencies.link(_node(module), _node(other))
                    found.append(other)
        return found

    def _modules_with(self, pattern: re.Pattern[str], folder: Path) -> list[M]:
        key = folder, pattern
        if key not in self._holding:
            found = [(path, self._module_at(path)) for path in self._files_with(pattern, folder)]
            self._use("".join(module.text for _, module in found if module is not None), _SHARE_BESIDE)
            self._holding[key] = []
            for path, module in found:
                holds = module is not None and pattern.search(module.bare_code) is not None
                with dependencies.apart(key):
                    import_scan.note_code(str(path), pattern, holds)
                if module is not None and holds:
                    self._holding[key].append(module)
        dependencies.use(key)
        return self._holding[key]

    def _files_with(self, pattern: re.Pattern[str], folder: Path) -> list[Path]:
        """The scripts in a folder (at most 80) that match a pattern, strings and comments included."""
        key = folder, pattern
        if key not in self._files:
            with dependencies.asking(key):
                paths = [folder / name for name in dependencies.scripts_in(str(folder))[:_MAX_IMPORTED]]
                self._files[key] = [path for path in paths if import_scan.mentions(str(path), pattern)]
        dependencies.use(key)
        return self._files[key]

    @property
    def parsed_characters(self) -> int:
        """Total length of the texts with a cached tree."""
        return sum(
            len(module.text) for module in self._modules.values() if module is not None and "tree" in module.__dict__
        )

    def target_of(self, module: M) -> Target:
        """The target versions; see :attr:`Module.target`."""
        pins = {
            **pinned_versions(module.source.path),
            **script_versions(module.text),
            **command_versions(module.source.commands),
        }
        if not pins:
            # Parts of the project may have their own requirements.
            parts = {other.folder: other for other in self.imported(module)}
            pins = next((found for other in parts.values() if (found := pinned_versions(other.source.path))), {})
        if "tensorflow" not in pins:
            pins = {**pins, **estimator_versions(module.source.path)}
        # A package that conflicts with a version excludes it like a requirement.
        bound = {
            package: Pin(bound, Stated(name, ""))
            for name, (package, bound) in NEWEST_BESIDE.items()
            if any(
                name in each.bare_code and re.search(rf"{TOP_LEVEL_IMPORTS}{name}\b", each.bare_code, re.M)
                for each in (module, *self.imported(module))
            )
        }
        return target_of(self.settings, {**bound, **pins}, HintsOfModule(module))

    def imports_tensorflow_1(self, module: M) -> bool:
        """Whether its imports need ``tf.contrib``, or its program names functions of them that need TensorFlow 1."""
        if module.mentions(OF_TENSORFLOW_2):
            return False
        imported = self.imported(module)
        if any(other.needs_contrib for other in imported):
            return True
        if not any(other.is_of_tensorflow_1 for other in imported):
            return False
        reached = reached_code([module, *imported])
        return not any(map(OF_TENSORFLOW_2.search, reached)) and any(
            other.is_of_tensorflow_1 and MAY_BE_OF_1.search(text) for other, text in zip(imported, reached[1:])
        )

    def _search(self, folder: str, dotted: str, level: int, but: Path | None = None) -> Path | None:
        """The file of an import in a folder: relative to it, or the nearest in a parent folder other than ``but``."""
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        if level:
            return self._named(folder, dotted)
        for _ in range(_SEARCHED_FOLDERS):
            found = self._named(folder, dotted)
            if found is not None and found != but:
                return found
            above = os.path.dirname(folder)
            if above == folder or dependencies.exists(os.path.join(folder, ".git")):
                return None
            folder = above
        return None

    def _named(self, folder: str, dotted: str) -> Path | None:
        """The file of a module below a folder, or of the folder itself if the name is empty."""
        key = folder, dotted
        if key not in self._names:
            with dependencies.asking(("named", key)):
                self._names[key] = _module_file(folder, dotted)
        dependencies.use(("named", key))
        return self._names[key]

    def _module_at(self, path: Path) -> M | None:
        if path not in self._modules:
            try:
                with dependencies.apart(dependencies.of_file(path)):
                    self._modules[path] = self._make(self._read(path), self)
            except (OSError, ValueError):
                # Treat unreadable files as unknown here; linting them reports the error.
                self._modules[path] = None
        return self._modules[path]


def _node(module: Module) -> Hashable:
    """The dependency node of a module: see :mod:`kerascheck.source.dependencies`."""
    node: Hashable = module.memory.get(_node)
    if node is None:
        node = module.memory[_node] = dependencies.of_file(module.path)
    return node


def _imports_of(path: Path) -> Hashable:
    """The dependency node for the imports of the file at ``path``."""
    return "imports", dependencies.of_file(path)


def _folders_beside(module: Module) -> list[Path]:
    """The folder of a module, and its parent unless that is the root of the project."""
    own = module.path.parent
    return [own] if dependencies.exists(str(own / ".git")) else [own, own.parent]


def _module_file(folder: str, dotted: str) -> Path | None:
    path = os.path.join(folder, *dotted.split(".")) if dotted else folder
    if dotted and dependencies.is_file(f"{path}.py"):
        return Path(f"{path}.py")
    package = os.path.join(path, "__init__.py")
    return Path(package) if dependencies.is_file(package) else None
