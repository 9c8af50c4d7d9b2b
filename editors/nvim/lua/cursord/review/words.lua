--- Changed words in changed lines.
local M = {}

local line_diff = vim.text and vim.text.diff or vim.diff

--- Lines longer than this many bytes are marked as a whole.
local length_max = 2000

--- Splits a line into words, runs of blanks, and single other characters.
--- @param line string
--- @return string[] tokens
--- @return integer[] starts their offsets, and the end of the last
local function tokens(line)
  local out, starts, at = {}, {}, 1
  while at <= #line do
    local _, to = line:find('^[%w_\128-\255]+', at)
    if not to then
      _, to = line:find('^%s+', at)
    end
    to = to or at
    out[#out + 1], starts[#starts + 1] = line:sub(at, to), at - 1
    at = to + 1
  end
  starts[#starts + 1] = #line
  return out, starts
end

--- The changed words of a line, as ranges of bytes on both sides; nil if the sides have little in common.
--- @param old string
--- @param new string
--- @return integer[][]? in_old
--- @return integer[][]? in_new
function M.spans(old, new)
  if #old > length_max or #new > length_max then
    return nil
  end
  local a, a_at = tokens(old)
  local b, b_at = tokens(new)
  if #a == 0 or #b == 0 then
    return nil
  end
  local indices = line_diff(
    table.concat(a, '\n') .. '\n',
    table.concat(b, '\n') .. '\n',
    { result_type = 'indices' }
  )
  local in_old, in_new, changed = {}, {}, 0
  local function add(spans, at, from, count)
    if count > 0 then
      spans[#spans + 1] = { at[from], at[from + count] }
      changed = changed + at[from + count] - at[from]
    end
  end
  for _, block in
    ipairs(indices --[[@as integer[][] ]])
  do
    add(in_old, a_at, block[1], block[2])
    add(in_new, b_at, block[3], block[4])
  end
  if changed * 10 > (#old + #new) * 7 then
    return nil
  end
  return in_old, in_new
end

--- The part of two lines' words that both have, from 0 to 1.
--- @param old string
--- @param new string
local function likeness(old, new)
  if #old > length_max or #new > length_max then
    return 0
  end
  local left, all, both = {}, 0, 0
  for word in old:gmatch('[%w_\128-\255]+') do
    left[word], all = (left[word] or 0) + 1, all + 1
  end
  for word in new:gmatch('[%w_\128-\255]+') do
    all = all + 1
    if (left[word] or 0) > 0 then
      left[word], both = left[word] - 1, both + 2
    end
  end
  return all > 0 and both / all or 0
end

--- Limit of the number of comparisons by which lines are paired.
local pairs_most = 400

--- Pairs deleted lines with those that replace them, in order: by position if there are as many, else by their words.
--- @param old string[]
--- @param new string[]
--- @return integer[][] # the numbers of a deleted line and of an added one
function M.pairs(old, new)
  local out = {}
  if #old == #new or #old * #new > pairs_most then
    for i = 1, math.min(#old, #new) do
      out[i] = { i, i }
    end
    return out
  end
  local best = {} --- @type table<integer, table<integer, number>> the likeness from these lines on
  local function at(i, j)
    return best[i] and best[i][j] or 0
  end
  local like = {}
  for i = #old, 1, -1 do
    best[i], like[i] = {}, {}
    for j = #new, 1, -1 do
      like[i][j] = likeness(old[i], new[j])
      best[i][j] = math.max(at(i + 1, j), at(i, j + 1), like[i][j] + at(i + 1, j + 1))
    end
  end
  local i, j = 1, 1
  while i <= #old and j <= #new do
    if like[i][j] > 0 and best[i][j] == like[i][j] + at(i + 1, j + 1) then
      out[#out + 1] = { i, j }
      i, j = i + 1, j + 1
    elseif best[i][j] == at(i + 1, j) then
      i = i + 1
    else
      j = j + 1
    end
  end
  return out
end

return M
