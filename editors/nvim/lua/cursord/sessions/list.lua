--- A buffer with the sessions of all folders, and its keys.
local keys = require('cursord.keys')
local message = require('cursord.message')
local sessions = require('cursord.sessions')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_sessions')

local shown = {} --- @type table<integer, cursord.SessionEntry[]> by buffer
local opened_in = {} --- @type table<integer, cursord.Workspace> the workspace whose sessions come first, by buffer

--- @return cursord.SessionEntry?
local function here()
  local of = shown[api.nvim_get_current_buf()]
  return of and of[api.nvim_win_get_cursor(0)[1]]
end

--- @param text string
--- @param width integer
local function fill(text, width)
  text = message.cut(text, width)
  return text .. (' '):rep(width - api.nvim_strwidth(text))
end

--- Windows with fewer columns show a session's hunks or state, its folder if that is another one, and its title.
local narrow = 60

--- @param entry cursord.SessionEntry
--- @param width integer of the window
--- @return { text: string, width: integer, group: string }[]
local function columns(entry, width)
  local s, hunks = entry.session, ''
  local state = s.state == 'idle' and '' or s.state
  if entry.hunks > 0 then
    hunks = entry.hunks .. (entry.hunks == 1 and ' hunk' or ' hunks')
  end
  if width < narrow then
    local out = { { text = hunks ~= '' and hunks or state, width = 9, group = 'CursordRange' } }
    if not entry.here then
      local folder = message.cut(vim.fs.basename(entry.root), 12)
      out[2] = { text = folder, width = api.nvim_strwidth(folder), group = 'CursordNote' }
    end
    return out
  end
  return {
    { text = state, width = 7, group = 'CursordChatDone' },
    { text = hunks, width = 9, group = 'CursordRange' },
    { text = require('cursord.times').age(s.updatedAt), width = 10, group = 'CursordNote' },
    { text = vim.fs.basename(entry.root), width = 12, group = 'CursordNote' },
  }
end

--- @param buf integer
local function draw(buf)
  local lines, marks = {}, {}
  local width = api.nvim_win_get_width(math.max(vim.fn.bufwinid(buf), 0))
  for i, entry in ipairs(shown[buf]) do
    local line = ''
    for _, column in ipairs(columns(entry, width)) do
      local text = fill(column.text, column.width)
      marks[#marks + 1] = { row = i - 1, from = #line, to = #line + #text, group = column.group }
      line = line .. text .. ' '
    end
    lines[i] = line .. ' ' .. (entry.branch or '') .. entry.session.title:gsub('%s*\n.*', ' …')
  end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, #lines > 0 and lines or { 'There is no session yet.' })
  vim.bo[buf].modifiable = false
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for _, m in ipairs(marks) do
    api.nvim_buf_set_extmark(buf, ns, m.row, m.from, { end_col = m.to, hl_group = m.group })
  end
end

--- @param buf integer
local function read(buf)
  local ws = opened_in[buf]
  if not ws then
    return -- it has been closed meanwhile
  end
  sessions.read(ws, function(entries)
    if api.nvim_buf_is_valid(buf) then
      shown[buf] = entries
      draw(buf)
    end
  end)
end

--- @param act fun(entry: cursord.SessionEntry)
local function with(act)
  return function()
    local entry = here()
    if entry then
      act(entry)
    end
  end
end

--- Shows the end of a session above the window.
--- @param entry cursord.SessionEntry
function M.preview(entry)
  local from = api.nvim_get_current_win()
  sessions.preview(entry, function(lines)
    if api.nvim_get_current_win() ~= from then
      return
    end
    local height = math.min(#lines, math.max(vim.fn.win_screenpos(from)[1] - 4, 3))
    local last = vim.list_slice(lines, #lines - height + 1)
    local _, win = vim.lsp.util.open_floating_preview(last, 'markdown', {
      focus_id = 'cursord_session',
      border = 'single',
      wrap = false,
    })
    -- The preview goes above the list if there is room.
    api.nvim_win_set_config(win, {
      relative = 'editor',
      row = 0,
      col = 1,
      width = vim.o.columns - 4,
      height = height,
    })
    if win ~= api.nvim_get_current_win() then
      require('cursord.floats').closed_by(win, { 'q', '<Esc>' })
    end
  end)
end

local bar_keys = { '<CR> go', 'R rename', 'D delete', 'K look', 'v review', 'g?' }

--- For 'winbar'.
--- @return string
function M.winbar()
  local width = api.nvim_win_get_width(vim.g.statusline_winid or 0)
  return require('cursord.winbar').keys('Sessions', bar_keys, width)
end

--- Opens the list.
--- @param ws cursord.Workspace
function M.open(ws)
  local from = api.nvim_get_current_win()
  vim.cmd('botright 12split')
  require('cursord.windows').back_to(from)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, buf)
  vim.bo[buf].bufhidden = 'wipe'
  vim.b[buf].cursord_root = ws.root
  shown[buf], opened_in[buf] = {}, ws
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    wrap = false,
    cursorline = true,
    winbar = "%{%v:lua.require'cursord.sessions.list'.winbar()%}",
    statusline = ' Cursor: sessions of all folders%=%l/%L ',
  }) do
    api.nvim_set_option_value(name, value, { win = 0, scope = 'local' })
  end
  local function again()
    read(buf)
  end
  keys.map(buf, {
    {
      'go on with it',
      '<CR>',
      'n',
      with(function(entry)
        vim.cmd.close()
        sessions.go(entry)
      end),
    },
    {
      'another title',
      'R',
      'n',
      with(function(entry)
        sessions.rename(entry, again)
      end),
    },
    { 'delete it', 'D', 'n', with(function(entry)
      sessions.delete(entry, again)
    end) },
    {
      'another session from here',
      'F',
      'n',
      with(function(entry)
        vim.cmd.close()
        sessions.fork(entry)
      end),
    },
    {
      'take its last turn back',
      'X',
      'n',
      with(function(entry)
        require('cursord.rewind').run(workspace.open_root(entry.root), entry.session.id)
      end),
    },
    { 'look at what was said', 'K', 'n', with(M.preview) },
    {
      'review what its folder has left',
      'v',
      'n',
      with(function(entry)
        local of = workspace.open_root(entry.root)
        vim.cmd.close()
        require('cursord.review.await').run(of, {
          name = 'review',
          of = 'all',
          act = function()
            require('cursord.review.buffer').open(of)
          end,
        })
      end),
    },
    { 'read the list again', '<C-l>', 'n', again },
    { 'close', 'q', 'n', '<C-w>c' },
    { 'these keys', 'g?', 'n', keys.help },
  })
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      shown[buf], opened_in[buf] = nil, nil
    end,
  })
  again()
end

api.nvim_create_autocmd('WinResized', {
  group = api.nvim_create_augroup('cursord_sessions', {}),
  callback = function()
    for buf, entries in pairs(shown) do
      if #entries > 0 then
        draw(buf)
      end
    end
  end,
})

for _, event in ipairs({ 'session', 'turn' }) do
  workspace.on(event, function()
    for buf in pairs(shown) do
      read(buf)
    end
  end)
end

return M
