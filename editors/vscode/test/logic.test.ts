import assert from "node:assert";
import { beforeEach, test } from "node:test";
import { offerInstall } from "../src/install";
import { interpreter } from "../src/interpreter";
import { serverSettings, settingNames } from "../src/settings";
import { why } from "../src/why";
import manifest from "../package.json";
import { answers } from "./vscode";

const SCRIPT = { languageId: "python", uri: { scheme: "file" }, fileName: "/project/train.py", isDirty: false };
const log = {} as import("vscode").OutputChannel;

beforeEach(() => {
    Object.assign(answers, { choice: undefined, settings: {}, stated: {}, shown: [] });
    Object.assign(answers, { pythonExtension: undefined, document: undefined });
});

function pythonExtension(executable: string | undefined): object {
    return {
        environments: {
            getActiveEnvironmentPath: () => ({ path: "chosen" }),
            resolveEnvironment: async (active: { path: string }) =>
                active.path === "chosen" ? { executable: { uri: executable && { fsPath: executable } } } : undefined,
        },
    };
}

test("the interpreter is the Python extension's, else the setting's, else the one on PATH", async () => {
    assert.match(await interpreter(), /^python3?$/);
    answers.settings = { interpreter: "/set/python" };
    assert.strictEqual(await interpreter(), "/set/python");
    answers.pythonExtension = pythonExtension("/chosen/python");
    assert.strictEqual(await interpreter(), "/chosen/python");
    answers.pythonExtension = pythonExtension(undefined);
    assert.strictEqual(await interpreter(), "/set/python");
});

test("the server gets the settings that the user states, and none of the extension's own", () => {
    answers.settings = { "min-severity": "info", pedantic: false };
    answers.stated = { interpreter: "/set/python", package: "here", "trace.server": "off", ignore: ["KC1"] };
    assert.deepStrictEqual(serverSettings(settingNames(manifest)), { ignore: ["KC1"] });
});

test("why runs a script only after the answer", async () => {
    answers.document = SCRIPT;
    await why(log);
    assert.match(answers.shown[0], /^Run train\.py\? kerascheck why executes the script once with python3?, /);
    answers.choice = "Run the Script";
    await assert.rejects(why(log), /the script was started/);
});

test("why refuses what is no script on disk", async () => {
    answers.choice = "Run the Script";
    for (const document of [undefined, { ...SCRIPT, languageId: "json" }, { ...SCRIPT, uri: { scheme: "untitled" } }]) {
        answers.document = document;
        await why(log);
    }
    assert.deepStrictEqual(answers.shown, Array(3).fill("kerascheck why runs a Python script: open one first."));
});

test("a declined installation is not offered again", async () => {
    const stored = new Map<string, unknown>();
    const memory = {
        get: (key: string) => stored.get(key),
        update: async (key: string, value: unknown) => void stored.set(key, value),
    } as unknown as import("vscode").Memento;
    assert.strictEqual(await offerInstall("python3", memory), false);
    answers.choice = "Not in This Workspace";
    assert.strictEqual(await offerInstall("python3", memory), false);
    assert.strictEqual(await offerInstall("python3", memory), false);
    assert.strictEqual(answers.shown.length, 2);
});
