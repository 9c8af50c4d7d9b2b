--- Diffs as the lines of a patch, for people.
local author = require('cursord.review.author')
local marks = require('cursord.review.marks')
local message = require('cursord.message')

local M = {}

--- @class cursord.PatchLine
--- @field text string
--- @field kind 'file'|'note'|'hunk'|'line'
--- @field path string
--- @field row integer in the file, from 0
--- @field hunk? cursord.Hunk
--- @field index? integer the number of the line in the hunk, from 1
--- @field changed? integer the number of the changed line in the hunk, from 0

--- The change of a file as a whole, in words: "mode 100644 → 100755".
--- @param diff cursord.Diff
--- @return string
function M.became(diff)
  local kind = diff.oldMode and diff.kind ~= 'created' and diff.kind ~= 'deleted' and 'mode'
    or diff.kind
  if kind == 'mode' then
    return ('mode %s → %s'):format(diff.oldMode or '?', diff.newMode or '?')
  elseif kind == 'symlink' then
    return ('link %s → %s'):format(diff.oldTarget or '(none)', diff.newTarget or '(none)')
  elseif kind == 'renamed' and diff.oldPath then
    return 'renamed from ' .. diff.oldPath
  elseif kind == 'created' and diff.newMode then
    return 'created, mode ' .. diff.newMode
  end
  return kind
end

--- The numbers of lines that hunks add and delete.
--- @param hunks cursord.Hunk[]
--- @return integer added
--- @return integer removed
function M.counts(hunks)
  local added, removed = 0, 0
  for _, hunk in ipairs(hunks) do
    for _, line in ipairs(hunk.lines) do
      local sign = line:sub(1, 1)
      added = added + (sign == '+' and 1 or 0)
      removed = removed + (sign == '-' and 1 or 0)
    end
  end
  return added, removed
end

--- The added and deleted lines of a hunk, without context.
--- @param hunk cursord.Hunk
--- @return string[]
function M.changed_lines(hunk)
  return vim.tbl_filter(function(line)
    return line:sub(1, 1) ~= ' '
  end, hunk.lines)
end

--- The heading of a file, such as "modified lib/util.py +3 −3".
--- @param diff cursord.Diff
--- @param hunks cursord.Hunk[]
--- @return string
local function heading(diff, hunks)
  local added, removed = M.counts(hunks)
  local from = diff.oldPath and diff.oldPath .. ' → ' or ''
  local counts = added + removed > 0 and (' +%d −%d'):format(added, removed) or ''
  return ('%s %s%s%s'):format(diff.kind, from, diff.path:gsub('%c', '?'), counts)
end

--- @param diff cursord.Diff
--- @param hunks cursord.Hunk[]
--- @return string[] # warnings about a file, to read before a decision
local function notes(diff, hunks)
  local out, isolated, maybe, conflict = {}, false, false, false
  for _, hunk in ipairs(hunks) do
    conflict = conflict or author.is_conflict(hunk)
    isolated = isolated or hunk.isolated and hunk.state ~= 'conflict' or false
    maybe = maybe or author.maybe_yours(hunk)
  end
  if vim.startswith(diff.path, '/') then
    out[#out + 1] = 'outside of the workspace: nothing can be decided; x takes it off the list'
  end
  if isolated then
    out[#out + 1] = 'in a copy: the file has these lines once they are accepted'
  end
  if conflict then
    out[#out + 1] = 'you have changed the same lines: reject keeps yours, accept takes these'
  end
  if maybe then
    out[#out + 1] = author.note .. '; only a reject of the hunk itself takes it back'
  end
  return out
end

--- Whether all lines of a hunk end with a carriage return. The patch then leaves them out.
--- @param hunk cursord.Hunk
local function is_crlf(hunk)
  for _, line in ipairs(hunk.lines) do
    if line:sub(-1) ~= '\r' then
      return false
    end
  end
  return true
end

--- @param out cursord.PatchLine[]
--- @param diff cursord.Diff
--- @param hunk cursord.Hunk
local function add_hunk(out, diff, hunk)
  local by = author.made_by(hunk)
  local about = by ~= '' and ' by ' .. by or ''
  local note = author.is_conflict(hunk) and 'changed by you, too'
    or author.maybe_yours(hunk) and 'may be yours'
  about = about .. (note and (' (%s)'):format(note) or '')
  about = about .. (hunk.tied and (' (with %s)'):format(hunk.tied) or '')
  local row = marks.row(hunk)
  local head = hunk.kind == 'file' and M.became(diff)
  if head and #hunk.lines == 0 then
    out[#out + 1] = { kind = 'hunk', text = head .. about, path = diff.path, hunk = hunk, row = 0 }
    return
  end
  head = ('@@ -%d,%d +%d,%d @@'):format(hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines)
  out[#out + 1] = { kind = 'hunk', text = head .. about, path = diff.path, hunk = hunk, row = row }
  local crlf, changed = is_crlf(hunk), 0
  local away = hunk.isolated and '+' or '-'
  row = marks.first_row(hunk)
  for i, line in ipairs(hunk.lines) do
    local sign = line:sub(1, 1)
    out[#out + 1] = {
      kind = 'line',
      text = crlf and line:sub(1, -2) or line,
      path = diff.path,
      hunk = hunk,
      index = i,
      changed = sign ~= ' ' and changed or nil,
      row = math.max(row, 0),
    }
    changed = changed + (sign ~= ' ' and 1 or 0)
    row = row + (sign ~= away and 1 or 0)
  end
end

--- Adds the lines of a file to a patch.
--- @param diff cursord.Diff
--- @param wanted fun(hunk: cursord.Hunk): boolean
--- @param width integer how many cells a note has
--- @param out cursord.PatchLine[] the patch
function M.add(diff, wanted, width, out)
  local hunks = vim.tbl_filter(wanted, diff.hunks)
  if #hunks == 0 then
    return
  end
  local first = { kind = 'file', text = heading(diff, hunks), path = diff.path, row = 0 }
  out[#out + 1] = first
  for _, hunk in ipairs(hunks) do
    if #hunk.lines > 0 then
      first.row = marks.row(hunk)
      break
    end
  end
  for _, note in ipairs(notes(diff, hunks)) do
    for i, part in ipairs(message.fold(note, width - 2)) do
      local text = (i == 1 and '! ' or '  ') .. part
      out[#out + 1] = { kind = 'note', text = text, path = diff.path, row = first.row }
    end
  end
  for _, hunk in ipairs(hunks) do
    add_hunk(out, diff, hunk)
  end
end

return M
