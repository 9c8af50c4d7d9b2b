--- Decisions that leave the text alone, such as most accepts, as steps of the buffers' undo history: "u" takes them back,
--- and Ctrl-R makes them again.
local author = require('cursord.review.author')
local follow = require('cursord.follow')
local history = require('cursord.history')
local lines = require('cursord.lines')
local marks = require('cursord.review.marks')
local view = require('cursord.review.view')

local api = vim.api
local M = {}

--- @class cursord.Step
--- @field verb 'accept'|'reject'
--- @field parts cursord.Part[] the hunks as the person saw them
--- @field decisions integer[] the latest last
--- @field is 'asked'|'made'|'back'|'failed' "back" is taken back
--- @field states table<integer, integer> the states in the undo history, by buffer
--- @field off table<integer, true> the buffers where the person has gone back behind the state
--- @field texts table<integer, string> the texts of buffers without changes whose files are deleted

--- Whether a decision leaves the text of the buffer alone. A file that comes back, or gets its mode back, is to have the text
--- that the buffer still has. One that goes leaves its text in the buffer.
--- @param verb 'accept'|'reject'
--- @param diff cursord.Diff
--- @param hunk cursord.Hunk
--- @return boolean
local function leaves_text(verb, diff, hunk)
  if hunk.isolated then
    return verb == 'reject'
  end
  local kept = diff.kind == 'deleted' or diff.kind == 'created' or diff.kind == 'mode'
  return verb == 'accept' or hunk.kind == 'file' and kept
end

--- Adds a step without a change to a buffer's undo history.
--- @param buf integer
--- @param row integer the row to which "u" goes
--- @return integer? # the new state; nil if there is none
local function add(buf, row)
  local bo = vim.bo[buf]
  if not bo.modifiable or bo.readonly then
    return nil
  end
  local modified, ignored, before = bo.modified, vim.o.eventignore, history.state(buf)
  vim.o.eventignore = 'all'
  bo.undolevels = bo.undolevels
  row = math.min(row, api.nvim_buf_line_count(buf) - 1)
  pcall(api.nvim_buf_set_text, buf, row, 0, row, 0, { '' })
  bo.undolevels = bo.undolevels
  bo.modified, vim.o.eventignore = modified, ignored
  local state = history.state(buf)
  return state ~= before and state or nil
end

--- The row of a hunk in a buffer.
local function row_of(buf, hunk)
  local of = view.get(buf)
  local shown = of and of.shown[hunk.id]
  return shown and shown.groups[1] and (marks.rows(buf, shown.groups[1])) or marks.row(hunk)
end

