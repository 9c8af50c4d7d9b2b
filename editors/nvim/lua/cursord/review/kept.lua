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
--- @field saved? true they were in the text when it was saved

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

--- Whether a document had hunks when the person had not gone back in the undo history.
local had = setmetatable({}, { __mode = 'k' }) --- @type table<cursord.Doc, boolean>

--- Notes which hunks are of merged changes.
--- @param doc cursord.Doc
--- @param diff cursord.Diff of the present text
function M.look(doc, diff)
  if not vim.bo[doc.buf].modified or not history.is_back(doc.buf) then
    had[doc] = #diff.hunks > 0
  end
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

--- The number of merged hunks that the person has undone: of those that were never saved, and of the others.
--- @param doc cursord.Doc
--- @return integer unsaved
--- @return integer saved
local function undone(doc)
  local unsaved, saved = 0, 0
  if #doc.merged == 0 then
    return unsaved, saved
  end
  local behind, known = history.history(doc.buf)
  local conflicts = ids(doc.ws.diffs[doc.rel], true)
  for _, one in ipairs(doc.merged) do
    local count = one.hunks and 0 or one.edits
    for id in pairs(one.hunks or {}) do
      count = count + (conflicts[id] and 0 or 1)
    end
    if known[one.state] and not behind[one.state] then
      unsaved = unsaved + (one.saved and 0 or count)
      saved = saved + (one.saved and count or 0)
    end
  end
  return unsaved, saved
end

--- What the agent has done with a file that is not at its path any more, if nobody has decided that yet.
--- @param doc cursord.Doc
--- @return string?
local function done_with(doc)
  if vim.uv.fs_stat(doc.path) then
    return nil
  elseif doc.ws:is_deleted(doc.rel) then
    return 'deleted'
  end
  for _, diff in pairs(doc.ws.diffs) do
    if diff.oldPath == doc.rel and not diff.hunks[1].isolated then
      return 'moved to ' .. diff.path
    end
  end
end

--- Whether the text lacks what is to be reviewed on disk.
--- @param doc cursord.Doc
--- @return boolean
local function lacks(doc)
  local diff = doc.ws.diffs[doc.rel]
  return diff and (diff.diskOnly or 0) > 0 or not diff and had[doc] or false
end

--- @class cursord.Saving
--- @field conflicts integer
--- @field unsaved integer
--- @field saved integer
--- @field out boolean
--- @field gone? string

local saving = {} --- @type table<integer, cursord.Saving> by buffer

--- Counts what a write of the buffer will decide.
--- @param buf integer
function M.before_write(buf)
  local doc = docs.get(buf)
  saving[buf] = nil
  if doc then
    local unsaved, saved = undone(doc)
    local conflicts = vim.tbl_count(ids(doc.ws.diffs[doc.rel], true))
    local gone = done_with(doc)
    unsaved = unsaved + (doc.held or 0)
    local out = vim.bo[buf].modified and history.is_back(buf) and lacks(doc)
    saving[buf] =
      { conflicts = conflicts, unsaved = unsaved, saved = saved, out = out, gone = gone }
  end
end

--- @param doc cursord.Doc
local function keep(doc)
  local behind = #doc.merged > 0 and history.history(doc.buf) or {}
  doc.merged = vim.tbl_filter(function(one)
    one.saved = true
    return behind[one.state] or false
  end, doc.merged)
end

--- @param n integer
--- @return string
local function hunks(n)
  return ('%d hunk%s'):format(n, n == 1 and '' or 's')
end

--- @param buf integer
function M.written(buf)
  local of, doc = saving[buf], docs.get(buf)
  saving[buf] = nil
  if doc then
    keep(doc)
  end
  if not of then
    return
  end
  local way, it = ways.to('undo'), of.unsaved == 1 and 'it' or 'them'
  local kept = of.conflicts > 1 and ('kept yours %d times'):format(of.conflicts)
    or of.conflicts == 1 and 'kept your lines'
  local rejected = of.unsaved > 0 and 'rejected ' .. hunks(of.unsaved)
  if of.gone and doc then
    rpc.say(('wrote %s again, which the agent has %s'):format(doc.rel, of.gone))
  elseif kept then
    rpc.say(
      ("%s%s; %s brings the agent's back"):format(kept, rejected and ', ' .. rejected or '', way)
    )
  elseif rejected then
    rpc.say(('%s; %s brings %s back'):format(rejected, way, it))
  elseif of.saved > 0 then
    rpc.say(('u took %s out; <C-r> brings the text back'):format(hunks(of.saved)))
  elseif of.out then
    rpc.say("u took the agent's changes out; <C-r> brings the text back")
  end
end

return M
