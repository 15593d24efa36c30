// Bundles the extension into out/, or with --tests its tests into out/test, where a stub replaces VS Code.
import { copyFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning" };

if (process.argv.includes("--tests")) {
    const entryPoints = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
    await build({
        ...common,
        entryPoints: entryPoints.map((name) => `test/${name}`),
        outdir: "out/test",
        alias: { vscode: "./test/vscode.ts" },
    });
} else {
    await build({ ...common, entryPoints: ["src/extension.ts"], outdir: "out", external: ["vscode"], minify: true });
    // The licence asks that copies of the work contain it.
    copyFileSync("../../LICENSE", "LICENSE");
}
