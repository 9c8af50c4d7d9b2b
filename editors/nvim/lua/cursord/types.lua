--- @meta
--- The objects of the protocol, as far as the plugin reads them.

--- @class cursord.Session
--- @field id string
--- @field workspace string
--- @field title string
--- @field model? string
--- @field mode 'agent'|'ask'|'plan'
--- @field isolation 'none'|'copy'
--- @field state 'idle'|'queued'|'running'
--- @field turns integer
--- @field updatedAt string
--- @field seq integer

--- @class cursord.Turn
--- @field id string
--- @field sessionId string
--- @field prompt string
--- @field status 'queued'|'running'|'completed'|'failed'|'cancelled'|'interrupted'
--- @field error? { kind: string, message: string, hint?: string }
--- @field background? string[] commands in the background that it only waits for
--- @field createdAt string
--- @field seq integer

--- @class cursord.Item
--- @field id string
--- @field turnId string
--- @field sessionId string
--- @field index integer
--- @field kind 'assistant'|'thinking'|'tool'|'plan'|'notice'
--- @field status 'running'|'completed'|'failed'|'rejected'|'cancelled'
--- @field text? string
--- @field tool? cursord.Tool
--- @field seq integer

--- @class cursord.Tool
--- @field name string
--- @field title string
--- @field paths? string[]
--- @field command? string
--- @field exitCode? integer
--- @field output? string
--- @field outputTruncated? boolean
--- @field error? string
--- @field todos? { id: string, content: string, status: string }[]

--- @class cursord.Diff
--- @field workspace string
--- @field path string
--- @field kind string
--- @field state 'pending'|'clean'
--- @field added integer
--- @field removed integer
--- @field rev integer
--- @field hunks cursord.Hunk[]
--- @field turns string[]
--- @field seq integer

--- @class cursord.Hunk
--- @field id string
--- @field kind 'text'|'file'
--- @field oldStart integer
--- @field oldLines integer
--- @field newStart integer
--- @field newLines integer
--- @field lines string[]
--- @field linked? string[]
--- @field isolated? boolean in a copy of the workspace, and not in the file
--- @field sources { sessionId: string, turnId: string, itemId?: string, via: 'edit'|'shell'|'tool'|'hook'|'unknown' }[]

--- @class cursord.TextEdit
--- @field range { start: { line: integer, character: integer }, ['end']: { line: integer, character: integer } }
--- @field newText string

--- @class cursord.Decided
--- @field diffs cursord.Diff[]
--- @field applied? integer
--- @field skipped? { path: string, hunk: string, kind: string }[]
--- @field edits? { path: string, version: integer, edits: cursord.TextEdit[] }[]
