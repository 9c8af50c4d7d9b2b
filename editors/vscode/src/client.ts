// What the extension knows of cursord, without Visual Studio Code: its tests speak with the real "cursord lsp".

/** What carries messages: the language client of Visual Studio Code, or any connection of its protocol library. */
export interface Connection {
	sendRequest<R>(method: string, params?: unknown): Promise<R>;
	onNotification(method: string, handler: (params: any) => void): unknown;
}

export interface Status { workspace: string; running: number; files: number; hunks: number }
export interface ChangedFile { workspace: string; uri: string; path: string; kind: string; hunks: number; added: number; removed: number }
export interface Lens { range: { start: { line: number } }; command: { title: string; command: string; arguments?: unknown[] } }
/** Both sides of a file under review. A side that is null is the file itself. */
export interface Comparison { uri: string; path: string; before: string | null; after: string | null; lenses: Lens[] }
export type Side = "before" | "after";

const methodNotFound = -32601;

export class Cursord {
	private readonly folders = new Map<string, Status>();

	constructor(private readonly connection: Connection, changed: () => void) {
		connection.onNotification("cursord/status", (s: Status) => {
			this.folders.set(s.workspace, s);
			changed();
		});
	}

	/** Rejects if the server is too old for this extension, with an error for people. */
	async check(version: string, needs: string): Promise<void> {
		await this.changes().catch((e: { code?: number }) => {
			throw e.code === methodNotFound ? new Error(`cursord ${version} is too old: this extension needs ${needs} or later`) : e;
		});
	}

	async changes(): Promise<ChangedFile[]> {
		return (await this.connection.sendRequest<{ files: ChangedFile[] }>("cursord/changes", {})).files;
	}

	/** Resolves to null where nothing of the file is under review. */
	compare(uri: string): Promise<Comparison | null> {
		return this.connection.sendRequest("cursord/compare", { textDocument: { uri } });
	}

	run(command: string, ...args: unknown[]): Promise<unknown> {
		return this.connection.sendRequest("workspace/executeCommand", { command, arguments: args });
	}

	/** What all folders have together. */
	total(): { running: number; files: number; hunks: number } {
		const sum = { running: 0, files: 0, hunks: 0 };
		for (const f of this.folders.values()) {
			sum.running += f.running;
			sum.files += f.files;
			sum.hunks += f.hunks;
		}
		return sum;
	}

	/** The text of the status bar, with what is behind it. */
	summary(): { text: string; tooltip: string; command: string } {
		const { running, files, hunks } = this.total();
		const text = [running > 0 ? "$(sync~spin) cursord" : "$(sparkle) cursord"];
		if (hunks > 0) {
			text.push(`$(diff) ${hunks}`);
		}
		const turns = running > 0 ? `${count(running, "turn")} not ended` : "no turn is running";
		const review = hunks > 0 ? `${count(hunks, "hunk")} to review in ${count(files, "file")}` : "nothing to review";
		return { text: text.join(" "), tooltip: `cursord: ${turns}, ${review}`, command: hunks > 0 ? "cursord.review" : "cursord.ask" };
	}
}

/** The command that a lens has for the hunk at a line, or the nearest one above it. */
export function lensFor(all: Lens[], command: string, line: number): Lens | undefined {
	const list = all.filter((l) => l.command.command === command);
	return list.filter((l) => l.range.start.line <= line).pop() ?? list[0];
}

/** How a file is listed. */
export function describe(f: ChangedFile): { label: string; description: string } {
	return { label: f.path, description: `${f.kind}, ${count(f.hunks, "hunk")}, +${f.added} −${f.removed}` };
}

export function count(n: number, what: string): string {
	return n === 1 ? `1 ${what}` : `${n} ${what}s`;
}
