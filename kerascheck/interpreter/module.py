"""One module of the linted tree: its text, its tree, and its interpretation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import libcst as cst

from kerascheck.interpreter.run import Interpreter
from kerascheck.interpreter.target import Target
from kerascheck.knowledge.import_patterns import IMPORTS, TOP_LEVEL_IMPORTS
from kerascheck.knowledge.namespaces import TENSORFLOW
from kerascheck.knowledge.runtime import ONLY_TENSORFLOW_1, Runtime
from kerascheck.project import import_scan
from kerascheck.project.config import HardwareProfile, Settings
from kerascheck.project.import_graph import added_folders
from kerascheck.source import Source, dependencies
from kerascheck.syntax.code_text import CodeText, code_text
from kerascheck.syntax.edits import imports_as_written, names_as_written
from kerascheck.syntax.tree import Tree, tree_of
from kerascheck.syntax.written import stands_for_versions

Found = TypeVar("Found")

# Characters of code without white space in a typical text of 4000 characters (522 modules of ten repositories).
_SHORT = 2300
_NAMES_KERAS = re.compile("keras|tensorflow")
_ACTS_ON_IMPORT = (
    "set_memory_growth",
    "set_visible_devices",
    "set_global_policy",
    "set_policy",
    "set_dtype_policy",
    "os.environ",
    "run_functions_eagerly",
    "set_logical_device_configuration",
    "set_virtual_device_configuration",
    "enable_debug_mode",
)
# A decorator that enters a function or class into a registry of the tree; that of Keras is for loading models.
_REGISTERS = re.compile(r"^@(?!\S*serializable)[\w.]*[Rr]egist", re.M)
_CALL_ON_IMPORT = re.compile(r"^(?!sys\.|warnings\.|logging\.)[A-Za-z][\w.]*\(", re.M)
# A module without any of these is irrelevant to all rules: its functions are not followed.
_WORTH_FOLLOWING = re.compile(
    r"tf\.data\b|Dataset|GradientTape|apply_gradients|memory_growth|set_(?:global_|dtype_)?policy|\.fit\(|\.batch\(|py_function|"
    r"numpy_function|tf\.image|tf\.random|parse_single|layers\.Random[A-Z]|@tf\.function|tf\.config|environ\[|Sequential\(|Model\(inputs|"
    r"Model\(\[|load_model|layers\.Input\(|Input\(shape|\bSequence\b|PyDataset|ImageDataGenerator|imread|load_img|Image\.open|\byield\b|keras\.(?:models\.)?Model\)|\(Model\)"
)
GRAPH_SWITCH = re.compile(r"\bdisable_(?:eager_execution|v2_behavior)\(")
_GRAPH_CODE = re.compile(
    r"\bsess(?:ion)?\.run\(|\b_make_predict_function\(|with tf\.(?:compat\.v1\.)?Session|tensorflow\.contrib\b|"
    r"\btf\.(?:compat\.v1\.)?(?:placeholder|estimator|contrib|truncated_normal|get_variable|get_collection|add_to_collection|"
    r"trainable_variables|global_variables|global_variables_initializer)\b|"
    r"\b(?:(?:Singular)?Monitored(?:Training)?Session|SessionRunHook|import_meta_graph|feed_dict\s*=)"
)
# Functions that load or run a saved graph; the rest of such a program may use Keras.
_FUNCTION = re.compile(r"^def .*?(?=^[^\s)#]|\Z)", re.M | re.S)
_RUNS_SAVED_GRAPH = re.compile(r"\bSession\(\s*graph\s*=\s*(\w+)")
# TensorFlow 2 removed tensorflow.contrib (RELEASE.md of 2.0); its package has tensorflow/_api/v2 in place of v1.
_NEEDS_CONTRIB = re.compile(rf"{TOP_LEVEL_IMPORTS}tensorflow\.contrib\b|^[^\s@].*\btf\.contrib\.", re.M)
_CONTRIB = re.compile(rf"{IMPORTS}tensorflow\.(?:contrib|_api\.v1)\b", re.M)
_NAMES_OF_1 = "|".join(ONLY_TENSORFLOW_1)
MAY_BE_OF_1 = re.compile(
    rf"\b(?:tf|tensorflow)\.(?:{_NAMES_OF_1})\b|^[ \t]*from[ \t]+tensorflow[ \t]+import\b[^\n]*\b(?:{_NAMES_OF_1})\b",
    re.M,
)
# The last two exist in TensorFlow 1, too, in programs that build no graphs.
OF_TENSORFLOW_2 = re.compile(r"GradientTape|tf\.function|enable_eager_execution")
_SESSION = re.compile(r"\bSession\(")


class ProjectLike(Protocol):
    """The interface of a project to its modules: :class:`kerascheck.interpreter.project.Project`.

    The modules of a project have the class of the importing module, a subclass of :class:`Module` that the type system
    cannot express here.
    """

    settings: Settings

    def find(self, importer: Any, dotted: str, level: int) -> Any: ...
    def imported(self, module: Any) -> list[Any]: ...
    def imported_beside(self, module: Any) -> list[Any]: ...
    def imports_tensorflow_1(self, module: Any) -> bool: ...
    def is_shown_one_gpu(self, module: Any) -> bool: ...
    def is_switched_eager(self, module: Any) -> bool: ...
    def opens_session(self, module: Any) -> bool: ...
    def target_of(self, module: Any) -> Target: ...


class Module:
    """A parsed module.

    Attributes:
        source: its :class:`kerascheck.source.Source`.
        tree: its :class:`Tree`.
        project: the project that it belongs to.
    """

    def __init__(self, source: Source, project: ProjectLike) -> None:
        self.source, self.project = source, project

    @cached_property
    def tree(self) -> Tree:
        """The tree, parsed at first use, since most imported modules never need it. Raises :class:`SyntaxProblem`."""
        return tree_of(self.source.without_data)

    def __repr__(self) -> str:
        return f"<Module {self.source.path}>"

    @property
    def text(self) -> str:
        return self.source.text

    @cached_property
    def _code_text(self) -> CodeText:
        return code_text(self.source.without_data)

    @property
    def code(self) -> str:
        """The text with comments and docstrings blanked out, at the same offsets. Text searches use it."""
        return self._code_text.code

    @property
    def bare_code(self) -> str:
        """The code with string literals emptied, for searches of names without messages. Offsets differ."""
        return self._code_text.bare

    def range_of(self, node: cst.CSTNode) -> tuple[int, int]:
        """The range of a finding about ``node``.

        For compound statements it is the header; for method calls it begins at the method's name.
        """
        start, end = self.tree.range_of(node)
        if isinstance(node, cst.BaseCompoundStatement):
            return start, self.tree.statement_range(node)[1]
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            name = self.tree.range_of(node.func.attr)[0]
            is_on_another_line = "\n" in self.text[start:name] or "\r" in self.text[start:name]
            if is_on_another_line or not self._is_imported(node.func.value):
                return name, end
        return start, end

    def _is_imported(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is an imported name, or a dotted name that begins with one.

        Such an expression does not refer to an object of the program.
        """
        while isinstance(node, cst.Attribute):
            node = node.value
        return isinstance(node, cst.Name) and any(
            node.value == name.partition(".")[0] for name in self.tree.imported_names
        )

    def statement_range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of the innermost statement; for a compound statement, of its header including decorators."""
        return self.tree.statement_range(node)

    @cached_property
    def path(self) -> Path:
        """Path of the file, with links resolved."""
        return Path(self.source.path).resolve()

    @cached_property
    def search_path(self) -> list[Path]:
        """The folders that its code adds to ``sys.path``."""
        with dependencies.apart(dependencies.of_file(self.path)):
            return [Path(folder).resolve() for folder in added_folders(self.code, self.folder)]

    @cached_property
    def folder(self) -> str:
        return str(self.path.parent)

    @property
    def dotted(self) -> str:
        return Path(self.source.path).stem

    @property
    def is_package(self) -> bool:
        return Path(self.source.path).name == "__init__.py"

    @cached_property
    def acts_on_import(self) -> bool:
        """Whether importing it may do more than define names: in its own code, or in an imported function."""
        if any(map(self.says, _ACTS_ON_IMPORT)) or self.does(_REGISTERS):
            return True
        return self.does(_CALL_ON_IMPORT) and any(
            module.says(word) for module in self.project.imported(self) for word in _ACTS_ON_IMPORT
        )

    @cached_property
    def memory(self) -> dict[Any, Any]:
        """Memoised answers about nodes and texts."""
        return {}

    @property
    def words(self) -> Collection[str]:
        """The words of the code, strings included."""
        return self._code_text.words

    def says(self, word: str) -> bool:
        """Whether the code contains a text, strings included; runs of white space count as single blanks."""
        return self._code_text.says(word)

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether the code matches a pattern, strings included."""
        return self._code_text.mentions(pattern)

    def does(self, pattern: re.Pattern[str]) -> bool:
        """Whether the code matches a pattern, strings excluded."""
        # Most patterns do not match even with strings, and searching for their words shows that much faster.
        return self.mentions(pattern) and pattern.search(self.bare_code) is not None

    @cached_property
    def needs_contrib(self) -> bool:
        """Whether importing it needs ``tf.contrib``, which only TensorFlow 1 has."""
        return self.does(_NEEDS_CONTRIB)

    @property
    def import_names(self) -> list[tuple[str, int]]:
        """Names that the import lines of the code may refer to: dotted names with their number of leading dots."""
        return self._code_text.import_names

    @cached_property
    def is_graph_code(self) -> bool:
        """Whether it is written for the graphs and sessions of TensorFlow 1.

        Rules about loops and pipelines do not apply to such code. A session alone may only apply its options. It runs a
        graph if a module whose names are used builds one.
        """
        if self.mentions(GRAPH_SWITCH) and GRAPH_SWITCH.search(self._beside_saved_graphs):
            return True
        return (
            self._builds_graph
            or "GradientTape" not in self.bare_code
            and self.mentions(_SESSION)
            and any(module._builds_graph for module in self._used_modules())
        )

    @cached_property
    def _builds_graph(self) -> bool:
        """Whether its own code contains placeholders, collections or session runs."""
        if self.says("GradientTape") and "GradientTape" in self.bare_code:
            return False
        # A program that calls .numpy() runs eagerly, so its reset_default_graph has no graph to reset.
        return (
            self.mentions(_GRAPH_CODE)
            and _GRAPH_CODE.search(self._beside_saved_graphs) is not None
            or self.says("reset_default_graph")
            and "reset_default_graph" in self._beside_saved_graphs
            and ".numpy()" not in self.bare_code
        )

    @cached_property
    def _beside_saved_graphs(self) -> str:
        """Its code without strings, and without functions that load or run a saved graph.

        Programs that try several formats of a saved model have such functions.
        """
        if not self.mentions(_RUNS_SAVED_GRAPH):
            return self.bare_code

        def kept(function: re.Match[str]) -> str:
            if "GraphDef" in function[0]:
                return ""
            graph = _RUNS_SAVED_GRAPH.search(function[0])
            header = function[0].partition(":\n")[0]
            return "" if graph is not None and re.search(rf"[(,]\s*{graph[1]}\s*[,)=:]", header) else function[0]

        return _FUNCTION.sub(kept, self.bare_code)

    @cached_property
    def builds_graphs(self) -> bool:
        """Whether its code builds a graph of TensorFlow 1 instead of being traced.

        A pin in another part of the project does not count if the module itself is written for TensorFlow 2.
        """
        return self.is_graph_code or self.runtime.builds_graphs and not self.mentions(OF_TENSORFLOW_2)

    @cached_property
    def is_of_tensorflow_1(self) -> bool:
        """Whether it requires TensorFlow 1, according to its code or imports; false if the code tests the version."""
        if self.does(_CONTRIB):
            return True
        if self.mentions(OF_TENSORFLOW_2) or not self.does(MAY_BE_OF_1):
            return False
        named = [(alias, name) for alias, _, name in imports_as_written(self.tree)] + list(
            names_as_written(self.tree, ONLY_TENSORFLOW_1)
        )
        gone = {f"{TENSORFLOW}{name}" for name in ONLY_TENSORFLOW_1}
        return any(name in gone and not stands_for_versions(self.tree, node) for node, name in named)

    def _used_modules(self) -> Iterator[Module]:
        """The modules of the tree that it imports and whose names its code mentions again."""
        for match in import_scan.import_lines(self.bare_code):
            base = match["base"]
            for part in (match["names"] or match["plain"]).strip("( )").split(","):
                name, bound = part.split()[:1], part.split()[-1:]
                if not name or bound != ["*"] and self._code_text.bare_counts[bound[0].partition(".")[0]] < 2:
                    continue
                dotted = (base or "").lstrip(".")
                level = len(base or "") - len(dotted)
                for each in [f"{dotted}.{name[0]}".lstrip("."), dotted]:
                    module = self.project.find(self, each, level)
                    if module is not None:
                        yield module

    @cached_property
    def worth_following(self) -> bool:
        """Whether modules that import it may depend on its contents.

        Short modules may contain settings. A module that does not mention Keras may lead to others that do, such as an
        agent that plays with two networks.
        """
        if self.mentions(_WORTH_FOLLOWING) or sum(map(len, self.code.split())) < _SHORT:
            return True
        return not self.mentions(_NAMES_KERAS) and any(
            module.mentions(_WORTH_FOLLOWING) for module in self.project.imported(self)
        )

    @cached_property
    def name_counts(self) -> Counter[str]:
        """The number of occurrences of each identifier."""
        counts: Counter[str] = Counter()
        for node in self.tree.parents:
            if type(node) is cst.Name:
                counts[node.value] += 1
        return counts

    @cached_property
    def generators(self) -> frozenset[cst.CSTNode]:
        """The functions that contain a ``yield``."""
        found = set()
        for node in self.tree.parents:
            if type(node) is cst.Yield:
                for outer in self.tree.ancestors(node):
                    if isinstance(outer, (cst.FunctionDef, cst.Lambda)):
                        found.add(outer)
                        break
        return frozenset(found)

    @cached_property
    def run(self) -> Interpreter:
        """The interpretation of the module as the entry point of a program."""
        interpreter = Interpreter(self)
        interpreter.run()
        return interpreter

    def once(self, find: Callable[[Module], Found]) -> Found:
        """The memoised result of ``find`` for this module."""
        if find not in self.memory:
            self.memory[find] = find(self)
        found: Found = self.memory[find]
        return found

    @cached_property
    def target(self) -> Target:
        """The target versions, each with its source."""
        return self.project.target_of(self)

    @property
    def runtime(self) -> Runtime:
        """The target versions, from the settings, the project's pins, and its own code, in this order."""
        return self.target.runtime

    @property
    def machine(self) -> HardwareProfile | None:
        """The target machine; None for any."""
        return self.project.settings.machine

    def is_cell_output(self, node: cst.CSTNode) -> bool:
        """Whether a notebook displays the value of this expression, because it ends a cell."""
        if not getattr(self.source, "cells", None):
            return False
        around = list(self.tree.ancestors(node))
        statement = next((each for each in around if isinstance(each, cst.BaseSmallStatement)), None)
        # A notebook displays only top-level expression statements of a cell, no assignments and nothing in a block.
        if not isinstance(statement, cst.Expr) or any(isinstance(each, cst.BaseCompoundStatement) for each in around):
            return False
        end = self.range_of(node)[1]
        here = self.source.locate(end - 1, end).cell
        rest = self.code[end:]
        following = len(rest) - len(rest.lstrip())
        after = end + following
        return after >= len(self.code) or self.source.locate(after, after).cell != here
