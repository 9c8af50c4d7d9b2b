--- The hunks that an undo brings back.
local nav = require('cursord.review.nav')
local patch = require('cursord.review.patch')

local M = {}

--- The changed lines of each pending hunk, by the hunk's id.
--- @param ws cursord.Workspace
--- @return table<string, string[]>
function M.now(ws)
  local out = {}
  for _, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      out[hunk.id] = patch.changed_lines(hunk)
    end
  end
  return out
end

--- The first hunk, in the order of the review buffer, that is new or has other changed lines.
--- @param ws cursord.Workspace
--- @param before table<string, string[]> from now()
--- @param only? string a file
--- @return string? # its id
function M.first(ws, before, only)
  for _, path in ipairs(only and { only } or nav.paths(ws)) do
    for _, hunk in ipairs(ws.diffs[path] and ws.diffs[path].hunks or {}) do
      if not vim.deep_equal(before[hunk.id], patch.changed_lines(hunk)) then
        return hunk.id
      end
    end
  end
end

return M
