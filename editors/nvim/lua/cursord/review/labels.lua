--- Whose hunks in copies are, where several sessions have some in a file: the number of an attempt, or the title of a session.
local message = require('cursord.message')
local workspace = require('cursord.workspace')

local M = {}

--- @param ws cursord.Workspace
--- @param id string
--- @return string
local function name(ws, id)
  local session = ws.sessions[id]
  if not session then
    return 'a session'
  elseif session.attempt then
    return ('attempt %d'):format(session.attempt.number)
  end
  return ('"%s"'):format(message.cut(session.title:gsub('%c', ' '), 30))
end

--- Names the sessions of a diff's hunks.
--- @param ws cursord.Workspace
--- @param diff cursord.Diff
--- @return boolean # whether a name has changed
function M.put(ws, diff)
  local of, sessions, changed = {}, {}, false
  for _, hunk in ipairs(diff.hunks) do
    local source = hunk.isolated and hunk.state ~= 'conflict' and (hunk.sources or {})[1]
    if source then
      of[hunk], sessions[source.sessionId] = source.sessionId, true
    end
  end
  local several, above = vim.tbl_count(sessions) > 1, {} --- @type boolean, table<integer, integer>
  for _, hunk in ipairs(diff.hunks) do
    if of[hunk] then
      hunk.stack = above[hunk.oldStart] or 0
      above[hunk.oldStart] = hunk.stack + 1
    end
    local label = several and of[hunk] and name(ws, of[hunk]) or nil
    changed = changed or hunk.label ~= label
    hunk.label = label
  end
  return changed
end

workspace.on('session', function(ws)
  for path, diff in pairs(ws.diffs) do
    local doc = M.put(ws, diff) and require('cursord.docs').at(ws, path)
    if doc then
      require('cursord.review.view').clear(doc.buf)
      require('cursord.docs').show(ws, diff)
    end
  end
end)

return M
