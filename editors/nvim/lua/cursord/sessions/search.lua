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

--- @class cursord.Found
--- @field ws cursord.Workspace
--- @field words string what was asked for last; the answer to anything else is dropped
--- @field shown? string the words that the list answers
--- @field matches cursord.Match[]

local found = {} --- @type table<integer, cursord.Found> by buffer

--- @param buf integer
--- @return cursord.Found?
function M.of(buf)
  return found[buf]
end

--- Calls act with the session of the match at the cursor, and with the match.
--- @param act fun(entry: cursord.SessionEntry, match: cursord.Match)
local function with(act)
  return function()
    local list = found[api.nvim_get_current_buf()]
    local match = list and list.matches[api.nvim_win_get_cursor(0)[1]]
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

--- Shows a session in the chat of its folder, at the place of a match; of a title at its end. The chat takes the room of the
--- list, too.
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

--- Windows with fewer columns show titles and places alone.
local narrow = 60

--- What is in front of a place.
--- @param match cursord.Match
--- @param width integer of the window
--- @return string about its age and kind
--- @return string title
local function front(match, width)
  local about = ('%-9s %-8s '):format(times.age(match.at), match['in'])
  local title =
    message.cut(match.title:gsub('%s*\n.*', ' …'), math.min(30, math.floor(width / 4)))
  return width < narrow and '' or about, title .. ': '
end

--- Leaves the beginning of a place out, so that what was found can be seen.
--- @param match cursord.Match
--- @param room integer columns
--- @return string text
--- @return integer # by how many bytes what was found is more to the left
local function in_sight(match, room)
  local first, text = match.ranges[1], match.snippet
  if not first or api.nvim_strwidth(text:sub(1, first.to)) <= room then
    return text, 0
  end
  local from, dots = first.from, '…'
  while from > 0 and api.nvim_strwidth(text:sub(from + 1, first.to)) < room / 2 do
    from = from + vim.str_utf_start(text, from) - 1
  end
  return dots .. text:sub(from + 1), from - #dots
end

--- @param win integer of the list
--- @param note? string what is shown if there is no place
local function draw(win, note)
  local buf, width = api.nvim_win_get_buf(win), api.nvim_win_get_width(win)
  local lines, marks = {}, {}
  for i, match in ipairs(found[buf].matches) do
    local about, title = front(match, width)
    local text, less = in_sight(match, width - api.nvim_strwidth(about .. title))
    lines[i] = about .. title .. text
    marks[#marks + 1] = { row = i - 1, from = 0, to = #about, group = 'CursordNote' }
    for _, range in ipairs(match.ranges) do
      local from = #about + #title - less + range.from
      local to = from + range.to - range.from
      marks[#marks + 1] = { row = i - 1, from = from, to = to, group = 'Search' }
    end
  end
  if #lines == 0 then
    lines[1] = note or ''
    marks[1] = { row = 0, from = 0, to = #lines[1], group = 'CursordNote' }
  end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for _, m in ipairs(marks) do
    api.nvim_buf_set_extmark(buf, ns, m.row, m.from, { end_col = m.to, hl_group = m.group })
  end
end

--- @param win integer
--- @param words string
--- @param some boolean there are places to count
local function set_status(win, words, some)
  local about = words ~= '' and 'places that have ' .. words:gsub('%%', '%%%%') or 'search'
  local text = (' Cursor: %s%%=%s '):format(about, some and '%l/%L' or '')
  api.nvim_set_option_value('statusline', text, { win = win, scope = 'local' })
end

--- Shows places in the list, the first one under the cursor; without any, a note.
--- @param win integer of the list
--- @param words string
--- @param matches cursord.Match[]
--- @param note? string
function M.show(win, words, matches, note)
  local list = found[api.nvim_win_get_buf(win)]
  list.matches, list.words, list.shown = matches, words, words
  draw(win, note)
  set_status(win, words, #matches > 0)
  api.nvim_win_set_cursor(win, { 1, 0 })
end

--- Opens the list, or goes to it if it is open in this tab page.
--- @param ws cursord.Workspace
--- @return integer win
function M.list(ws)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local old = found[api.nvim_win_get_buf(win)]
    if old then
      old.ws = ws
      api.nvim_set_current_win(win)
      return win
    end
  end
  local from = api.nvim_get_current_win()
  vim.cmd(('botright %dsplit'):format(math.min(12, math.max(math.floor(vim.o.lines / 2) - 2, 1))))
  require('cursord.windows').back_to(from)
  local buf, win = api.nvim_create_buf(false, true), api.nvim_get_current_win()
  api.nvim_win_set_buf(win, buf)
  vim.bo[buf].bufhidden = 'wipe'
  vim.b[buf].cursord_root = ws.root
  found[buf] = { ws = ws, words = '', matches = {} }
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    wrap = false,
    cursorline = true,
  }) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
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
    {
      'other words',
      'i',
      'n',
      function()
        require('cursord.sessions.typing').open(found[buf].ws, found[buf].words)
      end,
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
  return win
end

--- Searches all sessions, and calls done with the places or what is wrong.
--- @param words string
--- @param done fun(matches: cursord.Match[], err?: cursord.Error)
local function ask(words, done)
  rpc.request('search', { query = words, limit = most }, function(err, result)
    done(not err and result.matches or {}, err)
  end)
end

--- Searches all sessions and shows the places in the open list, unless other words were asked for meanwhile.
--- @param win integer of the list
--- @param words string
--- @param done fun() called when they are shown
function M.search(win, words, done)
  local buf = api.nvim_win_get_buf(win)
  found[buf].words = words
  ask(words, function(matches, err)
    local list = found[buf]
    if list and list.words == words and api.nvim_win_is_valid(win) then
      M.show(win, words, matches, err and err.message or 'no session has ' .. words)
      done()
    end
  end)
end

--- Searches all sessions, and lists the places.
--- @param ws cursord.Workspace
--- @param words string
function M.open(ws, words)
  ask(words, function(matches, err)
    if err then
      rpc.say_error(err)
    elseif #matches == 0 then
      rpc.say(('no session has %s'):format(words))
    else
      M.show(M.list(ws), words, matches)
    end
  end)
end

api.nvim_create_autocmd('WinResized', {
  group = api.nvim_create_augroup('cursord_search', {}),
  callback = function()
    for buf, list in pairs(found) do
      local win = vim.fn.bufwinid(buf)
      if win > 0 and #list.matches > 0 then
        draw(win)
      end
    end
  end,
})

return M
