--- Attempts at one prompt, of which nobody wants several together.
local rpc = require('cursord.rpc')

local M = {}

--- The sessions in whose copies hunks of a file, or of the workspace, are.
--- @param ws cursord.Workspace
--- @param path? string
--- @return table<string, true>
local function sessions_of(ws, path)
  local out = {}
  for _, diff in pairs(path and { ws.diffs[path] } or ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      for _, source in ipairs(hunk.isolated and hunk.sources or {}) do
        out[source.sessionId] = true
      end
    end
  end
  return out
end

--- Calls act, unless an accept of a file, or of the workspace, would mix attempts at one prompt.
--- @param ws cursord.Workspace
--- @param path? string
--- @param act fun()
--- @param refused fun()
function M.unless(ws, path, act, refused)
  local sessions = sessions_of(ws, path)
  if vim.tbl_count(sessions) < 2 then
    return act()
  end
  rpc.request('attempt/list', { workspace = ws.root }, function(err, result)
    if err then
      rpc.say_error(err)
      return refused()
    end
    for _, group in ipairs(result.groups) do
      local pending = 0
      for _, attempt in ipairs(group.attempts) do
        pending = pending + (attempt.hunks > 0 and sessions[attempt.sessionId] and 1 or 0)
      end
      if pending > 1 then
        local text = '%d attempts at one prompt: %s would mix them; see :Cursord attempts'
        rpc.say(text:format(pending, path and 'file' or 'all'), vim.log.levels.ERROR)
        return refused()
      end
    end
    act()
  end)
end

return M
