import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { interpreter, kerascheck } from "./interpreter";

const RUN = "Run the Script";

/** Whether `kerascheck why` can run a document: a Python script on disk. */
export function isScript(document: vscode.TextDocument | undefined): document is vscode.TextDocument {
    return document?.languageId === "python" && document.uri.scheme === "file";
}

/** Ask whether to run the script of the active editor; then run `kerascheck why` and show its page. */
export async function why(log: vscode.OutputChannel): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (!isScript(document)) {
        void vscode.window.showInformationMessage("kerascheck why runs a Python script: open one first.");
        return;
    }
    const python = await interpreter();
    const detail =
        `kerascheck why executes the script once with ${python}, up to the middle of its training. ` +
        (document.isDirty ? "It saves your changes first. " : "") +
        "Run only code that you trust.";
    const name = path.basename(document.fileName);
    const answer = await vscode.window.showWarningMessage(`Run ${name}?`, { modal: true, detail }, RUN);
    if (answer !== RUN || (document.isDirty && !(await document.save()))) {
        return;
    }
    const folder = vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath ?? path.dirname(document.fileName);
    const title = `kerascheck why ${name}`;
    const page = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title, cancellable: true },
        (_, cancelled) => run(python, document.fileName, folder, log, cancelled),
    );
    if (page !== undefined) {
        const panel = vscode.window.createWebviewPanel("kerascheck.why", title, vscode.ViewColumn.Beside);
        panel.webview.html = page;
    }
}

/** The page about a script; undefined if it could not be made, which is reported, or was cancelled. */
async function run(
    python: string,
    script: string,
    folder: string,
    log: vscode.OutputChannel,
    cancelled: vscode.CancellationToken,
): Promise<string | undefined> {
    const temporary = await mkdtemp(path.join(tmpdir(), "kerascheck-"));
    const page = path.join(temporary, "why.html");
    const words = ["why", "--python", python, "--color", "never", "--output-format", "html", "--output-file", page];
    try {
        const code = await finished(python, kerascheck(...words, script), folder, log, cancelled);
        if (code === 0) {
            return await readFile(page, "utf8");
        }
        if (!cancelled.isCancellationRequested) {
            void offerLog(`kerascheck why could not look at the training of ${path.basename(script)}.`, log);
        }
        return undefined;
    } finally {
        await rm(temporary, { recursive: true, force: true });
    }
}

async function offerLog(message: string, log: vscode.OutputChannel): Promise<void> {
    if (await vscode.window.showErrorMessage(message, "Show Log")) {
        log.show();
    }
}

/** The exit code of a program whose output goes to the log; null if it did not start or a signal ended it. */
function finished(
    program: string,
    words: string[],
    folder: string,
    log: vscode.OutputChannel,
    cancelled: vscode.CancellationToken,
): Promise<number | null> {
    return new Promise((resolve) => {
        const child = spawn(program, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
        // As Ctrl-C does, it lets kerascheck end the script.
        const stop = cancelled.onCancellationRequested(() => child.kill("SIGINT"));
        for (const stream of [child.stdout, child.stderr]) {
            stream.setEncoding("utf8").on("data", (text: string) => log.append(text));
        }
        child.on("error", (error) => {
            log.appendLine(error.message);
            resolve(null);
        });
        child.on("close", (code) => {
            stop.dispose();
            resolve(code);
        });
    });
}
