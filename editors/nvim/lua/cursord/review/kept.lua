--- Says after a save what it has decided: in conflicts it keeps the person's lines, and it rejects what came from the disk into
--- unsaved text and was undone there.
local docs = require('cursord.docs')
local history = require('cursord.history')
local rpc = require('cursord.rpc')
local ways = require('cursord.ways')

local M = {}

--- @class cursord.Merged changes on disk that were made in unsaved text
--- @field state integer the state that they made in the undo history
--- @field before table<string, true> the hunks from before
--- @field hunks? table<string, true> those of the changes that are pending; nil until the daemon has told them
--- @field edits integer

--- @param diff? cursord.Diff
--- @param conflicts boolean
--- @return table<string, true>
local function ids(diff, conflicts)
  local out = {}
  for _, hunk in ipairs(diff and diff.hunks or {}) do
    if (hunk.state == 'conflict') == conflicts then
      out[hunk.id] = true
    end
  end
  return out
end

--- Notes that changes on disk were made in unsaved text.
--- @param doc cursord.Doc
--- @param edits integer
function M.merged(doc, edits)
  table.insert(doc.merged, {
    state = history.state(doc.buf),
    before = ids(doc.ws.diffs[doc.rel], false),
    edits = edits,
  })
end

--- Notes which hunks are of merged changes.
--- @param doc cursord.Doc
--- @param diff cursord.Diff of the present text
function M.look(doc, diff)
  local behind = #doc.merged > 0 and history.history(doc.buf) or {}
  for _, one in ipairs(doc.merged) do
    if behind[one.state] then
      one.hunks = ids(diff, false)
      for id in pairs(one.before) do
        one.hunks[id] = nil
      end
    end
  end
end

--- The number of merged hunks that the person has undone.
--- @param doc cursord.Doc
--- @return integer
local function undone(doc)
  if #doc.merged == 0 then
    return 0
  end
  local behind, known = history.history(doc.buf)
  local conflicts, count = ids(doc.ws.diffs[doc.rel], true), 0
  for _, one in ipairs(doc.merged) do
    if known[one.state] and not behind[one.state] then
      count = count + (one.hunks and 0 or one.edits)
      for id in pairs(one.hunks or {}) do
        count = count + (conflicts[id] and 0 or 1)
      end
    end
  end
  return count
end

local saving = {} --- @type table<integer, { conflicts: integer, undone: integer }> by buffer

--- Counts what a write of the buffer will decide.
--- @param buf integer
function M.before_write(buf)
  local doc = docs.get(buf)
  saving[buf] = doc
    and {
      conflicts = vim.tbl_count(ids(doc.ws.diffs[doc.rel], true)),
      undone = vim.bo[buf].modified and undone(doc) or 0,
    }
end

--- @param buf integer
function M.written(buf)
  local of, doc = saving[buf], docs.get(buf)
  saving[buf] = nil
  if doc then
    doc.merged = {}
  end
  if not of or of.conflicts + of.undone == 0 then
    return
  end
  local kept = of.conflicts > 1 and ('kept yours %d times'):format(of.conflicts)
    or 'kept your lines'
  local rejected = ('rejected %d hunk%s'):format(of.undone, of.undone == 1 and '' or 's')
  local way = ways.to('undo')
  if of.undone == 0 then
    rpc.say(("%s; %s brings the agent's back"):format(kept, way))
  elseif of.conflicts == 0 then
    rpc.say(('%s; %s brings %s back'):format(rejected, way, of.undone == 1 and 'it' or 'them'))
  else
    rpc.say(("%s, %s; %s brings the agent's back"):format(kept, rejected, way))
  end
end

return M
