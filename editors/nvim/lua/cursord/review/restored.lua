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

--- The hunks, in the order of the review buffer, that are new or have other changed lines.
--- @param ws cursord.Workspace
--- @param before table<string, string[]> from now()
--- @param only? string a file
--- @return cursord.Part[]
function M.parts(ws, before, only)
  local out = {} --- @type cursord.Part[]
  for _, path in ipairs(only and { only } or nav.paths(ws)) do
    for _, hunk in ipairs(ws.diffs[path] and ws.diffs[path].hunks or {}) do
      if not vim.deep_equal(before[hunk.id], patch.changed_lines(hunk)) then
        out[#out + 1] = { id = hunk.id, hunk = hunk }
      end
    end
  end
  return out
end

--- The id of the first one; nil if there is none.
--- @param ws cursord.Workspace
--- @param before table<string, string[]>
--- @param only? string
--- @return string?
function M.first(ws, before, only)
  local parts = M.parts(ws, before, only)
  return parts[1] and parts[1].id
end

return M
