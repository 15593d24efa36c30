import * as vscode from "vscode";

/** Settings of the extension itself; the server would refuse them. */
const OWN = new Set(["interpreter", "package", "trace.server"]);

/** The settings for the server that the user states; defaults would override the project's configuration file. */
export function serverSettings(names: Iterable<string>): Record<string, unknown> {
    const configuration = vscode.workspace.getConfiguration("kerascheck");
    const stated: Record<string, unknown> = {};
    for (const name of names) {
        const found = configuration.inspect(name);
        const value = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
        if (value !== undefined && !OWN.has(name)) {
            stated[name] = value;
        }
    }
    return stated;
}

/** The names of the settings in the manifest of the extension, without the prefix `kerascheck.`. */
export function settingNames(manifest: { contributes: { configuration: { properties: object } } }): string[] {
    return Object.keys(manifest.contributes.configuration.properties).map((key) => key.slice("kerascheck.".length));
}
