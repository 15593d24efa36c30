import { execFile } from "node:child_process";
import * as vscode from "vscode";

/** Leaves the current folder out of the module path, since a `types.py` there would shadow Python's. */
const PATH = "import sys; sys.path[:] = filter(None, sys.path)";
const RUN = `${PATH}; from kerascheck.cli.main import main; main()`;
const PROBE = `${PATH}
from importlib.util import find_spec
found = find_spec("kerascheck") is not None
print(*sys.version_info[:2], int(found), int(found and find_spec("pygls") is not None))`;

/** What an interpreter can run. */
export type State = "ready" | "not installed" | "too old" | "no Python";

/** The part of the Python extension's API that is used; see its `PythonExtension` in `@vscode/python-extension`. */
interface PythonApi {
    environments: {
        getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
        resolveEnvironment(path: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
        onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
    };
}

/** The Python extension's API; undefined if it is not installed. */
export async function pythonApi(): Promise<PythonApi | undefined> {
    return vscode.extensions.getExtension<PythonApi>("ms-python.python")?.activate();
}

/** The workspace's interpreter: that of the Python extension, else of the setting, else the one on PATH. */
export async function interpreter(): Promise<string> {
    const environments = (await pythonApi())?.environments;
    if (environments) {
        const active = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
        const executable = (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
        if (executable) {
            return executable;
        }
    }
    const stated = vscode.workspace.getConfiguration("kerascheck").get<string>("interpreter");
    return stated || (process.platform === "win32" ? "python" : "python3");
}

/** The arguments of an interpreter that run a command of kerascheck. */
export function kerascheck(...words: string[]): string[] {
    return ["-c", RUN, ...words];
}

/** What `python` can run; `folder` is its working folder. */
export function probe(python: string, folder: string): Promise<State> {
    return new Promise((resolve) =>
        execFile(python, ["-c", PROBE], { cwd: folder }, (error, output) => {
            const [major, minor, kerascheck, pygls] = output.trim().split(" ").map(Number);
            if (error) {
                resolve("no Python");
            } else if (major < 3 || (major === 3 && minor < 10)) {
                resolve("too old");
            } else {
                resolve(kerascheck && pygls ? "ready" : "not installed");
            }
        }),
    );
}
