// Replaces VS Code in the tests: what the extension asks of it, with answers that a test sets.
export const answers = {
    /** The user's choice in every message. */
    choice: undefined as string | undefined,
    /** The effective values of the settings, without the prefix. */
    settings: {} as Record<string, unknown>,
    /** What the user states in settings.json. */
    stated: {} as Record<string, unknown>,
    pythonExtension: undefined as object | undefined,
    document: undefined as object | undefined,
    /** The messages shown. */
    shown: [] as string[],
};

const configuration = {
    get: (name: string) => answers.settings[name],
    inspect: (name: string) => ({ defaultValue: answers.settings[name], globalValue: answers.stated[name] }),
};

async function show(message: string, options?: { detail?: string } | string): Promise<string | undefined> {
    answers.shown.push(message + (typeof options === "object" ? ` ${options.detail}` : ""));
    return answers.choice;
}

export const window = {
    get activeTextEditor() {
        return answers.document && { document: answers.document };
    },
    showInformationMessage: show,
    showWarningMessage: show,
    showErrorMessage: show,
    withProgress: () => {
        throw new Error("the script was started");
    },
};

export const workspace = {
    workspaceFolders: undefined,
    getConfiguration: () => configuration,
    getWorkspaceFolder: () => undefined,
};

export const extensions = {
    getExtension: () => answers.pythonExtension && { activate: async () => answers.pythonExtension },
};

export const ProgressLocation = { Notification: 15 };
export const ViewColumn = { Beside: -2 };
export const TaskScope = { Workspace: 2 };
