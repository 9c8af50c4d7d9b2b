// The extension: "cursord lsp" as a language client, the native diff editor, and the status bar.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { Comparison, Cursord, Side, count, describe, lensFor } from "./client";

/** The version of cursord that this extension needs. */
const needs = "v0.9.0";
/** The scheme of texts that are no files: what was before the agent, and what it made apart from the file. */
const scheme = "cursord";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
	const settings = vscode.workspace.getConfiguration("cursord");
	const program = settings.get("path", "cursord");
	const changed = new vscode.EventEmitter<vscode.Uri>();
	const lensesChanged = new vscode.EventEmitter<void>();
	const bar = vscode.window.createStatusBarItem("cursord", vscode.StatusBarAlignment.Left);
	bar.name = "cursord";
	context.subscriptions.push(changed, lensesChanged, bar);

	const made = new LanguageClient("cursord", "cursord", { command: program, args: ["lsp"] }, {
		documentSelector: [{ scheme: "file" }],
		synchronize: { configurationSection: "cursord" },
		initializationOptions: {
			status: true, isolation: settings.get("isolation"), mode: settings.get("mode"), model: settings.get("model"),
		},
		middleware: { executeCommand: (command, args, next) => run(cursord, command, args, next) },
	});
	const connection = {
		sendRequest: <R>(method: string, params?: unknown) => made.sendRequest<R>(method, params),
		onNotification: (method: string, handler: (params: any) => void) => made.onNotification(method, handler),
	};
	const cursord = new Cursord(connection, () => {
		Object.assign(bar, cursord.summary());
		for (const d of vscode.workspace.textDocuments) {
			if (d.uri.scheme === scheme) {
				changed.fire(d.uri);
			}
		}
		lensesChanged.fire();
		noteWhatIsShown(cursord);
	});
	context.subscriptions.push(
		vscode.workspace.registerTextDocumentContentProvider(scheme, {
			onDidChange: changed.event,
			provideTextDocumentContent: (uri) => textOf(cursord, uri),
		}),
		vscode.languages.registerCodeLensProvider({ scheme }, {
			onDidChangeCodeLenses: lensesChanged.event,
			provideCodeLenses: (d) => lensesOf(cursord, d.uri),
		}),
		vscode.commands.registerCommand("cursord.review", () => review(cursord)),
		vscode.window.onDidChangeActiveTextEditor(() => noteWhatIsShown(cursord)),
	);

	try {
		await made.start();
		client = made;
		await cursord.check(made.initializeResult?.serverInfo?.version ?? "", needs);
	} catch (e) {
		await complain(program, e);
		return;
	}
	Object.assign(bar, cursord.summary());
	bar.show();
}

export function deactivate(): Thenable<void> | undefined {
	return client?.stop();
}

async function complain(program: string, e: unknown): Promise<void> {
	const why = e instanceof Error ? e.message : String(e);
	const open = "Open Settings";
	const said = await vscode.window.showErrorMessage(
		`cursord does not run: ${why}. Install cursord, or set "cursord.path", which is "${program}"; then load the window again.`, open);
	if (said === open) {
		await vscode.commands.executeCommand("workbench.action.openSettings", "cursord.path");
	}
}

/** Runs a command of the server's, with what the person means by it where it does not say. */
async function run(cursord: Cursord, command: string, args: unknown[], next: (command: string, args: unknown[]) => unknown): Promise<unknown> {
	// Menus name the file that they belong to.
	if (args[0] instanceof vscode.Uri) {
		args = [];
	}
	if (command === "cursord.diff") {
		const uri = (args[0] as { uri?: string } | undefined)?.uri;
		const file = uri !== undefined ? vscode.Uri.parse(uri) : activeFile();
		return file === undefined ? review(cursord) : showDiff(cursord, file);
	}
	if (command === "cursord.ask" && args.length === 0) {
		const prompt = await vscode.window.showInputBox({
			title: "Ask the agent", ignoreFocusOut: true,
			prompt: "The selection and the open files go along; @path names others.",
		});
		return prompt === undefined || prompt.trim() === "" ? undefined : next(command, [{ ...here(), prompt }]);
	}
	if (args.length > 0) {
		return next(command, args);
	}
	const editor = vscode.window.activeTextEditor;
	if (editor?.document.uri.scheme === scheme && (command === "cursord.accept" || command === "cursord.reject")) {
		const both = await cursord.compare(fileOf(editor.document.uri).toString());
		const lens = lensFor(both?.lenses ?? [], command, editor.selection.active.line);
		return lens && next(command, lens.command.arguments ?? []);
	}
	return next(command, [here()]);
}

