--- Says after a save that it has decided conflicts: it keeps the person's lines.
local docs = require('cursord.docs')
local rpc = require('cursord.rpc')

local M = {}

local saving = {} --- @type table<integer, integer> the conflicts, by buffer

--- Counts the conflicts of a buffer before it is written.
--- @param buf integer
function M.before_write(buf)
  local doc, conflicts = docs.get(buf), 0
  local diff = doc and doc.ws.diffs[doc.rel]
  for _, hunk in ipairs(diff and diff.hunks or {}) do
    conflicts = conflicts + (hunk.state == 'conflict' and 1 or 0)
  end
  saving[buf] = conflicts > 0 and conflicts or nil
end

--- @param buf integer
function M.written(buf)
  if saving[buf] then
    local kept = saving[buf] == 1 and 'your lines' or ('yours %d times'):format(saving[buf])
    rpc.say(("kept %s; :Cursord undo brings the agent's back"):format(kept))
    saving[buf] = nil
  end
end

return M
