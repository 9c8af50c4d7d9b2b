--- The float with what an agent asks. It does not take the focus.
local asked = require('cursord.asked')
local message = require('cursord.message')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_askfloat')

--- @class cursord.Asking the question on the screen
--- @field win integer
--- @field id string
--- @field cut boolean the float has no room for all of it
--- @field drawn? number when Neovim has drawn it first, in milliseconds; nothing is drawn while a command line is open

local float --- @type cursord.Asking?

--- @return number # milliseconds
function M.now()
  return vim.uv.hrtime() / 1e6
end

api.nvim_set_decoration_provider(api.nvim_create_namespace('cursord_askfloat_drawn'), {
  on_win = function(_, win)
    if float and float.win == win then
      float.drawn = float.drawn or M.now()
    end
    return false
  end,
})

--- @return cursord.Asking?
function M.shown()
  return float
end

--- @return boolean # false if Neovim closes no window now: the command line window is open, and its end calls again
function M.close()
  if float and api.nvim_win_is_valid(float.win) then
    if not pcall(api.nvim_win_close, float.win, true) then
      return false
    end
  end
  float = nil
  return true
end

--- The lower edge: what to do, and what the float does not show. The first text that fits is taken.
--- @param missing integer rows that the float has no room for
--- @param more integer how many other questions wait
--- @param width integer
--- @return string
local function footer(missing, more, width)
  local others = more > 0 and (' (%d more)'):format(more) or ''
  local texts = { ' :Cursord approve · deny · approvals' .. others .. ' ' }
  if missing > 0 then
    local lines = missing == 1 and '1 more line' or ('%d more lines'):format(missing)
    texts = {
      (' … %s: see :Cursord approvals%s · :Cursord deny '):format(lines, others),
      (' … %s: see :Cursord approvals%s '):format(lines, others),
      (' … %s: see :Cursord approvals '):format(lines),
      (' … %d more: :Cursord approvals '):format(missing),
    }
  end
  for _, text in ipairs(texts) do
    if api.nvim_strwidth(text) <= width then
      return text
    end
  end
  return message.cut(texts[#texts], width)
end

--- Shows a question.
--- @param a cursord.Approval
--- @param more integer how many others are pending
function M.open(a, more)
  local old = float and float.id == a.id and float or nil
  if not M.close() then
    return
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, (asked.lines(a)))
  api.nvim_buf_set_extmark(buf, ns, 0, 0, { end_row = 1, hl_group = 'CursordMaybe' })
  local width = math.max(math.min(80, vim.o.columns - 4), 10)
  local most = math.max(math.floor(vim.o.lines / 2), 3)
  local opened, win = pcall(api.nvim_open_win, buf, false, {
    relative = 'editor',
    anchor = 'NE',
    row = 1,
    col = vim.o.columns - 1,
    width = width,
    height = 1,
    style = 'minimal',
    border = 'single',
    zindex = 60,
    noautocmd = true,
    title = message.cut(' ' .. asked.who(a) .. ' ', width),
  })
  if not opened then
    return -- the command line window is open: its end shows it
  end
  vim.wo[win].wrap, vim.wo[win].linebreak = true, true
  local rows = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_config(win, {
    height = math.min(rows, most),
    footer = footer(math.max(rows - most, 0), more, width),
  })
  local cut = rows > most
  local drawn = old and (cut or not old.cut) and old.drawn or nil -- else a part comes just now
  float = { win = win, id = a.id, cut = cut, drawn = drawn }
end

return M
