--- A buffer with the places in all sessions that have some words, and its keys.
local keys = require('cursord.keys')
local message = require('cursord.message')
local rpc = require('cursord.rpc')
local sessions = require('cursord.sessions')
local times = require('cursord.times')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_search')
local most = 200

--- @class cursord.Match
--- @field workspace string
--- @field sessionId string
--- @field title string
--- @field turnId string "" for the title of a session without turns
--- @field itemId? string
--- @field snippet string
--- @field ranges { from: integer, to: integer }[]
--- @field at string
--- @field in string

local found = {} --- @type table<integer, cursord.Match[]> by buffer

--- Calls act with the session of the match at the cursor, and with the match.
--- @param act fun(entry: cursord.SessionEntry, match: cursord.Match)
local function with(act)
  return function()
    local match = (found[api.nvim_get_current_buf()] or {})[api.nvim_win_get_cursor(0)[1]]
    if not match then
      return
    end
    rpc.request('session/read', { sessionId = match.sessionId, limit = 1 }, function(err, read)
      if err then
        return rpc.say_error(err)
      end
      act(
        { session = read.session, root = match.workspace, here = false, hunks = 0, text = '' },
        match
      )
    end)
  end
end

--- Shows a session in the chat of its folder, at the place of a match; of a title at its end.
--- @param entry cursord.SessionEntry
--- @param match cursord.Match
local function go(entry, match)
  vim.cmd.close()
  sessions.go(entry)
  local shown = require('cursord.transcript').of(match.sessionId)
  if shown and match['in'] ~= 'title' then
    vim.cmd.stopinsert()
    local range = match.ranges[1] or { from = 0, to = 0 }
    local word = match.snippet:sub(range.from + 1, range.to)
    shown:reveal({ turn = match.turnId, item = match.itemId, word = word })
  end
end

--- Forks a session at the turn of a match; if its title was found, the whole of it.
--- @param isolation? string
local function fork(isolation)
  return with(function(entry, match)
    local whole = match['in'] == 'title' or match.turnId == ''
    local list = api.nvim_get_current_win()
    local how = { turn = not whole and match.turnId or nil, isolation = isolation }
    sessions.fork(entry, how, function()
      pcall(api.nvim_win_close, list, true)
    end)
  end)
end

--- @param buf integer
--- @param matches cursord.Match[]
local function draw(buf, matches)
  local lines, marks = {}, {}
  for i, match in ipairs(matches) do
    local about = ('%-9s %-8s'):format(times.age(match.at), match['in'])
    local title = message.cut(match.title:gsub('%s*\n.*', ' …'), 30)
    local front = about .. ' ' .. title .. ': '
    lines[i] = front .. match.snippet
    marks[#marks + 1] = { row = i - 1, from = 0, to = #about, group = 'CursordNote' }
    for _, range in ipairs(match.ranges) do
      local from, to = #front + range.from, #front + range.to
      marks[#marks + 1] = { row = i - 1, from = from, to = to, group = 'Search' }
    end
  end
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  for _, m in ipairs(marks) do
    api.nvim_buf_set_extmark(buf, ns, m.row, m.from, { end_col = m.to, hl_group = m.group })
  end
end

--- Searches all sessions, and lists the places.
--- @param ws cursord.Workspace
--- @param words string
function M.open(ws, words)
  rpc.request('search', { query = words, limit = most }, function(err, result)
    if err then
      return rpc.say_error(err)
    end
    if #result.matches == 0 then
      return rpc.say(('no session has %s'):format(words))
    end
    local from = api.nvim_get_current_win()
    vim.cmd('botright 12split')
    require('cursord.windows').back_to(from)
    local buf = api.nvim_create_buf(false, true)
    api.nvim_win_set_buf(0, buf)
    vim.bo[buf].bufhidden = 'wipe'
    vim.b[buf].cursord_root = ws.root
    found[buf] = result.matches
    for name, value in pairs({
      number = false,
      relativenumber = false,
      signcolumn = 'no',
      wrap = false,
      cursorline = true,
      statusline = ' Cursor: places that have ' .. words:gsub('%%', '%%%%') .. '%=%l/%L ',
    }) do
      api.nvim_set_option_value(name, value, { win = 0, scope = 'local' })
    end
    draw(buf, result.matches)
    keys.map(buf, {
      { 'go to it in its session', '<CR>', 'n', with(go) },
      { 'another session up to its turn', 'F', 'n', fork() },
      { 'the same, in a copy', 'C', 'n', fork('copy') },
      {
        'look at what was said last',
        'K',
        'n',
        with(function(entry)
          require('cursord.sessions.list').preview(entry)
        end),
      },
      { 'close', 'q', 'n', '<C-w>c' },
      { 'these keys', 'g?', 'n', keys.help },
    })
    api.nvim_create_autocmd('BufWipeout', {
      buffer = buf,
      callback = function()
        found[buf] = nil
      end,
    })
  end)
end

return M
