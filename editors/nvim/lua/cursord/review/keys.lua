--- Keys of the review buffer.
local decide = require('cursord.review.decide')
local keys = require('cursord.keys')
local message = require('cursord.message')
local nav = require('cursord.review.nav')
local patch = require('cursord.review.patch')
local rpc = require('cursord.rpc')

local api = vim.api
local M = {}

local function buffer()
  return require('cursord.review.buffer')
end

--- The line under the cursor.
--- @param self cursord.Review
--- @return cursord.PatchLine?
local function here(self)
  return self.lines[api.nvim_win_get_cursor(0)[1]]
end

--- @param hunk cursord.Hunk
--- @return string? # the last turn that had a part in the hunk
local function turn_of(hunk)
  local source = hunk.sources and hunk.sources[#hunk.sources]
  return source and source.turnId
end

--- The hunks in a range of rows, or the parts of them. The first line of a hunk alone stands for the whole hunk; context
--- lines stand for nothing.
--- @param self cursord.Review
--- @param first integer
--- @param last integer
--- @return cursord.Part[]
function M.parts(self, first, last)
  local out, by_id = {}, {}
  for row = first, math.min(last, #self.lines - 1) do
    local line = self.lines[row + 1]
    local hunk = line.hunk
    local part = hunk and by_id[hunk.id]
    if hunk and not part and (line.kind == 'hunk' or line.changed) then
      part = { id = hunk.id, hunk = hunk }
      by_id[hunk.id] = part
      out[#out + 1] = part
    end
    if part and line.changed then
      part.lines = { from = part.lines and part.lines.from or line.changed, to = line.changed + 1 }
    end
  end
  for _, part in ipairs(out) do
    local added, removed = patch.counts({ part.hunk })
    if part.lines and part.lines.to - part.lines.from == added + removed then
      part.lines = nil
    end
  end
  return out
end

--- @param verb 'accept'|'reject'
local function decide_here(verb)
  return function(self)
    local row, line = api.nvim_win_get_cursor(0)[1] - 1, here(self)
    if api.nvim_get_mode().mode:find('^[vV\22]') then
      local from, to = vim.fn.line('v') - 1, row
      api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
      require('cursord.review.here').range(verb, self.buf, math.min(from, to), math.max(from, to))
    elseif line and not line.hunk then
      decide.all(verb, self.ws, line.path)
    else
      require('cursord.review.here').at(verb, self.buf, row)
    end
  end
end

--- @param verb 'accept'|'reject'
local function decide_file(verb)
  return function(self)
    local line = here(self)
    if line then
      decide.all(verb, self.ws, line.path)
    end
  end
end

--- @param verb 'accept'|'reject'
local function decide_shown(verb)
  return function(self)
    decide.all(verb, self.ws, nil, { turn = self.turn })
  end
end

--- Undoes, or redoes, the latest decision. The cursor goes to the hunk that comes back, so that the next key is about it.
--- @param verb 'undo'|'redo'
local function step(verb)
  return function(self)
    local win = api.nvim_get_current_win()
    decide.step(verb, self.ws, function(restored)
      if restored and api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == self.buf then
        buffer().go(self, win, restored)
      end
    end)
  end
end

--- Goes to the next line of a kind, or to the one before.
--- @param kinds table<string, true>
--- @param by integer
local function move(kinds, by)
  return function(self)
    local at, left = api.nvim_win_get_cursor(0)[1], vim.v.count1
    local to
    for i = at + by, by > 0 and #self.lines or 1, by do
      if kinds[self.lines[i].kind] then
        to, left = i, left - 1
        if left == 0 then
          break
        end
      end
    end
    if not to then
      return message.note(by > 0 and 'this is the last one' or 'this is the first one')
    end
    vim.cmd("normal! m'")
    api.nvim_win_set_cursor(0, { to, 0 })
    vim.cmd('normal! zv')
  end
end

--- Goes to the line under the cursor in its file.
--- @param self cursord.Review
local function jump(self)
  local line = here(self)
  if not line then
    return
  end
  local diff = self.ws.diffs[line.path]
  if diff and diff.kind == 'deleted' and not (line.hunk and line.hunk.isolated) then
    return message.note('the file was deleted; what it had is here')
  end
  nav.go(self.ws, line.path, line.row)
end

--- Shows only the hunks of the turn that made the one under the cursor, or all again.
--- @param self cursord.Review
local function by_turn(self)
  local line = here(self)
  if self.turn then
    self.turn, self.prompt = nil, nil
  else
    local hunk = line and line.hunk
    if line and not hunk then
      hunk = self.ws.diffs[line.path] and self.ws.diffs[line.path].hunks[1]
    end
    buffer().set_turn(self, hunk and turn_of(hunk))
    if not self.turn then
      return message.note('no turn is known for this')
    end
  end
  buffer().draw(self)
  vim.cmd.redrawstatus()
end

--- @param self cursord.Review
local function dismiss(self)
  local line = here(self)
  if line and vim.startswith(line.path, '/') then
    decide.dismiss(self.ws, line.path)
  elseif line then
    rpc.say(line.path .. ' is in the workspace: accept or reject it', vim.log.levels.WARN)
  end
end

--- @param self cursord.Review
local function beside(self)
  local line = here(self)
  if line then
    require('cursord.review.beside').open(self.ws, line.path, line.hunk)
  end
end

--- @param self cursord.Review
local function comment(self)
  local line = here(self)
  local diff = line and self.ws.diffs[line.path]
  local hunk = line and line.hunk or diff and diff.hunks[1]
  if hunk then
    decide.comment(self.ws, hunk.id)
  else
    message.note('there is no hunk here')
  end
end

local function close()
  if not pcall(api.nvim_win_close, 0, true) then
    vim.cmd.enew()
  end
end

local hunk_lines = { hunk = true }
local file_lines = { file = true }

--- @type { [1]: string, [2]: string|string[], [3]: string, [4]: fun(self: cursord.Review) }[]
local actions = {
  { 'accept hunk or selection', 'a', 'nx', decide_here('accept') },
  { 'reject hunk or selection', 'r', 'nx', decide_here('reject') },
  { 'accept the file', 'A', 'n', decide_file('accept') },
  { 'reject the file', 'R', 'n', decide_file('reject') },
  { 'accept all that is shown', 'ga', 'n', decide_shown('accept') },
  { 'reject all that is shown', 'gr', 'n', decide_shown('reject') },
  { 'undo the latest decision', 'u', 'n', step('undo') },
  { 'redo', { 'U', '<C-r>' }, 'n', step('redo') },
  { 'remark to the agent', { 'm', 'c' }, 'n', comment },
  { 'this turn alone, or all', 't', 'n', by_turn },
  { 'go to the file', { '<CR>', 'gd', 'gf' }, 'n', jump },
  { 'beside what it was', 'd', 'n', beside },
  { 'dismiss a file outside', 'x', 'n', dismiss },
  { 'the next hunk', { ']c', 'J' }, 'n', move(hunk_lines, 1) },
  { 'the hunk before', { '[c', 'K' }, 'n', move(hunk_lines, -1) },
  { 'the next file', ']]', 'n', move(file_lines, 1) },
  { 'the file before', '[[', 'n', move(file_lines, -1) },
  { 'close', 'q', 'n', close },
}

--- @param self cursord.Review
function M.map(self)
  for _, action in ipairs(actions) do
    local about, lhs, modes, act = unpack(action)
    keys.map(self.buf, {
      {
        about,
        lhs,
        modes,
        function()
          act(self)
        end,
      },
    })
  end
  keys.map(self.buf, {
    { 'fold, or unfold', '<Tab>', 'n', 'za' },
    { 'these keys', 'g?', 'n', keys.help },
  })
end

return M
