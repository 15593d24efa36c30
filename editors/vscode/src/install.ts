import * as vscode from "vscode";

const DECLINED = "install.declined";

/** Offer to install kerascheck; returns whether it is installed now. */
export async function offerInstall(python: string, memory: vscode.Memento): Promise<boolean> {
    if (memory.get(DECLINED)) {
        return false;
    }
    const decline = "Not in This Workspace";
    const answer = await vscode.window.showInformationMessage(
        `kerascheck with its language server is not installed in ${python}.`,
        "Install",
        decline,
    );
    if (answer === decline) {
        await memory.update(DECLINED, true);
    }
    return answer === "Install" && (await install(python));
}

/** Install kerascheck by pip, in a terminal that the user sees; returns whether pip succeeded. */
export async function install(python: string): Promise<boolean> {
    const wanted = vscode.workspace.getConfiguration("kerascheck").get<string>("package", "");
    const pip = new vscode.ProcessExecution(python, ["-m", "pip", "install", "--upgrade", wanted]);
    const definition = { type: "process" };
    const task = new vscode.Task(definition, vscode.TaskScope.Workspace, "install", "kerascheck", pip);
    const ended = new Promise<boolean>((resolve) => {
        const listener = vscode.tasks.onDidEndTaskProcess((event) => {
            if (event.execution.task.name === task.name && event.execution.task.source === task.source) {
                listener.dispose();
                resolve(event.exitCode === 0);
            }
        });
    });
    await vscode.tasks.executeTask(task);
    return ended;
}
