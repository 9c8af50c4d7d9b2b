--- The review buffer: all hunks of a workspace, or those of a turn, as one patch. It follows all changes, and the cursor
--- stays on its hunk.
local decide = require('cursord.review.decide')
local message = require('cursord.message')
local nav = require('cursord.review.nav')
local paint = require('cursord.review.paint')
local patch = require('cursord.review.patch')
local places = require('cursord.review.places')
local keys = require('cursord.review.keys')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

--- @class cursord.Review
--- @field ws cursord.Workspace
--- @field buf integer
--- @field lines cursord.PatchLine[]
--- @field turn? string show the hunks of this turn alone
--- @field prompt? string the prompt of that turn

local reviews = {} --- @type table<integer, cursord.Review> by buffer

local empty = 'Nothing to review.'

--- @param self cursord.Review
--- @return cursord.PatchLine[]
local function wanted_lines(self)
  local out = {} --- @type cursord.PatchLine[]
  local width = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    width = math.min(width, api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff)
  end
  local function wanted(hunk)
    local of = self.turn == nil
    for _, source in ipairs(self.turn and hunk.sources or {}) do
      of = of or source.turnId == self.turn
    end
    return of and not decide.is_deciding(hunk.id)
  end
  for _, path in ipairs(nav.paths(self.ws)) do
    paint.prepare(path)
    patch.add(self.ws.diffs[path], wanted, width, out)
  end
  return out
end

--- The id of a line's hunk, or the path of its file.
--- @param line cursord.PatchLine
local function owner(line)
  return line.hunk and line.hunk.id or line.path
end

--- @param lines cursord.PatchLine[]
--- @return table<string, integer> # the first line of each hunk and file
local function index(lines)
  local first = {}
  for i, line in ipairs(lines) do
    first[owner(line)] = first[owner(line)] or i
  end
  return first
end

