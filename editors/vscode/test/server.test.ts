import assert from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
    createProtocolConnection,
    DidOpenTextDocumentNotification,
    DocumentDiagnosticRequest,
    ExitNotification,
    InitializedNotification,
    InitializeRequest,
    ShutdownRequest,
    StreamMessageReader,
    StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { kerascheck, probe } from "../src/interpreter";

const python = process.env.KERASCHECK_PYTHON;
const skip = python ? false : "needs KERASCHECK_PYTHON, a Python with kerascheck[server]";
const SCRIPT = `import tensorflow as tf
dataset = tf.data.Dataset.range(9).map(lambda x: x / 255).batch(3)
tf.keras.Sequential().fit(dataset)
`;

test("an interpreter is probed", { skip }, async () => {
    assert.strictEqual(await probe(python!, tmpdir()), "ready");
    assert.strictEqual(await probe("/no/such/python", tmpdir()), "no Python");
});

test("the server answers the client, with the settings of the extension", { skip }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "kerascheck-"));
    const server = spawn(python!, kerascheck("server"), { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
    const reader = new StreamMessageReader(server.stdout);
    const client = createProtocolConnection(reader, new StreamMessageWriter(server.stdin));
    client.listen();
    const codes = async (name: string) => {
        const uri = pathToFileURL(path.join(folder, name)).href;
        const textDocument = { uri, languageId: "python", version: 1, text: SCRIPT };
        await client.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
        const report = await client.sendRequest(DocumentDiagnosticRequest.type, { textDocument: { uri } });
        return report.kind === "full" ? report.items.map((item) => item.code) : [];
    };
    try {
        await client.sendRequest(InitializeRequest.type, {
            processId: process.pid,
            rootUri: pathToFileURL(folder).href,
            capabilities: { textDocument: { diagnostic: {} } },
            initializationOptions: { "extend-ignore": ["KC306"] },
        });
        await client.sendNotification(InitializedNotification.type, {});
        assert.deepStrictEqual(await codes("train.py"), ["KC103"]);
        await client.sendRequest(ShutdownRequest.type);
        await client.sendNotification(ExitNotification.type);
    } finally {
        server.kill();
        rmSync(folder, { recursive: true, force: true });
    }
});
