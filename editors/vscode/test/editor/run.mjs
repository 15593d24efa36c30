// Tests the packaged extension in VS Code in a browser without a screen: npm run package && npm run test:editor
//
// CODE_SERVER        the file out/node/entry.js of an installed code-server
// CHROMIUM           a Chromium or Chrome
// KERASCHECK_PYTHON  a Python with kerascheck[server,verify]
import { spawn, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const { CODE_SERVER, CHROMIUM, KERASCHECK_PYTHON } = process.env;
const require = createRequire(import.meta.url);
const here = path.dirname(fileURLToPath(import.meta.url));
const vsix = path.join(here, "..", "..", "kerascheck.vsix");
if (!CODE_SERVER || !CHROMIUM || !KERASCHECK_PYTHON || !existsSync(vsix)) {
    console.error("needs CODE_SERVER, CHROMIUM and KERASCHECK_PYTHON in the environment, and npm run package");
    process.exit(2);
}

const SCRIPT = `\
import tensorflow as tf

columns, clicks = tf.zeros([4096, 4]), tf.zeros([4096])


def scale(row, label):
    return row / 255.0, label


dataset = tf.data.Dataset.from_tensor_slices((columns, clicks))
dataset = dataset.map(scale).batch(256)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(dataset, epochs=1000, verbose=0)
`;

/** A project, the user's settings, and a Python without kerascheck. */
function prepare(top) {
    const project = path.join(top, "project");
    mkdirSync(path.join(top, "user", "User"), { recursive: true });
    mkdirSync(path.join(top, "user", "Machine"));
    mkdirSync(project);
    const cell = { cell_type: "code", source: SCRIPT, metadata: {}, outputs: [], execution_count: null };
    const notebook = { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 4 };
    const machine = {
        "kerascheck.interpreter": KERASCHECK_PYTHON,
        "kerascheck.package": `${path.resolve(here, "../../../..")}[server]`,
    };
    const settings = {
        "editor.codeActionsOnSave": { "source.fixAll.kerascheck": "explicit" },
        "notebook.codeActionsOnSave": { "notebook.source.fixAll.kerascheck": "explicit" },
        "workbench.startupEditor": "none",
        "window.dialogStyle": "custom",
    };
    writeFileSync(path.join(project, "train.py"), SCRIPT);
    writeFileSync(path.join(project, "slow.py"), SCRIPT);
    writeFileSync(path.join(project, "train.ipynb"), JSON.stringify(notebook));
    writeFileSync(path.join(top, "user", "User", "settings.json"), JSON.stringify(settings));
    // In a remote window, VS Code takes settings of the scope machine from there only.
    writeFileSync(path.join(top, "user", "Machine", "settings.json"), JSON.stringify(machine));
    writeFileSync(path.join(top, "phase"), "");
    execFileSync(KERASCHECK_PYTHON, ["-m", "venv", path.join(top, "bare")]);
    return project;
}

function freePort() {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

async function serve(top, port) {
    const folders = ["--user-data-dir", path.join(top, "user"), "--extensions-dir", path.join(top, "extensions")];
    const common = [CODE_SERVER, "--config", path.join(top, "config.yaml"), ...folders];
    writeFileSync(path.join(top, "config.yaml"), "auth: none\n");
    const session = path.join(top, "session.vsix");
    const quiet = ["--allow-missing-repository", "--skip-license", "--no-dependencies"];
    execFileSync(process.execPath, [require.resolve("@vscode/vsce/vsce"), "package", ...quiet, "--out", session], { cwd: here });
    for (const extension of [vsix, session]) {
        execFileSync(process.execPath, [...common, "--install-extension", extension], { stdio: "inherit" });
    }
    const options = ["--bind-addr", `127.0.0.1:${port}`, "--disable-workspace-trust", "--disable-telemetry"];
    const server = spawn(process.execPath, [...common, ...options, "--disable-update-check"], { stdio: "pipe" });
    await new Promise((resolve, reject) => {
        server.stdout.on("data", (text) => String(text).includes("HTTP server listening") && resolve());
        server.on("exit", () => reject(new Error("code-server ended")));
    });
    return server;
}

/** What the user does with the mouse in each phase of the session. */
const ACTIONS = {
    async "click the status bar item and run the script"(page) {
        await page.getByText("kerascheck why", { exact: true }).click();
        await page.getByText("executes the script once").waitFor();
        await page.screenshot({ path: path.join(tmpdir(), "kerascheck-question.png") });
        await page.getByRole("button", { name: "Run the Script" }).click();
    },
    async "read the page"(page) {
        const inner = page.frameLocator('iframe.webview[src*="extensionId=kerascheck"]').frameLocator("iframe");
        await inner.getByText("per step").first().waitFor({ timeout: 60000 });
        await page.screenshot({ path: path.join(tmpdir(), "kerascheck-why.png") });
    },
    async "accept the offer"(page) {
        const offer = page.getByRole("dialog", { name: "with its language server is not installed in" });
        await offer.getByRole("button", { name: "Install", exact: true }).click();
    },
};

async function act(page, top) {
    for (;;) {
        const phase = readFileSync(path.join(top, "phase"), "utf8");
        if (phase) {
            await ACTIONS[phase](page);
            writeFileSync(path.join(top, "phase"), "");
        }
        if (existsSync(path.join(top, "result"))) {
            return readFileSync(path.join(top, "result"), "utf8");
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
    }
}

const top = mkdtempSync(path.join(tmpdir(), "kerascheck-editor-"));
const project = prepare(top);
const port = await freePort();
const server = await serve(top, port);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
let result = "failed: the session did not end";
const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
try {
    await page.goto(`http://127.0.0.1:${port}/?folder=${project}`);
    const limit = new Promise((resolve) => setTimeout(() => resolve("failed: no result in 9 minutes"), 540_000));
    result = await Promise.race([act(page, top), limit]);
} catch (error) {
    result = `failed: ${error.stack}`;
} finally {
    if ((await page.getByText("failed").count()) > 0) {
        result = `failed: an error is shown, after: ${result}`;
    }
    if (!result.startsWith("passed")) {
        await page.screenshot({ path: path.join(tmpdir(), "kerascheck-editor.png") });
    }
    await browser.close();
    server.kill();
    rmSync(top, { recursive: true, force: true });
}
console.log(result);
process.exit(result.startsWith("passed") ? 0 : 1);