--- The hunks of a file, of a turn or of the workspace that a decision about them all takes, and whose text it leaves alone.
--- @param verb 'accept'|'reject'
--- @param ws cursord.Workspace
--- @param path? string
--- @param turn? string
--- @return cursord.Part[]
function M.of(verb, ws, path, turn)
  local out = {} --- @type cursord.Part[]
  for _, diff in pairs(path and { ws.diffs[path] } or ws.diffs) do
    local skipped = verb == 'reject' and author.left(diff) or {}
    for _, hunk in ipairs(diff.hunks) do
      local of = not turn
      for _, source in ipairs(turn and hunk.sources or {}) do
        of = of or source.turnId == turn
      end
      if of and not skipped[hunk.id] and leaves_text(verb, diff, hunk) then
        out[#out + 1] = { id = hunk.id, hunk = hunk }
      end
    end
  end
  return out
end

--- Begins a decision: adds a step to each open buffer whose text it leaves alone.
--- @param verb 'accept'|'reject'
--- @param ws cursord.Workspace
--- @param parts cursord.Part[]
--- @return cursord.Step
function M.begin(verb, ws, parts)
  local step =
    { verb = verb, parts = {}, decisions = {}, is = 'asked', states = {}, off = {}, texts = {} } --- @type cursord.Step
  local docs = require('cursord.docs')
  local of, rows = {}, {} --- @type table<string, cursord.Diff>, table<string, integer|false>
  for _, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      of[hunk.id] = diff
    end
  end
  for _, part in ipairs(parts) do
    local diff = of[part.id]
    local path = diff and diff.path
    local doc = path and docs.at(ws, path)
    local still = diff and leaves_text(verb, diff, part.hunk)
    if still then
      table.insert(step.parts, part)
    end
    if doc and api.nvim_buf_is_loaded(doc.buf) and rows[path] ~= false then
      local row = still and row_of(doc.buf, part.hunk)
      rows[path] = row and math.min(row, rows[path] or row)
    end
  end
  for path, row in pairs(rows) do
    local doc = row and docs.at(ws, path)
    if doc then
      local kind = ws.diffs[path].kind
      if (kind == 'deleted' or kind == 'created') and not vim.bo[doc.buf].modified then
        step.texts[doc.buf] = lines.text(doc.buf)
      end
      step.states[doc.buf] = add(doc.buf, row --[[@as integer]])
    end
  end
  return step
end

--- Ends the decision. One that has failed is not made again.
--- @param step cursord.Step
--- @param decisions integer[] what was decided
function M.finish(step, decisions)
  local docs, report = require('cursord.docs'), require('cursord.report')
  step.decisions, step.is = decisions, #decisions > 0 and 'made' or 'failed'
  for buf in pairs(step.states) do
    local doc = docs.get(buf)
    if doc then
      if not vim.tbl_contains(doc.steps, step) then
        table.insert(doc.steps, step)
      end
      doc.checked = nil
      report.soon(doc) -- the person may have gone back meanwhile
    end
  end
end

--- Has Ctrl-R decide hunks of a buffer, where the text of a decision that "u" has taken back is there again as a new change.
--- @param doc cursord.Doc
--- @param verb 'accept'|'reject'
--- @param parts cursord.Part[] the pending hunks
--- @param decision integer the one that is taken back
function M.put_ahead(doc, verb, parts, decision)
  local buf = doc.buf
  local state = #parts > 0 and add(buf, row_of(buf, parts[1].hunk))
  if not state then
    return
  end
  local modified, ignored = vim.bo[buf].modified, vim.o.eventignore
  vim.o.eventignore = 'all'
  api.nvim_buf_call(buf, function()
    local at = vim.fn.winsaveview()
    vim.cmd('silent undo')
    vim.fn.winrestview(at)
  end)
  vim.bo[buf].modified, vim.o.eventignore = modified, ignored
  local step = { verb = verb, parts = parts, decisions = { decision }, is = 'back', texts = {} } --- @type cursord.Step
  step.states, step.off = { [buf] = state }, { [buf] = true }
  table.insert(doc.steps, step)
end

--- Notes that a command has made a decision again: Ctrl-R does not, and "u" takes it back.
--- @param ws cursord.Workspace
--- @param decision integer
function M.was_redone(ws, decision)
  for _, doc in ipairs(require('cursord.docs').of(ws)) do
    for _, step in ipairs(doc.steps) do
      if step.is == 'back' and vim.tbl_contains(step.decisions, decision) then
        step.is = 'made'
      end
    end
  end
end

--- Has Neovim take a buffer as unchanged that is so, although the decision has written, made or removed its file.
--- @param doc cursord.Doc
--- @param step cursord.Step
local function settle(doc, step)
  follow.settle(doc.buf, doc.path)
  if not vim.uv.fs_stat(doc.path) and step.texts[doc.buf] == lines.text(doc.buf) then
    vim.bo[doc.buf].modified = false
  end
end

--- Compares the steps of a document with the undo history of its buffer.
--- @param doc cursord.Doc
--- @param behind table<integer, true> the states that lead to the present one, and it
--- @param known table<integer, true> all states
--- @return cursord.Step[] back those that the person has undone
--- @return cursord.Step[] again those that the person has redone since
function M.turned(doc, behind, known)
  local back, again, kept = {}, {}, {}
  for _, step in ipairs(doc.steps) do
    local state = step.states[doc.buf]
    if known[state] and step.is ~= 'failed' then
      kept[#kept + 1] = step
      local was, is_off = step.is, not behind[state]
      -- The other buffers of the step still have it: only a move in this one's history counts.
      if was ~= 'asked' and is_off ~= (step.off[doc.buf] or false) then
        step.off[doc.buf] = is_off or nil
        if was == 'made' and is_off then
          step.is = 'back'
          table.insert(back, step)
        elseif was == 'back' and not is_off then
          step.is = 'asked'
          table.insert(again, step)
        end
      end
      if step.is ~= was and vim.bo[doc.buf].modified then
        settle(doc, step)
      end
    end
  end
  doc.steps = kept
  return back, again
end

return M
