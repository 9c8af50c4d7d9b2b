--- The agent's latest todo list, in a window below the transcript until all is done.
local tools = require('cursord.tools')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_todos')
local height_most = 6

--- @class cursord.Todos
--- @field turn string
--- @field list { content: string, status: string }[]
--- @field buf integer

local all = {} --- @type table<integer, cursord.Todos> by the transcript's buffer

local ended = { completed = true, cancelled = true }

--- @param of cursord.Todos
--- @return integer done
--- @return integer? current the number of the first todo in progress, else of the first pending one
local function progress(of)
  local done, current, left = 0, nil, nil
  for i, todo in ipairs(of.list) do
    if ended[todo.status] then
      done = done + 1
    else
      left = left or i
      current = current or todo.status == 'in_progress' and i or nil
    end
  end
  return done, current or left
end

local function close(of)
  for _, win in ipairs(api.nvim_buf_is_valid(of.buf) and vim.fn.win_findbuf(of.buf) or {}) do
    pcall(api.nvim_win_close, win, true)
  end
end

--- @param of cursord.Todos
local function fill(of)
  vim.bo[of.buf].modifiable = true
  api.nvim_buf_set_lines(of.buf, 0, -1, false, tools.todos(of.list))
  vim.bo[of.buf].modifiable = false
  api.nvim_buf_clear_namespace(of.buf, ns, 0, -1)
  for i, todo in ipairs(of.list) do
    local group = ended[todo.status] and 'CursordNote'
      or todo.status == 'in_progress' and 'CursordFile'
    if group then
      api.nvim_buf_set_extmark(
        of.buf,
        ns,
        i - 1,
        0,
        { end_row = i, hl_group = group, strict = false }
      )
    end
  end
end

--- @param win integer the transcript's
--- @param of cursord.Todos
local function open_below(win, of)
  local height = math.min(#of.list, height_most, math.floor(api.nvim_win_get_height(win) / 3))
  if height < 1 then
    return
  end
  local below = api.nvim_open_win(of.buf, false, { split = 'below', win = win, height = height })
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    wrap = false,
    winfixheight = true,
    winbar = '',
    statusline = " %{v:lua.require'cursord.todos'.title()}",
  }) do
    api.nvim_set_option_value(name, value, { win = below, scope = 'local' })
  end
end

--- For the window's status line.
--- @return string
function M.title()
  local buf = api.nvim_win_get_buf(vim.g.statusline_winid or 0)
  for _, of in pairs(all) do
    if of.buf == buf then
      return ('Cursor: %d of %d done'):format((progress(of)), #of.list)
    end
  end
  return ''
end

--- Opens and closes windows for the list of a transcript.
--- @param transcript integer a buffer
local function refresh(transcript)
  local of = all[transcript]
  local _, current = nil, nil
  if of then
    _, current = progress(of)
  end
  if not of or not current then
    return of and close(of)
  end
  fill(of)
  for _, win in ipairs(vim.fn.win_findbuf(transcript)) do
    local tab, there = api.nvim_win_get_tabpage(win), false
    for _, other in ipairs(vim.fn.win_findbuf(of.buf)) do
      there = there or api.nvim_win_get_tabpage(other) == tab
    end
    if not there then
      open_below(win, of)
    end
  end
  for _, win in ipairs(vim.fn.win_findbuf(of.buf)) do
    api.nvim_win_set_cursor(win, { current, 0 })
  end
end

--- Takes a todo list from a running turn.
--- @param shown cursord.Transcript
--- @param item cursord.Item
function M.take(shown, item)
  local turn = shown.ws.turns[item.turnId]
  if not turn or workspace.ended(turn) then
    return
  end
  local of = all[shown.buf]
  if not of then
    local buf = api.nvim_create_buf(false, true)
    vim.b[buf].cursord_root = shown.ws.root
    api.nvim_buf_set_name(buf, ('cursord://todo/%d'):format(buf))
    vim.keymap.set('n', 'q', '<C-w>c', { buffer = buf, desc = 'cursord: close' })
    of = { turn = turn.id, list = {}, buf = buf }
    all[shown.buf] = of
    api.nvim_create_autocmd({ 'BufWinEnter', 'BufWinLeave', 'BufWipeout' }, {
      buffer = shown.buf,
      callback = function(args)
        vim.schedule(function()
          if #vim.fn.win_findbuf(args.buf) == 0 then
            close(of)
          else
            refresh(args.buf)
          end
        end)
      end,
    })
  end
  of.turn, of.list = turn.id, item.tool.todos
  refresh(shown.buf)
end

--- A todo list goes with its turn.
--- @param transcript integer a buffer
--- @param turn string
function M.drop(transcript, turn)
  local of = all[transcript]
  if of and of.turn == turn then
    of.list = {}
    close(of)
  end
end

--- A todo list ends when the next turn begins.
workspace.on('turn', function(_, turn)
  local shown = require('cursord.transcript').of(turn.sessionId)
  local of = shown and all[shown.buf]
  if of and of.turn ~= turn.id and turn.status == 'running' then
    of.list = {}
    close(of)
  end
end)

return M