--- The new place of a line after a redraw: in its hunk, else in the next hunk that is left.
--- @param old cursord.PatchLine[]
--- @param first table<string, integer>
--- @param new cursord.PatchLine[]
--- @param at integer
local function moved(old, first, new, at)
  local here = old[at]
  if not here then
    return 1
  end
  local begin = at
  while begin > 1 and owner(old[begin - 1]) == owner(here) do
    begin = begin - 1
  end
  local now = first[owner(here)]
  if now then
    local to = now + at - begin
    return new[to] and owner(new[to]) == owner(here) and to or now
  end
  for _, span in ipairs({ { at, #old, 1 }, { begin, 1, -1 } }) do
    for i = span[1], span[2], span[3] do
      local to = old[i].hunk and first[old[i].hunk.id]
      if to then
        return to
      end
    end
  end
  return 1
end

--- @param a cursord.PatchLine?
--- @param b cursord.PatchLine?
local function is_same(a, b)
  return a ~= nil and b ~= nil and a.text == b.text and owner(a) == owner(b)
end

--- @param self cursord.Review
function M.draw(self)
  local old, new = self.lines, wanted_lines(self)
  local head, tail = 0, 0
  while is_same(old[head + 1], new[head + 1]) do
    head = head + 1
  end
  while tail < math.min(#old, #new) - head and is_same(old[#old - tail], new[#new - tail]) do
    tail = tail + 1
  end
  self.lines = new
  if head == #old and head == #new and head > 0 then
    return
  end
  local first, cursors = index(new), {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    local at = api.nvim_win_get_cursor(win)
    cursors[win] = { moved(old, first, new, at[1]), at[2] }
  end
  local texts = {}
  for i = head + 1, #new - tail do
    texts[#texts + 1] = new[i].text
  end
  if #new == 0 then
    texts, tail = { self.turn and 'Nothing of this turn is left to review.' or empty }, 0
  end
  vim.bo[self.buf].modifiable = true
  local last = #old == 0 and -1 or #new == 0 and -1 or #old - tail
  api.nvim_buf_set_lines(self.buf, head, last, false, texts)
  vim.bo[self.buf].modifiable, vim.bo[self.buf].modified = false, false
  for win, at in pairs(cursors) do
    api.nvim_win_set_cursor(win, { math.max(at[1], 1), at[2] })
    vim.wo[win][0].foldmethod = 'expr' -- Neovim updates folds of changed lines only, and gets those behind them wrong
  end
end

--- @param buf integer
--- @return cursord.PatchLine?
local function line_at(buf, row)
  local self = reviews[buf]
  return self and self.lines[row + 1]
end

local groups = { file = 'CursordFile', note = 'CursordMaybeText', hunk = 'CursordRange' }

--- @param self cursord.Review
--- @param turn? string
function M.set_turn(self, turn)
  self.turn = turn
  self.prompt = turn and self.ws.turns[turn] and self.ws.turns[turn].prompt
  if not turn or self.prompt then
    return
  end
  local session --- @type string?
  for _, diff in pairs(self.ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      for _, source in ipairs(hunk.sources or {}) do
        session = source.turnId == turn and source.sessionId or session
      end
    end
  end
  rpc.request('turn/list', { sessionId = session, limit = 100 }, function(_, result)
    for _, one in ipairs(result and result.turns or {}) do
      if one.id == self.turn then
        self.prompt = one.prompt
        vim.cmd.redrawstatus({ bang = true })
      end
    end
  end)
end

local fold_levels = { file = '>1', note = '1', hunk = '>2', line = '2' }

--- For 'foldexpr': files, and hunks in them.
--- @return string
function M.fold()
  local line = line_at(api.nvim_get_current_buf(), vim.v.lnum - 1)
  return line and fold_levels[line.kind] or '0'
end

local bar_keys = { 'a accept', 'r reject', 'u undo', 'm remark', 'g?' }

--- For 'winbar'.
--- @return string
function M.winbar()
  local win = vim.g.statusline_winid or 0
  local self = reviews[api.nvim_win_get_buf(win)]
  if not self then
    return ''
  end
  local counts, hunks, files = require('cursord.review.counts'), {}, {}
  for _, line in ipairs(self.lines) do
    files[line.path] = true
    if line.hunk then
      hunks[line.hunk.id] = true
    end
  end
  local text = not self.ws.loaded and 'not connected'
    or next(hunks) == nil and 'nothing to review'
    or ('%s in %s'):format(
      counts.count(vim.tbl_count(hunks), 'hunk'),
      counts.count(vim.tbl_count(files), 'file')
    )
  if self.turn then
    text = text .. ' of "' .. message.cut((self.prompt or 'a turn'):gsub('%s+', ' '), 30) .. '"'
  end
  local width = api.nvim_win_get_width(win)
  return require('cursord.winbar').keys(text, bar_keys, width)
end

--- @param ws cursord.Workspace
--- @return cursord.Review
local function review_of(ws)
  for _, self in pairs(reviews) do
    if self.ws == ws then
      return self
    end
  end
  local buf = api.nvim_create_buf(false, true)
  local self = { ws = ws, buf = buf, lines = {} } --- @type cursord.Review
  reviews[buf] = self
  api.nvim_buf_set_name(buf, ('cursord://review/%d/%s'):format(buf, vim.fs.basename(ws.root)))
  vim.b[buf].cursord_root = ws.root
  vim.bo[buf].bufhidden, vim.bo[buf].swapfile, vim.bo[buf].undolevels = 'hide', false, -1
  vim.bo[buf].filetype = 'cursord_review'
  vim.bo[buf].modifiable = false
  paint.attach(buf, function(row)
    local line = self.lines[row + 1]
    return line
      and { group = groups[line.kind], hunk = line.hunk, index = line.index, path = line.path }
  end)
  places.others[buf] = {
    ws = ws,
    path = function(row)
      return (line_at(buf, row) or {}).path
    end,
    hunk = function(row)
      return (line_at(buf, row) or {}).hunk
    end,
    parts = function(first, last)
      return keys.parts(self, first, last)
    end,
  }
  keys.map(self)
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      reviews[buf], places.others[buf] = nil, nil
    end,
  })
  return self
end

local function set_options(win)
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    wrap = false,
    list = false,
    spell = false,
    cursorline = true,
    winbar = "%{%v:lua.require'cursord.review.buffer'.winbar()%}",
    foldmethod = 'expr',
    foldexpr = "v:lua.require'cursord.review.buffer'.fold()",
    foldlevel = 99,
    foldenable = true,
    foldtext = '',
    fillchars = 'fold: ',
    winhighlight = 'Folded:CursordFolded',
  }) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
  if not require('cursord.config').own_statusline then
    local title = ' Cursor: review%=%l,%c '
    api.nvim_set_option_value('statusline', title, { win = win, scope = 'local' })
  end
end

--- Opens the review buffer, for all turns or for one, and goes to the hunk that the cursor was on.
--- @param ws cursord.Workspace
--- @param turn? string
function M.open(ws, turn)
  local from, at = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1] - 1
  local place = places.at(from, at)
  local self = review_of(ws)
  M.set_turn(self, turn)
  local win, fresh = vim.fn.win_findbuf(self.buf)[1], false
  if win and vim.list_contains(api.nvim_tabpage_list_wins(0), win) then
    api.nvim_set_current_win(win)
  else
    local last = api.nvim_get_current_win()
    vim.cmd(('botright %dsplit'):format(math.max(math.floor(vim.o.lines * 0.6), 5)))
    require('cursord.windows').back_to(last)
    api.nvim_win_set_buf(0, self.buf)
    set_options(0)
    fresh = true
  end
  M.draw(self)
  local row = place and from ~= self.buf and index(self.lines)[place.id]
  for i = 1, row and 0 or #self.lines do
    row = row or self.lines[i].kind == 'hunk' and i or nil
  end
  if row and (place or fresh) then
    api.nvim_win_set_cursor(0, { row, 0 })
  end
end

--- Moves the cursor of a window to a hunk, if the buffer shows it.
--- @param self cursord.Review
--- @param win integer
--- @param hunk string
function M.go(self, win, hunk)
  M.draw(self)
  local row = index(self.lines)[hunk]
  if row then
    api.nvim_win_set_cursor(win, { row, 0 })
    api.nvim_win_call(win, function()
      vim.cmd('normal! zv')
    end)
  end
end

--- Draws the review buffers of a workspace again.
--- @param ws cursord.Workspace
function M.refresh(ws)
  for _, self in pairs(reviews) do
    if self.ws == ws then
      M.draw(self)
    end
  end
end

local waiting, cost = {}, 0

--- Draws once for many changes, and less often if drawing takes long.
--- @param ws cursord.Workspace
local function refresh_soon(ws)
  if next(reviews) and not waiting[ws] then
    waiting[ws] = true
    vim.defer_fn(function()
      waiting[ws] = nil
      local began = vim.uv.hrtime()
      M.refresh(ws)
      cost = (vim.uv.hrtime() - began) / 1e6
    end, math.min(math.floor(cost * 5), 2000))
  end
end

for _, event in ipairs({ 'diff', 'reset', 'ready', 'down' }) do
  workspace.on(event, refresh_soon)
end

-- Notes fit into the windows.
api.nvim_create_autocmd('WinResized', {
  group = api.nvim_create_augroup('cursord_review', {}),
  callback = function()
    for _, self in pairs(reviews) do
      M.draw(self)
    end
  end,
})

return M
