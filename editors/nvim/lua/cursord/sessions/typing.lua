--- Searches all sessions while a person types: a prompt above the list of places, and above that what was said at the chosen one.
local keys = require('cursord.keys')
local message = require('cursord.message')
local place = require('cursord.sessions.place')
local search = require('cursord.sessions.search')

local api = vim.api
local M = {}

local prompt = '> '
local hint = 'words of prompts, answers, commands, paths, titles; "quoted": a phrase'

--- How long the person has not typed when the daemon is asked, in milliseconds.
local pause = 60

--- The rows of the prompt and of the preview's border, and the fewest rows of text that are worth a preview.
local prompt_rows, border_rows, preview_min = 3, 2, 2

--- @class cursord.Typing
--- @field list integer the window of the list
--- @field from integer the window that the person came from
--- @field buf integer of the prompt
--- @field win? integer of the prompt; nil when it is closed
--- @field preview? integer the window of the preview
--- @field seen? cursord.Match what is previewed
local Typing = {}
Typing.__index = Typing

--- The keys for which there is room. The last one goes last: it is the way out.
--- @param width integer
--- @return string
local function footer(width)
  for _, text in ipairs({
    ' <CR> to the list · <C-n> <C-p> choose · <Esc> close ',
    ' <CR> to the list · <Esc> close ',
  }) do
    if api.nvim_strwidth(text) <= width then
      return text
    end
  end
  return message.cut(' <Esc> close ', width)
end

--- Where the prompt is: right above the list.
--- @return vim.api.keyset.win_config
function Typing:prompt_place()
  local width = math.max(api.nvim_win_get_width(self.list) - 2, 1)
  return {
    relative = 'win',
    win = self.list,
    anchor = 'SW',
    row = 0,
    col = 0,
    width = width,
    height = 1,
    title = message.cut(' Search all sessions ', width),
    footer = footer(width),
  }
end

--- Where the preview is: in the room above the prompt; nil if there is too little.
--- @param title string
--- @return vim.api.keyset.win_config?
function Typing:preview_place(title)
  local height = vim.fn.win_screenpos(self.list)[1] - 1 - prompt_rows - border_rows
  local width = math.max(vim.o.columns - 2, 1)
  return height >= preview_min
      and {
        relative = 'editor',
        row = 0,
        col = 0,
        width = width,
        height = height,
        title = message.cut((' %s '):format(title:gsub('%s*\n.*', ' …')), width),
      }
    or nil
end

function Typing:close_preview()
  if self.preview then
    pcall(api.nvim_win_close, self.preview, true)
  end
  self.preview, self.seen = nil, nil
end

--- Closes the prompt and the preview. The list stays.
function Typing:close()
  local win = self.win
  self.win = nil
  self:close_preview()
  if win then
    pcall(api.nvim_win_close, win, true)
  end
end

