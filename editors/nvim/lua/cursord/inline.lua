--- Asks about a selection, in a float beside it that grows with the prompt.

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_inline')

local lines_most = 10

--- @param win integer
local function grow(win)
  local height = api.nvim_win_text_height(win, {}).all
  local room = math.max(1, math.min(height, lines_most, vim.o.lines - 6))
  api.nvim_win_set_height(win, room)
  if height <= room then -- while it was smaller, Neovim has scrolled
    api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1 })
    end)
  end
end

--- Opens the float, and calls done with the prompt when it is sent.
--- @param ws cursord.Workspace
--- @param selection { first: integer, last: integer, text: string }
--- @param done fun(prompt: string)
function M.open(ws, selection, done)
  local from, asked = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local row = vim.fn.screenpos(from, selection.last + 1, 1).row
  local seen = row > 0 and row < vim.o.lines - 6
  local buf = api.nvim_create_buf(false, true)
  vim.b[buf].cursord_root = ws.root
  vim.b[buf].cursord_inline = true
  vim.bo[buf].bufhidden = 'wipe'
  local first, last = selection.first + 1, selection.last + 1
  local title = first == last and ('Ask about line %d'):format(first)
    or ('Ask about lines %d–%d'):format(first, last)
  local width = math.max(math.min(60, vim.o.columns - 6), 10)
  local footer = ' <CR> sends · <C-j> new line · <Esc> closes '
  if width < api.nvim_strwidth(footer) then
    footer = ' <CR> sends · <Esc> closes '
  end
  local win = api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = seen and row or math.max(vim.o.lines - 8, 0),
    col = math.min(vim.fn.win_screenpos(from)[2] - 1, math.max(vim.o.columns - 30, 0)),
    width = width,
    height = 1,
    style = 'minimal',
    border = 'rounded',
    title = { { ' ' .. title .. ' ', 'NormalFloat' } },
    footer = { { footer, 'NormalFloat' } },
    footer_pos = 'right',
  })
  api.nvim_buf_set_extmark(asked, ns, selection.first, 0, {
    end_row = selection.last + 1,
    end_col = 0,
    hl_group = 'Visual',
    hl_eol = true,
    priority = 200,
    strict = false,
  })
  vim.bo[buf].filetype = 'cursord_input'
  vim.wo[win][0].wrap, vim.wo[win][0].linebreak = true, true
  local function close()
    vim.cmd.stopinsert()
    if api.nvim_buf_is_valid(asked) then
      api.nvim_buf_clear_namespace(asked, ns, 0, -1)
    end
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
    if api.nvim_win_is_valid(from) then
      api.nvim_set_current_win(from)
    end
  end
  local function send()
    local prompt = vim.trim(table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n'))
    close()
    if prompt ~= '' then
      done(prompt)
    end
  end
  local function on(modes, lhs, act, about)
    vim.keymap.set(modes, lhs, act, { buffer = buf, nowait = true, desc = 'cursord: ' .. about })
  end
  on({ 'n', 'i' }, '<CR>', function()
    local chosen = vim.fn.pumvisible() == 1 and vim.fn.complete_info({ 'selected' }).selected >= 0
    if chosen then
      return api.nvim_feedkeys(vim.keycode('<C-y>'), 'n', false)
    end
    send()
  end, 'send')
  on({ 'n', 'i' }, '<C-s>', send, 'send')
  on('i', '<C-j>', '<C-g>u<CR>', 'new line')
  on('n', 'q', close, 'close')
  on('n', '<Esc>', close, 'close')
  on({ 'n', 'i' }, '<C-c>', close, 'close')
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      grow(win)
    end,
  })
  api.nvim_create_autocmd(
    'WinLeave',
    { buffer = buf, once = true, callback = vim.schedule_wrap(close) }
  )
  vim.cmd.startinsert()
end

return M
