--- The origin of hunks, by their sources.
local M = {}

M.note = "may be yours: it is not surely the agent's"

--- Whether a hunk may be a person's: no call of the agent explains a part of it.
--- @param hunk cursord.Hunk
--- @return boolean
function M.maybe_yours(hunk)
  for _, source in ipairs(hunk.sources or {}) do
    if source.via == 'unknown' then
      return true
    end
  end
  return false
end

--- The number of a hunk's first changed line in its file.
--- @param hunk cursord.Hunk
--- @return integer
local function line_of(hunk)
  local at = hunk.isolated and hunk.oldStart or hunk.newStart
  for _, line in ipairs(hunk.lines) do
    if line:sub(1, 1) ~= ' ' then
      break
    end
    at = at + 1
  end
  return at
end

--- Notes in the hunks of a diff with which others they are decided.
--- @param diff cursord.Diff
function M.tie(diff)
  local by = {} --- @type table<string, cursord.Hunk>
  for _, hunk in ipairs(diff.hunks) do
    by[hunk.id] = hunk
  end
  for _, hunk in ipairs(diff.hunks) do
    local places = {}
    for _, id in ipairs(hunk.linked or {}) do
      if by[id] and #by[id].lines > 0 then
        places[#places + 1] = 'line ' .. line_of(by[id])
      end
    end
    hunk.tied = #places > 0 and table.concat(places, ', ') or nil
  end
end

--- Whether the person has changed the same lines: in unsaved text, or beside a copy. Such a hunk is decided as a whole.
--- @param hunk cursord.Hunk
--- @return boolean
function M.is_conflict(hunk)
  return hunk.state == 'conflict' or hunk.yours or false
end

--- Has a hunk of a copy show the person's lines beside the agent's as those that an accept of the agent's replaces.
--- @param hunk cursord.Hunk
function M.oppose(hunk)
  if hunk.yours or not hunk.isolated or #(hunk.beside or {}) == 0 then
    return
  end
  hunk.yours = true
  for _, at in ipairs(hunk.beside) do
    if hunk.lines[at + 1]:sub(1, 1) == ' ' then
      hunk.newLines = hunk.newLines - 1
    end
    hunk.lines[at + 1] = '-' .. hunk.lines[at + 1]:sub(2)
  end
end

--- The note above a hunk's first line, if it needs one.
--- @param hunk cursord.Hunk
--- @return string?
function M.note_of(hunk)
  local from = hunk.label and hunk.label .. ': ' or ''
  if hunk.yours then -- perhaps not a person's, but what was accepted of another session
    return from
      .. "your file has other lines here: reject keeps them, accept takes the agent's, accept both keeps both"
  elseif M.is_conflict(hunk) then
    return "you have changed this, too: reject keeps yours, accept takes the agent's, accept both keeps both"
  elseif hunk.label then
    return hunk.label
  end
  local tied = hunk.tied and 'a moved line of yours: decided together with ' .. hunk.tied
  local maybe = M.maybe_yours(hunk) and M.note
  return maybe and tied and maybe .. '; ' .. tied or maybe or tied
end

--- The hunks that a reject of several hunks leaves alone: those that may be a person's, and those linked with one.
--- @param diff cursord.Diff
--- @return table<string, true> by id
function M.left(diff)
  local ids = {}
  for _, hunk in ipairs(diff.hunks) do
    if M.maybe_yours(hunk) then
      ids[hunk.id] = true
      for _, id in ipairs(hunk.linked or {}) do
        ids[id] = true
      end
    end
  end
  return ids
end

--- How the agent made a hunk, in a word; "" for an edit, the usual case.
--- @param hunk cursord.Hunk
--- @return string
function M.made_by(hunk)
  local words, seen = {}, {}
  for _, source in ipairs(hunk.sources or {}) do
    local word = source.via == 'shell' and 'command' or source.via
    if word ~= 'unknown' and not seen[word] then
      seen[word] = true
      words[#words + 1] = word
    end
  end
  local text = table.concat(words, ' and ')
  return text == 'edit' and '' or text
end

return M