--- @param match cursord.Match
--- @param lines string[]
function Typing:draw_preview(match, lines)
  local at = self:preview_place(match.title)
  if not at then
    return self:close_preview()
  elseif not self.preview or not api.nvim_win_is_valid(self.preview) then
    local buf = api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden, vim.bo[buf].syntax = 'wipe', 'markdown'
    at.focusable, at.style, at.border, at.noautocmd = false, 'minimal', 'single', true
    self.preview = api.nvim_open_win(buf, false, at)
    vim.wo[self.preview][0].linebreak = true
  else
    api.nvim_win_set_config(self.preview, at)
  end
  api.nvim_buf_set_lines(api.nvim_win_get_buf(self.preview), 0, -1, false, lines)
  vim.fn.clearmatches(self.preview)
  local words = place.words(match)
  for _, word in ipairs(words) do
    local pattern = '\\c\\V' .. vim.fn.escape(word, '\\')
    vim.fn.matchadd('Search', pattern, 10, -1, { window = self.preview })
  end
  api.nvim_win_call(self.preview, function()
    local title = match['in'] == 'title'
    api.nvim_win_set_cursor(0, { title and #lines or 1, 0 })
    if words[1] and not title then
      vim.fn.search('\\c\\V' .. vim.fn.escape(words[1], '\\'), 'cW')
    end
    vim.cmd('normal! ' .. (title and 'zb' or 'zz'))
  end)
end

--- Shows what was said at the chosen place.
function Typing:look()
  local list = search.of(api.nvim_win_get_buf(self.list))
  local match = list and list.matches[api.nvim_win_get_cursor(self.list)[1]]
  if not match then
    return self:close_preview()
  end
  self.seen = match
  place.read(match, function(lines)
    if self.win and self.seen == match and api.nvim_win_is_valid(self.list) then
      self:draw_preview(match, lines)
    end
  end)
end

--- @return string
function Typing:words()
  local text = table.concat(api.nvim_buf_get_lines(self.buf, 0, -1, false), ' ')
  return vim.trim(vim.startswith(text, prompt) and text:sub(#prompt + 1) or text)
end

--- Searches for what is typed, when the person pauses.
function Typing:changed()
  local words, list = self:words(), search.of(api.nvim_win_get_buf(self.list))
  if not list or words == list.words then
    return
  elseif words == '' then
    search.show(self.list, '', {}, hint)
    return self:close_preview()
  end
  list.words = words
  vim.defer_fn(function()
    if self.win and list.words == words and list.shown ~= words then
      self:search(words)
    end
  end, pause)
end

--- @param words string
function Typing:search(words)
  search.search(self.list, words, function()
    if self.win then
      self:look()
    end
  end)
end

--- Chooses another place.
--- @param by integer rows
function Typing:choose(by)
  local list = search.of(api.nvim_win_get_buf(self.list))
  if list and #list.matches > 0 then
    local row = api.nvim_win_get_cursor(self.list)[1]
    api.nvim_win_set_cursor(self.list, { (row - 1 + by) % #list.matches + 1, 0 })
    self:look()
  end
end

--- Goes to the list.
function Typing:enter()
  local words, list = self:words(), search.of(api.nvim_win_get_buf(self.list))
  if words == '' then
    return self:leave()
  elseif list and list.shown == words and #list.matches == 0 then
    return -- the list says so
  end
  vim.cmd.stopinsert()
  api.nvim_set_current_win(self.list)
  self:close()
  if list and list.shown ~= words then
    self:search(words)
  end
end

--- Goes back to where the person came from, and closes the list, unless the person came from there.
function Typing:leave()
  vim.cmd.stopinsert()
  if api.nvim_win_is_valid(self.from) then
    api.nvim_set_current_win(self.from)
  end
  self:close()
  if self.from ~= self.list then
    pcall(api.nvim_win_close, self.list, true)
  end
end

--- Opens the list with a prompt above it.
--- @param ws cursord.Workspace
--- @param words? string
function M.open(ws, words)
  local self = setmetatable({ from = api.nvim_get_current_win() }, Typing)
  self.list = search.list(ws)
  self.buf = api.nvim_create_buf(false, true)
  vim.bo[self.buf].buftype, vim.bo[self.buf].bufhidden = 'prompt', 'wipe'
  vim.b[self.buf].cursord_root = ws.root
  vim.fn.prompt_setprompt(self.buf, prompt)
  local at = self:prompt_place()
  at.style, at.border = 'minimal', 'single'
  self.win = api.nvim_open_win(self.buf, true, at)
  if not words then
    search.show(self.list, '', {}, hint)
  else
    api.nvim_buf_set_lines(self.buf, 0, -1, false, { prompt .. words })
    self:look()
  end
  local function on(name, ...)
    local more = { ... }
    return function()
      if self.win and api.nvim_win_is_valid(self.list) then
        self[name](self, unpack(more))
      else
        self:close()
      end
    end
  end
  keys.map(self.buf, {
    { 'to the list', '<CR>', 'ni', on('enter') },
    { 'the next place', { '<C-n>', '<Down>' }, 'ni', on('choose', 1) },
    { 'the place before', { '<C-p>', '<Up>' }, 'ni', on('choose', -1) },
    { 'delete a word', '<C-w>', 'i', '<C-S-w>' }, -- in such buffers <C-w> begins a command about windows
    { 'close', { '<Esc>', '<C-c>' }, 'ni', on('leave') },
  })
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = self.buf,
    callback = on('changed'),
  })
  api.nvim_create_autocmd('WinLeave', {
    buffer = self.buf,
    once = true,
    callback = vim.schedule_wrap(function()
      self:close()
    end),
  })
  api.nvim_create_autocmd('VimResized', {
    callback = function()
      if not self.win or not api.nvim_win_is_valid(self.list) then
        return true
      end
      api.nvim_win_set_config(self.win, self:prompt_place())
      self:look()
    end,
  })
  vim.cmd('startinsert!')
end

return M
