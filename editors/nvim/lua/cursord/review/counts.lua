--- Counts of hunks and files, in words.
local marks = require('cursord.review.marks')

local M = {}

--- @param n integer
--- @param word string
function M.count(n, word)
  return ('%d %s%s'):format(n, word, n == 1 and '' or 's')
end

--- How many hunks were decided, in words; of some perhaps only a part.
--- @param hunks integer
--- @param cut integer how many of them
--- @return string
function M.decided(hunks, cut)
  local whole, part = M.count(hunks - cut, 'hunk'), 'a part of ' .. M.count(cut, 'hunk')
  return cut == 0 and whole or hunks > cut and whole .. ' and ' .. part or part
end

--- What was dismissed, in words.
--- @param files integer
--- @return string
function M.dismissed(files)
  if files == 0 then
    return 'nothing to dismiss: no file outside of the workspace is listed'
  end
  return 'dismissed ' .. M.count(files, 'file')
end

--- The hunks that go with a decision about some: these, and those that are decided with them.
--- @param ws cursord.Workspace
--- @param ids string[]
--- @return table<string, true>
function M.tied(ws, ids)
  local wanted, out = {}, {}
  for _, id in ipairs(ids) do
    wanted[id] = true
  end
  for _, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      for _, id in ipairs(wanted[hunk.id] and { hunk.id, unpack(hunk.linked or {}) } or {}) do
        out[id] = true
      end
    end
  end
  return out
end

--- Which decision an undo or redo was about, in words.
--- @param step? { kind: string, hunks: integer }
--- @param diffs cursord.Diff[] of its files
--- @return string
function M.step(step, diffs)
  local what = 'a decision' -- an older daemon does not say which
  if step then
    local kind = step.kind == 'commit' and 'accept by a commit' or step.kind
    what = ('the %s of %s'):format(kind, M.count(step.hunks, 'hunk'))
  end
  local file = #diffs == 1 and vim.fs.basename(diffs[1].path) or M.count(#diffs, 'file')
  return ('%s in %s'):format(what, file)
end

--- @param ws cursord.Workspace
--- @return string
function M.left(ws)
  local hunks, files = ws:pending()
  return hunks == 0 and 'none left'
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

--- The ids of some hunks, or of all in a file or in the workspace.
--- @param ws cursord.Workspace
--- @param parts? cursord.Part[]
--- @param path? string
--- @return string[]
function M.ids(ws, parts, path)
  local out = {}
  for _, part in ipairs(parts or {}) do
    out[#out + 1] = part.id
  end
  for _, diff in pairs(parts and {} or path and { ws.diffs[path] } or ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      out[#out + 1] = hunk.id
    end
  end
  return out
end

--- Which files of the work tree a decision writes: those of which it rejects hunks, or accepts hunks that are in a copy.
--- @param verb string
--- @param ws cursord.Workspace
--- @param ids string[] of the hunks that are decided
--- @return fun(path: string): boolean
function M.written(verb, ws, ids)
  local decided, writes, any = {}, {}, false
  for _, id in ipairs(ids) do
    decided[id] = true
  end
  for path, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      if decided[hunk.id] then
        writes[path] = writes[path] or verb == (hunk.isolated and 'accept' or 'reject')
        any = any or writes[path]
      end
    end
  end
  return function(path)
    if writes[path] == nil then
      return any -- the path of a file that the decision moves
    end
    return writes[path]
  end
end

--- How many hunks of a file, of a turn or of the workspace have lines of the person's beside the agent's in a copy.
--- @param ws cursord.Workspace
--- @param path? string
--- @param turn? string
--- @return integer
function M.yours(ws, path, turn)
  local count = 0
  for _, diff in pairs(path and { ws.diffs[path] } or ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      local of = not turn
      for _, source in ipairs(turn and hunk.sources or {}) do
        of = of or source.turnId == turn
      end
      count = count + (of and hunk.yours and 1 or 0)
    end
  end
  return count
end

--- Whether one of some hunks is a conflict with unsaved text.
--- @param ws cursord.Workspace
--- @param ids string[]
--- @return boolean
function M.any_conflict(ws, ids)
  return vim.iter(ids):any(function(id)
    local hunk = M.find(ws, id)
    return hunk ~= nil and hunk.state == 'conflict'
  end)
end

--- Whether one of some hunks is pending.
--- @param ws cursord.Workspace
--- @param ids string[]
--- @return boolean
function M.any_pending(ws, ids)
  for _, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      if vim.list_contains(ids, hunk.id) then
        return true
      end
    end
  end
  return false
end

--- The first of some texts, and the number of the others.
--- @param all string[]
--- @return string[]
local function first(all)
  local shown = vim.list_slice(all, 1, 10)
  if #all > #shown then
    shown[#shown + 1] = ('and %d more'):format(#all - #shown)
  end
  return shown
end

--- The hunks that a decision has skipped and the reasons, in words; "" for none.
--- @param ws cursord.Workspace
--- @param skipped cursord.Skipped[]
--- @return string
function M.skipped(ws, skipped)
  local reasons, known, yours = {}, {}, {}
  for _, s in ipairs(skipped) do
    local hunk = M.find(ws, s.hunk)
    if s.kind == 'maybeYours' then
      yours[#yours + 1] = hunk and ('%s:%d'):format(s.path, marks.row(hunk) + 1) or s.path
    else
      local why = s.message or ('%s (%s)'):format(s.path, s.kind)
      if not known[why] then -- the hunks of a file usually have the same reason
        known[why] = true
        reasons[#reasons + 1] = why
      end
    end
  end
  local text = #reasons > 0 and '; left out: ' .. table.concat(first(reasons), ', and ') or ''
  if #yours > 0 then
    local places = table.concat(first(yours), ', ')
    text = ('%s; %d may be yours, reject each by itself: %s'):format(text, #yours, places)
  end
  return text
end

return M