/** Where the person is, as the server's commands take it. */
function here(): object {
	const editor = vscode.window.activeTextEditor;
	const file = activeFile();
	if (editor === undefined || file === undefined) {
		return {};
	}
	if (editor.document.uri.scheme === scheme) {
		return { uri: file.toString() };
	}
	const { start, end } = editor.selection;
	return { uri: file.toString(), range: { start, end } };
}

function activeFile(): vscode.Uri | undefined {
	const uri = vscode.window.activeTextEditor?.document.uri;
	return uri?.scheme === "file" ? uri : uri?.scheme === scheme ? fileOf(uri) : undefined;
}

function fileOf(uri: vscode.Uri): vscode.Uri {
	return uri.with({ scheme: "file", query: "" });
}

function sideOf(file: vscode.Uri, side: Side): vscode.Uri {
	return file.with({ scheme, query: side });
}

async function textOf(cursord: Cursord, uri: vscode.Uri): Promise<string> {
	const both = await cursord.compare(fileOf(uri).toString());
	const text = uri.query === "before" ? both?.before : both?.after;
	if (typeof text === "string") {
		return text;
	}
	// Decided, or as the file is.
	return vscode.workspace.openTextDocument(fileOf(uri)).then((d) => d.getText(), () => "");
}

async function lensesOf(cursord: Cursord, uri: vscode.Uri): Promise<vscode.CodeLens[]> {
	const both = uri.query === "after" ? await cursord.compare(fileOf(uri).toString()) : null;
	return (both?.lenses ?? []).filter((l) => l.command.command !== "cursord.diff").map((l) => {
		const { line } = l.range.start;
		return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), l.command);
	});
}

/** Has the person choose a file under review, if there are several, and shows it. */
async function review(cursord: Cursord): Promise<void> {
	const files = await cursord.changes();
	if (files.length === 0) {
		void vscode.window.showInformationMessage("cursord: nothing to review");
		return;
	}
	const title = `${count(cursord.total().hunks, "hunk")} to review in ${count(files.length, "file")}`;
	const items = files.map((f) => ({ ...describe(f), uri: f.uri }));
	const one = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
	if (one !== undefined) {
		await showDiff(cursord, vscode.Uri.parse(one.uri));
	}
}

/** Shows a file's changes in the native diff editor; what has no text, the file itself. */
async function showDiff(cursord: Cursord, file: vscode.Uri): Promise<void> {
	const both: Comparison | null = await cursord.compare(file.toString());
	if (both === null) {
		void vscode.window.showInformationMessage("cursord: nothing to review in this file");
	} else if (both.before === null && both.after === null) {
		await vscode.commands.executeCommand("vscode.open", file);
	} else {
		const left = both.before === null ? file : sideOf(file, "before");
		const right = both.after === null ? file : sideOf(file, "after");
		const line = both.lenses[0]?.range.start.line ?? 0;
		const options: vscode.TextDocumentShowOptions = { selection: new vscode.Range(line, 0, line, 0) };
		await vscode.commands.executeCommand("vscode.diff", left, right, `${both.path} (before ↔ agent)`, options);
	}
}

/** Tells menus whether anything is pending, and whether what is shown is. */
function noteWhatIsShown(cursord: Cursord): void {
	const file = activeFile();
	const set = (name: string, value: boolean) => vscode.commands.executeCommand("setContext", name, value);
	void set("cursord.pending", cursord.total().hunks > 0);
	if (file === undefined) {
		void set("cursord.reviewing", false);
		return;
	}
	cursord.compare(file.toString()).then((both) => set("cursord.reviewing", both !== null), () => set("cursord.reviewing", false));
}
