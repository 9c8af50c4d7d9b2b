// What the extension has of cursord's, with the protocol library that its language client is made of, and the real "cursord lsp".
//
//   node client.test.cjs COMPILED ROOT PROGRAM           in a world where the next turn changes the file f and makes the file new
//   node client.test.cjs COMPILED ROOT PROGRAM asks      in one where its agent asks for "echo ran >>ran", and then a question

const { deepStrictEqual: same, strictEqual: is, ok, rejects } = require("node:assert");
const { spawn, spawnSync } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const path = require("node:path");
const fs = require("node:fs");
const lsp = require("vscode-languageserver-protocol/node");

const [compiled, root, program, part] = process.argv.slice(2);
const { Cursord, describe, lensFor } = require(path.join(compiled, "client.js"));

/** A connection to a new server, and what the extension makes of it. */
async function start(options) {
	const child = spawn(program, ["lsp"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
	const gone = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
	const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(child.stdout), new lsp.StreamMessageWriter(child.stdin));
	const waiting = new Set();
	const look = () => waiting.forEach((f) => f());
	const self = { connection, child, gone, messages: [], questions: [], refreshes: 0, opened: [], edits: [] };
	/** Resolves when something holds. */
	self.until = (holds) => new Promise((resolve) => {
		const f = () => { if (holds()) { waiting.delete(f); resolve(); } };
		waiting.add(f);
		f();
	});
	connection.onNotification(lsp.ShowMessageNotification.type, (m) => { self.messages.push(m.message); look(); });
	connection.onRequest(lsp.ShowMessageRequest.type, (m, token) => new Promise((resolve) => {
		const q = { message: m.message, titles: m.actions.map((a) => a.title), answer: (title) => resolve(title && { title }), cancelled: false };
		token.onCancellationRequested(() => { q.cancelled = true; resolve(null); look(); });
		self.questions.push(q);
		look();
	}));
	connection.onRequest(lsp.ShowDocumentRequest.type, (m) => { self.opened.push(m.uri); look(); return { success: true }; });
	connection.onRequest(lsp.CodeLensRefreshRequest.type, () => { self.refreshes++; look(); });
	connection.onRequest(lsp.InlayHintRefreshRequest.type, () => {});
	connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => {});
	connection.onRequest(lsp.ApplyWorkspaceEditRequest.type, (m) => { self.edits.push(m.edit); look(); return { applied: true }; });
	connection.onRequest(lsp.ConfigurationRequest.type, (m) => m.items.map(() => ({ path: "cursord", isolation: "", mode: "", model: "" })));
	self.cursord = new Cursord(connection, look);
	connection.listen();
	const uri = pathToFileURL(root).toString();
	self.greeting = await connection.sendRequest(lsp.InitializeRequest.type, {
		processId: process.pid, clientInfo: { name: "Visual Studio Code", version: "1.106.0" }, rootUri: uri,
		workspaceFolders: [{ uri, name: "ws" }], initializationOptions: { status: true, ...options },
		capabilities: {
			workspace: {
				applyEdit: true, configuration: true, workspaceFolders: true, workspaceEdit: { documentChanges: true },
				codeLens: { refreshSupport: true }, inlayHint: { refreshSupport: true },
			},
			textDocument: { codeLens: {}, inlayHint: {}, publishDiagnostics: { versionSupport: true } },
			window: { workDoneProgress: true, showDocument: { support: true }, showMessage: { messageActionItem: { additionalPropertiesSupport: true } } },
		},
	});
	await connection.sendNotification(lsp.InitializedNotification.type, {});
	self.stop = async () => {
		await connection.sendRequest(lsp.ShutdownRequest.type);
		await connection.sendNotification(lsp.ExitNotification.type);
		is(await gone, 0);
	};
	return self;
}

const uriOf = (name) => pathToFileURL(path.join(root, name)).toString();
const before = "one\ntwo\nthree\n", after = "one\nTWO\nthree\n";

