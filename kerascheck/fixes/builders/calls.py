"""Fixes of one call: its arguments, its name, or its removal."""

from __future__ import annotations

import libcst as cst

from kerascheck.finding import Fix
from kerascheck.fixes.monkeypatch_proofs import objection_to_alias, replacement
from kerascheck.fixes.offer import offer
from kerascheck.fixes.proofs import PLAIN_CALL, RAISES_NOW, SAME_NUMBERS, SAME_OBJECT, Proof
from kerascheck.fixes.run_proofs import possible_handler
from kerascheck.interpreter.code_location import CodeLocation
from kerascheck.interpreter.module import Module
from kerascheck.interpreter.values import Call, Class, External, ExternalInstance, Instance, options_of
from kerascheck.knowledge.classes import FUNCTIONAL, MODEL, SEQUENTIAL, class_of_bases
from kerascheck.knowledge.namespaces import OF_KERAS_APPLICATIONS
from kerascheck.syntax import edits
from kerascheck.syntax.edits import call_at


def add_keyword(call: Call, name: str, text: str, *proofs: Proof) -> Fix | None:
    """Add a keyword argument."""
    if not isinstance(call.node, cst.Call):
        return None
    return offer(
        f"Add {name}={text}",
        lambda: edits.add_keyword(call.module.tree, call_at(call.node), name, text),
        proofs,
    )


def drop_argument(call: Call, keyword: str, *proofs: Proof) -> Fix | None:
    """Delete a keyword argument."""
    argument = call.arguments.nodes.get(keyword)
    if argument is None:
        return None
    return offer(
        f"Remove {keyword}", lambda: edits.remove_argument(call.module.tree, call_at(call.node), argument), proofs
    )


def rename_keyword(call: Call, old: str, new: str) -> Fix | None:
    """Give a keyword argument that raises today its new name."""
    argument = call.arguments.nodes.get(old)
    keyword = argument.keyword if argument is not None else None
    if keyword is None or new in call.arguments.nodes:
        return None
    return offer(
        f"Write {new}=",
        lambda: edits.replace(call.module.tree, keyword, new),
        [RAISES_NOW.unless(possible_handler(call))],
    )


def delete_statement(call: Call, *proofs: Proof) -> Fix | None:
    """Delete the statement of a call or assignment, if it contains nothing else."""
    tree = call.module.tree
    node = call.node
    parent = tree.parents.get(node)
    statement = tree.parents.get(parent) if isinstance(parent, cst.AssignTarget) else parent
    if isinstance(parent, cst.AssignTarget):
        alone = isinstance(statement, cst.Assign) and len(statement.targets) == 1
    else:
        alone = isinstance(statement, cst.Expr)
    if statement is None or not alone:
        return None
    return offer("Delete the statement", lambda: edits.delete_statement(tree, statement), proofs)


def rename(place: CodeLocation, old: str, new: str) -> Fix | None:
    """Replace an attribute or name with canonical name ``old`` by the canonical name ``new``."""

    def build() -> edits.Edits:
        text, imports = edits.spelling(place.module.tree, new, at=place.node)
        return (*imports, *edits.replace(place.module.tree, place.node, text))

    return offer(f"Write {new}", build, [SAME_OBJECT.unless(objection_to_alias(place.module, old, new))])


def replace_generator_method(call: Call, name: str) -> Fix | None:
    """Turn ``fit_generator(batches, ...)`` into ``fit(batches, ...)``, if all arguments keep their meaning.

    Unsafe if it drops arguments that Keras 3 accepts only in the constructor of a PyDataset.
    """
    if len(call.arguments.positional) != 1 or {
        "generator",
        "samples_per_epoch",
        "nb_epoch",
        "val_samples",
        "nb_val_samples",
    } & set(call.arguments.keywords):
        return None
    dropped = tuple(
        keyword
        for keyword in ("workers", "use_multiprocessing", "max_queue_size")
        if keyword in call.arguments.keywords
    )
    return rename_method(
        call,
        name,
        RAISES_NOW.unless(_may_have_method(call) or possible_handler(call)),
        PLAIN_CALL.unless(f"`{dropped[0]}` is dropped" if dropped else None),
        without=dropped,
    )


def _may_have_method(call: Call) -> str | None:
    """Return why a method that Keras 3 removed may exist after all, as a clause."""
    if call.module.runtime.keras < 3:
        return "Keras 2 still has the method"
    for option in options_of(call.receiver):
        if (
            isinstance(option, ExternalInstance)
            and option.call is not None
            and _makes_plain_model(option.call.name or "")
        ):
            continue
        if not isinstance(option, Instance) or class_of_bases(option.cls.external_bases()) != MODEL:
            return "its object may be something else than a model of Keras 3"
        if any(
            option.cls.member(each) is not None for each in (call.attribute or "", "__getattr__", "__getattribute__")
        ):
            return f"`{option.cls.name}` may have the method"
        if any(
            not isinstance(base, (Class, External))
            for cls in option.cls.ancestry()
            if isinstance(cls, Class)
            for base in cls.bases
        ):
            return f"a base of `{option.cls.name}` may have the method"
    return replacement(call.module, frozenset({call.attribute or ""}))


def _makes_plain_model(name: str) -> bool:
    """Whether a callable creates a model of Keras's own class; a loaded model may have any class."""
    return name in (MODEL, SEQUENTIAL, FUNCTIONAL) or name.startswith(OF_KERAS_APPLICATIONS)


def rename_method(call: Call, name: str, *proofs: Proof, without: tuple[str, ...] = ()) -> Fix | None:
    """Call another method of the same object, without some keyword arguments."""

    def build() -> edits.Edits:
        node = call_at(call.node)
        result = edits.rename_method(call.module.tree, node, name)
        for keyword in without:
            if keyword in call.arguments.nodes:
                result = (*result, *edits.remove_argument(call.module.tree, node, call.arguments.nodes[keyword]))
        return result

    return offer(f"Call {name}", build, proofs)


def assign_back(module: Module, call: cst.CSTNode) -> Fix | None:
    """Turn the statement ``ds.shuffle(10)`` into ``ds = ds.shuffle(10)``."""
    base: cst.CSTNode = call
    while isinstance(base, cst.Call) and isinstance(base.func, cst.Attribute):
        base = base.func.value
    owner = base
    while isinstance(owner, cst.Attribute):
        owner = owner.value
    if not isinstance(owner, cst.Name):
        return None
    name = module.text[slice(*module.tree.range_of(base))]
    return offer(
        f"Assign the result to {name}",
        lambda: edits.assign_back(module.tree, module.tree.statement(call), name),
        [SAME_NUMBERS.unless("the operation then takes part in the pipeline")],
    )
