--- Decisions that leave the text alone, such as most accepts, as steps of the buffers' undo history: "u" takes them back,
--- and Ctrl-R makes them again.
local history = require('cursord.history')
local marks = require('cursord.review.marks')
local view = require('cursord.review.view')

local api = vim.api
local M = {}

--- @class cursord.Step
--- @field verb 'accept'|'reject'
--- @field parts cursord.Part[] the hunks as the person saw them
--- @field decisions integer[] the latest last
--- @field is 'asked'|'made'|'back' "back" is taken back
--- @field states table<integer, integer> the states in the undo history, by buffer

--- Whether a decision leaves the text of the file alone.
--- @param verb 'accept'|'reject'
--- @param hunk cursord.Hunk
--- @return boolean
function M.leaves_text(verb, hunk)
  return (verb == 'accept') ~= (hunk.isolated or false)
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

--- The hunks of a file, of a turn or of the workspace whose text a decision leaves alone.
--- @param verb 'accept'|'reject'
--- @param ws cursord.Workspace
--- @param path? string
--- @param turn? string
--- @return cursord.Part[]
function M.of(verb, ws, path, turn)
  local out = {} --- @type cursord.Part[]
  for _, diff in pairs(path and { ws.diffs[path] } or ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      local of = not turn
      for _, source in ipairs(turn and hunk.sources or {}) do
        of = of or source.turnId == turn
      end
      if of and M.leaves_text(verb, hunk) then
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
  local step = { verb = verb, parts = {}, decisions = {}, is = 'asked', states = {} } --- @type cursord.Step
  local docs = require('cursord.docs')
  local paths, rows = {}, {} --- @type table<string, string>, table<string, integer|false>
  for path, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      paths[hunk.id] = path
    end
  end
  for _, part in ipairs(parts) do
    local path = paths[part.id]
    local doc = path and docs.at(ws, path)
    local still = M.leaves_text(verb, part.hunk)
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
      step.states[doc.buf] = add(doc.buf, row --[[@as integer]])
    end
  end
  return step
end

--- Ends the decision.
--- @param step cursord.Step
--- @param decisions integer[] what was decided
function M.finish(step, decisions)
  local docs, report = require('cursord.docs'), require('cursord.report')
  step.decisions, step.is = decisions, #decisions > 0 and 'made' or 'back'
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
    if known[state] then
      kept[#kept + 1] = step
      if step.is == 'made' and not behind[state] then
        step.is = 'back'
        table.insert(back, step)
      elseif step.is == 'back' and behind[state] then
        step.is = 'asked'
        table.insert(again, step)
      end
    end
  end
  doc.steps = kept
  return back, again
end

return M
