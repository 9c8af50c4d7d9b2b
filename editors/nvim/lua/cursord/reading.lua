--- What of the questions in the list has been on the screen. A person must not allow what was never there.
local askfloat = require('cursord.askfloat')

local api = vim.api
local M = {}

--- @class cursord.Listed a question in the list
--- @field first integer its first line
--- @field last integer
--- @field text string its lines without the first one, which is about the session
--- @field read table<integer, true|cursord.RowsRead> by its lines: true for one that was on the screen
--- @field drawn? number when Neovim has drawn a part of it first, in milliseconds

--- @class cursord.RowsRead the rows of a line that has more of them than the window
--- @field width integer of the rows
--- @field all integer how many there are
--- @field [integer] boolean

local ns = api.nvim_create_namespace('cursord_reading')
local list_buf --- @type integer?
local listed = {} --- @type table<string, cursord.Listed> by the approvals' ids
local drawing = {} --- @type table<integer, true> the windows of the list that Neovim draws now

-- With these, the window hides nothing of a line that it shows. Without 'showbreak', Neovim writes "<<<" over the first row if it
-- begins within a line.
local plain = {
  wrap = true,
  linebreak = true,
  smoothscroll = true,
  showbreak = '↳ ',
  foldenable = false,
  conceallevel = 0,
}

--- @param win integer
--- @return boolean
local function is_plain(win)
  for name, value in pairs(plain) do
    if vim.wo[win][name] ~= value then
      return false
    end
  end
  return true
end

--- Lets a window of the list show all that is in its lines.
--- @param win integer
function M.show_plain(win)
  for name, value in pairs(plain) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  api.nvim_set_option_value('scrolloff', 0, { win = win, scope = 'local' })
end

--- The cells of a row, and the rows, of a window.
--- @param win integer
--- @return integer width
--- @return integer height
local function size(win)
  local info = vim.fn.getwininfo(win)[1]
  return math.max(info.width - info.textoff, 1), info.height
end

--- How many rows a line has.
--- @param win integer
--- @param line integer
--- @return integer
local function rows_of(win, line)
  return api.nvim_win_text_height(win, { start_row = line - 1, end_row = line - 1 }).all
end

--- How many rows of a line have been on the screen, from its first one on.
--- @param rows cursord.RowsRead
--- @return integer
local function read_rows(rows)
  local n = 0
  while rows[n + 1] do
    n = n + 1
  end
  return n
end

--- Notes what a window shows.
--- @param win integer
local function note(win)
  local view = api.nvim_win_call(win, vim.fn.winsaveview)
  local top, bottom = view.topline, vim.fn.line('w$', win)
  local width, height = size(win)
  local skipped = math.ceil((view.skipcol or 0) / width)
  local counts = is_plain(win)
  for _, one in pairs(listed) do
    local from, to = math.max(one.first, top), math.min(one.last, bottom)
    if from <= to then
      one.drawn = one.drawn or askfloat.now()
    end
    for line = from, counts and to or 0 do
      local i, all = line - one.first, rows_of(win, line)
      local rows = one.read[i]
      if line > top or skipped == 0 and all <= height then
        one.read[i] = true
      elseif rows ~= true then
        if not rows or rows.width ~= width or rows.all ~= all then
          rows = { width = width, all = all }
        end
        for row = skipped + 1, math.min(skipped + height, all) do
          rows[row] = true
        end
        one.read[i] = read_rows(rows) == all or rows
      end
    end
  end
end

api.nvim_set_decoration_provider(ns, {
  on_win = function(_, win, buf)
    if buf == list_buf then
      drawing[win] = true
    end
    return false
  end,
  on_end = function() -- only now Neovim knows what fits into the windows
    for win in pairs(drawing) do
      drawing[win] = nil
      if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == list_buf then
        note(win)
      end
    end
  end,
})

--- Takes over what is in the list now. What was read of a question counts as long as its text is the same.
--- @param buf integer
--- @param questions table<string, cursord.Listed>
function M.take(buf, questions)
  for id, one in pairs(questions) do
    local before = listed[id] --[[@as cursord.Listed?]]
    one.drawn = before and before.drawn
    if before and before.text == one.text then
      one.read = before.read
    end
  end
  list_buf, listed = buf, questions
end

--- @param one cursord.Listed
--- @return integer? line the first line that was not on the screen, or not all of it
local function unread(one)
  for i = 0, one.last - one.first do
    if one.read[i] ~= true then
      return one.first + i
    end
  end
end

--- Whether all of a question has been on the screen.
--- @param one cursord.Listed
--- @return boolean
function M.is_read(one)
  return unread(one) == nil
end

--- Scrolls a window to the first part of a question that has not been on the screen.
--- @param win integer
--- @param one cursord.Listed
function M.go_on(win, one)
  M.show_plain(win)
  local line = unread(one)
  if not line then
    return
  end
  local width = size(win)
  local rows = one.read[line - one.first]
  local skipped = 0
  if rows and rows.width == width and rows.all == rows_of(win, line) then
    skipped = read_rows(rows)
  end
  local col = skipped > 0 and vim.fn.virtcol2col(win, line, (skipped + 1) * width) or 1
  api.nvim_win_call(win, function()
    vim.fn.winrestview({
      lnum = line,
      col = math.max(col - 1, 0),
      topline = line,
      skipcol = skipped * width,
    })
  end)
end

return M
