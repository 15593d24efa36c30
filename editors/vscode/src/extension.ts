import * as vscode from "vscode";
import { DidChangeConfigurationNotification, LanguageClient } from "vscode-languageclient/node";
import { install, offerInstall } from "./install";
import { interpreter, kerascheck, probe, pythonApi, type State } from "./interpreter";
import { serverSettings, settingNames } from "./settings";
import { isScript, why } from "./why";

const PROBLEMS: Record<Exclude<State, "ready">, string> = {
    "not installed": "kerascheck with its language server is not installed in",
    "too old": "kerascheck needs Python 3.10 or later. This is older:",
    "no Python": "kerascheck cannot start this Python:",
};

/** The extension while it is active. */
class Extension {
    private client: LanguageClient | undefined;
    private readonly log = vscode.window.createOutputChannel("kerascheck");
    private readonly item = vscode.window.createStatusBarItem("kerascheck", vscode.StatusBarAlignment.Right);
    /** The last start or stop; the next one waits for it. */
    private last: Promise<void> = Promise.resolve();

    constructor(private readonly context: vscode.ExtensionContext) {
        this.item.name = "kerascheck";
        context.subscriptions.push(
            this.log,
            this.item,
            vscode.commands.registerCommand("kerascheck.restart", () => this.restart()),
            vscode.commands.registerCommand("kerascheck.why", () => why(this.log)),
            vscode.commands.registerCommand("kerascheck.install", async () => {
                if (await install(await interpreter())) {
                    await this.restart();
                }
            }),
            vscode.window.onDidChangeActiveTextEditor(() => this.showItem()),
            vscode.workspace.onDidChangeConfiguration((event) => {
                if (event.affectsConfiguration("kerascheck.interpreter")) {
                    void this.restart();
                }
            }),
        );
    }

    /** Start the server and follow the choices of the Python extension. */
    async start(): Promise<void> {
        const api = await pythonApi();
        if (api) {
            this.context.subscriptions.push(api.environments.onDidChangeActiveEnvironmentPath(() => this.restart()));
        }
        await this.restart();
    }

    /** Start the server again, with the interpreter that applies now. */
    restart(): Promise<void> {
        this.last = this.last.then(() => this.begin()).catch((error) => this.log.appendLine(String(error)));
        return this.last;
    }

    /** End the server. */
    async stop(): Promise<void> {
        await this.last;
        await this.client?.dispose();
        this.client = undefined;
    }

    private async begin(): Promise<void> {
        await this.client?.dispose();
        this.client = undefined;
        const python = await interpreter();
        const state = await probe(python, this.context.extensionPath);
        this.report(state, python);
        if (state === "ready") {
            this.client = this.newClient(python);
            await this.client.start();
        } else if (state === "not installed") {
            // Nobody waits for the answer.
            void offerInstall(python, this.context.workspaceState).then((done) => (done ? this.restart() : undefined));
        }
    }

    private newClient(python: string): LanguageClient {
        const names = settingNames(this.context.extension.packageJSON);
        const client: LanguageClient = new LanguageClient(
            "kerascheck",
            { command: python, args: kerascheck("server"), options: { cwd: this.context.extensionPath } },
            {
                documentSelector: [
                    { scheme: "file", language: "python" },
                    { scheme: "untitled", language: "python" },
                    { notebook: "jupyter-notebook", language: "python" },
                ],
                outputChannel: this.log,
                initializationOptions: serverSettings(names),
                middleware: {
                    workspace: {
                        // By itself, the client sends defaults too.
                        didChangeConfiguration: async () => {
                            const settings = { kerascheck: serverSettings(names) };
                            try {
                                await client.sendNotification(DidChangeConfigurationNotification.type, { settings });
                            } catch (error) {
                                // Another interpreter was set, so this server is being ended.
                                if (client.isRunning()) {
                                    throw error;
                                }
                            }
                        },
                    },
                },
            },
        );
        return client;
    }

    private report(state: State, python: string): void {
        if (state === "ready") {
            this.item.text = "$(pulse) kerascheck why";
            this.item.tooltip = "Run this script and say where a training step goes";
            this.item.command = "kerascheck.why";
        } else {
            this.item.text = "$(warning) kerascheck";
            this.item.tooltip = `${PROBLEMS[state]} ${python}`;
            this.item.command = state === "not installed" ? "kerascheck.install" : "kerascheck.restart";
            this.log.appendLine(this.item.tooltip);
        }
        this.showItem();
    }

    private showItem(): void {
        if (isScript(vscode.window.activeTextEditor?.document)) {
            this.item.show();
        } else {
            this.item.hide();
        }
    }
}

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    extension = new Extension(context);
    await extension.start();
}

export async function deactivate(): Promise<void> {
    await extension?.stop();
}
