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

return M