async function main() {
	const s = await start({});
	const { cursord, connection } = s;
	ok(s.greeting.serverInfo.version);
	await cursord.check(s.greeting.serverInfo.version, "v0.9.0");
	await s.until(() => cursord.summary().tooltip === "cursord: no turn is running, nothing to review");
	same(cursord.summary(), { text: "$(sparkle) cursord", tooltip: "cursord: no turn is running, nothing to review", command: "cursord.ask" });
	same(await cursord.changes(), []);
	is(await cursord.compare(uriOf("f")), null);

	await cursord.run("cursord.ask", { prompt: "change it" });
	await s.until(() => s.messages.some((m) => m.startsWith("cursord: done")));
	await s.until(() => cursord.total().hunks === 2 && cursord.total().running === 0);
	is(cursord.summary().text, "$(sparkle) cursord $(diff) 2");
	is(cursord.summary().command, "cursord.review");

	const files = await cursord.changes();
	same(files.map(describe), [
		{ label: "f", description: "modified, 1 hunk, +1 −1" }, { label: "new", description: "created, 1 hunk, +1 −0" },
	]);
	const both = await cursord.compare(files[0].uri);
	same([both.before, both.after], [before, null]);
	same((await cursord.compare(files[1].uri)).before, "");

	// The lenses above the file's own lines are the language client's.
	await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type,
		{ textDocument: { uri: uriOf("f"), languageId: "plaintext", version: 1, text: after } });
	const lenses = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument: { uri: uriOf("f") } });
	same(lenses.map((l) => [l.range.start.line, l.command.title]), [[1, "Accept 1/1"], [1, "Reject"], [1, "Diff"]]);
	is(lensFor(lenses, "cursord.reject", 0), lenses[1]);
	is(lensFor(lenses, "cursord.reject", 9), lenses[1]);
	is(lensFor(lenses, "cursord.none", 9), undefined);

	const reject = lensFor(lenses, "cursord.reject", 1).command;
	await cursord.run(reject.command, ...reject.arguments);
	await s.until(() => cursord.total().hunks === 1 && s.refreshes > 0);
	is(fs.readFileSync(path.join(root, "f"), "utf8"), before);
	await cursord.run("cursord.acceptAll", {});
	await s.until(() => cursord.total().hunks === 0);
	is(await cursord.compare(uriOf("f")), null);
	await cursord.run("cursord.undo", {});
	await s.until(() => cursord.total().hunks === 1);
	await rejects(cursord.run("cursord.nothing"), /there is no "cursord.nothing"/);
	await s.stop();

	// Apart from the files.
	const c = await start({ isolation: "copy" });
	await c.cursord.run("cursord.ask", { prompt: "change it", new: true });
	await c.until(() => c.cursord.total().hunks === 2);
	const there = await c.cursord.compare(uriOf("f"));
	same([there.before, there.after], [null, after]);
	const accept = lensFor(there.lenses, "cursord.accept", 1);
	is(accept.range.start.line, 1);
	await c.cursord.run(accept.command.command, ...accept.command.arguments);
	await c.until(() => c.cursord.total().hunks === 1);
	is(fs.readFileSync(path.join(root, "f"), "utf8"), after);
	await c.stop();

	// A server without these requests is too old.
	const old = { onNotification() {}, sendRequest: () => Promise.reject(Object.assign(new Error("no such method"), { code: -32601 })) };
	await rejects(new Cursord(old, () => {}).check("v0.1.0", "v0.9.0"), /cursord v0\.1\.0 is too old: this extension needs v0\.9\.0 or later/);
	console.log("ok");
}

/** What agents ask comes as a message with buttons; closing it is no answer, and an answer elsewhere takes it back. */
async function asks() {
	const s = await start({});
	const ran = () => fs.existsSync(path.join(root, "ran"));
	await s.cursord.run("cursord.ask", { prompt: "run it" });
	await s.until(() => s.questions.length === 1);
	const [first] = s.questions;
	ok(first.message.includes("echo ran >>ran"), first.message);
	same(first.titles, ["Look again later", "Reject", "Allow once", "Allow always", "Always here", "Only remind me"]);
	first.answer(null);
	await s.until(() => s.messages.some((m) => m.includes("the agent waits for the answer")));
	ok(!ran());
	await s.cursord.run("cursord.approvals");
	await s.until(() => s.questions.length === 2);
	ok(!ran());
	s.questions[1].answer("Allow once");
	await s.until(() => s.questions.length === 3);
	ok(ran());
	ok(s.questions[2].message.includes("Which colour?"));
	same(s.questions[2].titles, ["Look again later", "No answer", "Red", "Blue", "Only remind me"]);
	is(spawnSync(program, ["deny"], { cwd: root }).status, 0);
	await s.until(() => s.questions[2].cancelled);
	await s.until(() => s.messages.some((m) => m.startsWith("cursord: done")));
	await s.stop();
	console.log("ok");
}

(part === "asks" ? asks : main)().then(() => process.exit(0), (e) => { console.error(e); process.exit(1); });
