package failure

// HintStart is for a program that the system does not start for lack of memory or processes.
const HintStart = "check that the system has free memory and processes, then try again"

// CommandInstall is the command that installs cursor-agent, for people.
const CommandInstall = "`curl https://cursor.com/install -fsS | bash`"

const (
	hintLogin   = "run `cursor-agent login`, or set CURSOR_API_KEY"
	hintKey     = "set CURSOR_API_KEY to a valid key, or unset it and run `cursor-agent login`"
	hintModel   = "choose one of the models that `cursor-agent models` lists, or \"auto\""
	hintAuto    = "choose the model \"auto\""
	hintLimit   = "wait until the limit resets, or raise it in Cursor's settings"
	HintInstall = "install it with " + CommandInstall + ", or set CURSORD_AGENT to where it is"
	hintUpdate  = "update it with `cursor-agent update`"
	hintEnded   = "something other than cursord ended it, such as `kill`, a key in its terminal or a shutdown; try again"
	hintKilled  = "something other than cursord killed it; if nobody did, the system may have run out of memory, which its own log says; try again"
	hintCrashed = "try again; if it crashes again, update it with `cursor-agent update`"
)

// A complaint is a text by which the agent says why it stops. The text has one of the codes, or all of the words.
type complaint struct {
	codes []string // in upper case, without ERROR_; a * stands for any letters
	words []string // in lower case
	early bool     // the agent says it only before it begins its work
	kind  string
	say   string // for people; "" takes the agent's own words
	hint  string
}

// complaints are searched in this order, so that a cause is found before its consequences.
var complaints = []complaint{
	{words: []string{"authentication required. please run"}, kind: KindNotLoggedIn, say: "cursor-agent is not logged in", hint: hintLogin},
	{words: []string{"authentication required"}, early: true, kind: KindNotLoggedIn, say: "cursor-agent is not logged in", hint: hintLogin},
	{words: []string{"not logged in"}, early: true, kind: KindNotLoggedIn, say: "cursor-agent is not logged in", hint: hintLogin},
	{words: []string{"api key is invalid"}, kind: KindNotLoggedIn, say: "cursor-agent refused the API key", hint: hintKey},
	{words: []string{"invalid api key"}, kind: KindNotLoggedIn, say: "cursor-agent refused the API key", hint: hintKey},
	{codes: []string{"BAD_API_KEY"}, kind: KindNotLoggedIn, say: "cursor-agent refused the API key", hint: hintKey},
	{words: []string{"[unauthenticated]"}, kind: KindNotLoggedIn, say: "cursor-agent is not logged in", hint: hintLogin},

	{words: []string{"disabled headless cursor cli usage"}, kind: KindFailed,
		hint: "ask the administrator of your Cursor team to allow the CLI in headless use, or log in with another account"},
	{words: []string{"has disabled the", "run everything"}, kind: KindFailed,
		hint: "start the turn without force; commands that need no question are named by permissions.allow in ~/.cursor/cli-config.json"},
	{codes: []string{"OUTDATED_CLIENT"}, kind: KindFailed, say: "cursor-agent is too old for Cursor's servers", hint: hintUpdate},
	{words: []string{"sandbox mode is enabled but not available"}, kind: KindFailed,
		hint: "start the turn without the sandbox; on Linux it needs version 6.2 with unprivileged user namespaces, or bubblewrap"},

	{words: []string{"hit your usage limit"}, kind: KindLimit, hint: hintLimit},
	{words: []string{"spend limit"}, kind: KindLimit, hint: hintLimit},
	{codes: []string{"*USER_USAGE_LIMIT"}, kind: KindLimit, say: "the usage limit of your Cursor plan is reached", hint: hintLimit},
	{codes: []string{"USAGE_PRICING_REQUIRED*"}, kind: KindLimit, say: "your Cursor plan includes no more of this",
		hint: "turn on usage-based pricing in Cursor's settings, or choose the model \"auto\""},
	{codes: []string{"*RATE_LIMIT_EXCEEDED", "RATE_LIMITED*"}, kind: KindLimit, say: "Cursor takes no more requests for the moment",
		hint: "wait some minutes and try again, or choose another model"},
	{words: []string{"usage limit"}, kind: KindLimit, hint: hintLimit},

	{words: []string{"named models unavailable"}, kind: KindModel, hint: hintAuto},
	{words: []string{"free plans can only use auto"}, kind: KindModel, hint: hintAuto},
	{words: []string{"cannot use this model"}, kind: KindModel, hint: hintModel},
	{words: []string{"no models available"}, kind: KindModel,
		hint: "look at the plan, and in a team at the models that its administrator allows, in Cursor's settings; `cursor-agent models` must list one"},

	{words: []string{"workspace trust required"}, kind: KindUntrusted, say: "cursor-agent does not trust this directory", hint: "run `cursord trust` in it"},
	{words: []string{"workspace directory does not exist"}, kind: KindFailed, hint: "look whether the folder is still there"},
	{words: []string{"agent looping detected"}, kind: KindFailed, say: "the agent stopped because it was going round in circles",
		hint: "say the request differently or choose another model"},
	{words: []string{"failed to run step, exceeded max retries"}, kind: KindFailed,
		hint: "the agent lost Cursor's servers and did not find them again: look at the network, then try again"},
	{words: []string{"nonretriableerror:"}, kind: KindFailed, hint: "say the request differently, choose another model or start a new session"},
	{words: []string{"retriableerror:"}, kind: KindFailed, hint: "try again later"},
	{words: []string{"actionrequirederror:"}, kind: KindFailed, hint: "do what it asks for in Cursor's settings, then try again"},
	{words: []string{"enoent", "cli-config.json"}, kind: KindFailed, say: "cursor-agent lost a race for its own configuration file", hint: "try again"},

	{words: []string{"allowed choices are"}, early: true, kind: KindFailed, hint: hintUpdate},
	{words: []string{"invalid --new-session-id"}, early: true, kind: KindFailed, hint: "start a new session"},
	{words: []string{"session id", "is already in use"}, early: true, kind: KindFailed, hint: "start a new session"},
	{words: []string{"error: unknown option '"}, early: true, kind: KindFailed, hint: hintUpdate},
}
