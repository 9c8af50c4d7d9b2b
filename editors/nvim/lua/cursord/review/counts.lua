--- Hunks in words and numbers.
local marks = require('cursord.review.marks')

local M = {}

--- @param n integer
--- @param word string
function M.count(n, word)
  return ('%d %s%s'):format(n, word, n == 1 and '' or 's')
end

--- @param ws cursord.Workspace
--- @return string
function M.left(ws)
  local hunks, files = ws:pending()
  return hunks == 0 and 'nothing left to review'
    or M.count(hunks, 'hunk') .. ' left in ' .. M.count(files, 'file')
end

--- @param ws cursord.Workspace
--- @param id string
--- @return cursord.Hunk?, cursord.Diff?
function M.find(ws, id)
  for _, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      if hunk.id == id then
        return hunk, diff
      end
    end
  end
end

--- What a decision has left and why, in words; "" for nothing.
--- @param ws cursord.Workspace
--- @param skipped { path: string, hunk: string, kind: string }[]
--- @return string
function M.skipped(ws, skipped)
  local kinds, yours = {}, {}
  for _, s in ipairs(skipped) do
    local hunk = M.find(ws, s.hunk)
    if s.kind == 'maybeYours' then
      yours[#yours + 1] = hunk and ('%s:%d'):format(s.path, marks.row(hunk) + 1) or s.path
    else
      kinds[#kinds + 1] = ('%s (%s)'):format(s.path, s.kind)
    end
  end
  local text = #kinds > 0 and '; left out: ' .. table.concat(kinds, ', ') or ''
  if #yours > 0 then
    local shown = vim.list_slice(yours, 1, 10)
    if #yours > #shown then
      shown[#shown + 1] = ('and %d more'):format(#yours - #shown)
    end
    text = ('%s; left %s that may be yours: %s (reject each by itself)'):format(
      text,
      M.count(#yours, 'hunk'),
      table.concat(shown, ', ')
    )
  end
  return text
end

return M
