// An extension beside the installed one: it uses the editor and asserts what the user would see. It is no extension
// test of VS Code, since these get no dialogs.
const assert = require("node:assert");
const { readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const FIXED = "dataset.batch(256).map(scale)";

exports.activate = () => void session();

async function session() {
    const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
    const report = (name, value) => writeFileSync(path.join(folder, "..", name), value);
    const done = [];
    try {
        for (const step of [squiggleAndQuickFix, settings, fixOnSave, notebook, why, offer]) {
            await step(folder, (phase) => report("phase", phase));
            done.push(step.name);
        }
        report("result", `passed: ${done.join(", ")}`);
    } catch (error) {
        report("result", `failed after [${done.join(", ")}]: ${error.stack}`);
    }
}

async function until(what, ready, seconds = 60) {
    for (let tries = 0; tries < seconds * 10; tries++) {
        const value = await ready();
        if (value) {
            return value;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`waited in vain for ${what}`);
}

function finding(uri, code) {
    const ours = vscode.languages.getDiagnostics(uri).filter((each) => each.source === "kerascheck");
    return ours.find((each) => (each.code?.value ?? each.code) === code);
}

async function quickFix(uri, { range }) {
    const actions = await vscode.commands.executeCommand("vscode.executeCodeActionProvider", uri, range, "quickfix", 20);
    const fix = actions.find((each) => each.title.startsWith("kerascheck (KC103): "));
    assert.ok(fix && fix.isPreferred, JSON.stringify(actions.map((each) => each.title)));
    return fix;
}

async function show(folder, name) {
    const document = await vscode.workspace.openTextDocument(path.join(folder, name));
    await vscode.window.showTextDocument(document);
    return document;
}

async function squiggleAndQuickFix(folder) {
    const document = await show(folder, "train.py");
    const found = await until("the squiggle", () => finding(document.uri, "KC103"));
    assert.strictEqual(found.severity, vscode.DiagnosticSeverity.Warning);
    assert.strictEqual(document.getText(found.range), "map(scale)");
    assert.ok(await vscode.workspace.applyEdit((await quickFix(document.uri, found)).edit));
    assert.ok(document.getText().includes(FIXED), document.getText());
    await until("the end of the finding", () => !finding(document.uri, "KC103"));
    await vscode.commands.executeCommand("undo");
    await until("the finding after the undo", () => finding(document.uri, "KC103"));
}

async function settings(folder) {
    const { uri } = await show(folder, "train.py");
    const configuration = vscode.workspace.getConfiguration("kerascheck");
    await configuration.update("ignore", ["KC103"], vscode.ConfigurationTarget.Global);
    await until("the setting to apply", () => !finding(uri, "KC103"));
    // A setting that the server does not know would be an error in the file.
    assert.strictEqual(vscode.languages.getDiagnostics(uri).filter((each) => each.severity === 0).length, 0);
    await configuration.update("ignore", undefined, vscode.ConfigurationTarget.Global);
    await until("the finding without the setting", () => finding(uri, "KC103"));
}

async function fixOnSave(folder) {
    const document = await show(folder, "train.py");
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), "# é 😀\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.ok(await document.save());
    const saved = readFileSync(document.fileName, "utf8");
    assert.ok(saved.startsWith("# é 😀\n") && saved.includes(FIXED), saved);
}

async function notebook(folder) {
    const uri = vscode.Uri.file(path.join(folder, "train.ipynb"));
    const opened = await vscode.workspace.openNotebookDocument(uri);
    await vscode.window.showNotebookDocument(opened);
    const cell = opened.getCells().find((each) => each.document.getText().includes(".map("));
    const found = await until("the squiggle in the cell", () => finding(cell.document.uri, "KC103"));
    await quickFix(cell.document.uri, found);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(cell.document.uri, new vscode.Position(0, 0), "# edited\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    await vscode.commands.executeCommand("workbench.action.files.save");
    await until("the fix in the saved notebook", () => readFileSync(uri.fsPath, "utf8").includes(FIXED));
    assert.ok(cell.document.getText().startsWith("# edited\n"));
}

async function why(folder, phase) {
    await show(folder, "train.py");
    phase("click the status bar item and run the script");
    const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await until("the page", () => tabs().find((each) => each.label === "kerascheck why train.py"), 240);
    phase("read the page");
    await until("the page to be read", () => !readFileSync(path.join(folder, "..", "phase"), "utf8").startsWith("read"));
}

async function offer(folder, phase) {
    const { uri } = await show(folder, "slow.py");
    const configuration = vscode.workspace.getConfiguration("kerascheck");
    const bare = path.join(folder, "..", "bare", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
    await configuration.update("interpreter", bare, vscode.ConfigurationTarget.Global);
    await until("the end of the server", () => !finding(uri, "KC103"));
    phase("accept the offer");
    await until("the finding of the installed server", () => finding(uri, "KC103"), 240);
}
