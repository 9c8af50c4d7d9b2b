--- Messages. None makes Neovim wait for a key: a message that does not fit into the last line of the screen is cut there,
--- and ":Cursord messages" shows all of it.
local api = vim.api
local M = {}

--- @class cursord.Message
--- @field text string
--- @field level integer
--- @field lasting boolean it goes into Neovim's history of messages

local kept_most, text_most = 500, 64 * 1024

local kept = {} --- @type string[] what was said, the latest last
local queue = {} --- @type cursord.Message[]
local before = {} --- @type fun()[] what else is to be shown, and can be overwritten
local waiting = false

local highlights = {
  [vim.log.levels.ERROR] = 'ErrorMsg',
  [vim.log.levels.WARN] = 'WarningMsg',
}

--- Whether vim.notify is Neovim's own. It makes Neovim wait for a key if a text is long.
local function is_own_notify()
  local source = debug.getinfo(vim.notify, 'S').source
  return source:find('^=?%?$') ~= nil -- newer versions have it compiled in
    or source:find('vim/_editor', 1, true) ~= nil
    or source:find('_core/editor', 1, true) ~= nil
end

--- Cuts a text to a number of cells.
--- @param text string
--- @param width integer
--- @return string
function M.cut(text, width)
  if api.nvim_strwidth(text) <= width then
    return text
  end
  local part = vim.fn.strcharpart(text, 0, math.max(width - 1, 0))
  while part ~= '' and api.nvim_strwidth(part) > width - 1 do
    part = vim.fn.strcharpart(part, 0, vim.fn.strchars(part) - 1)
  end
  return part .. '…'
end

--- Splits a text into lines of a number of cells, at its blanks. A longer word has a line of its own.
--- @param text string
--- @param width integer
--- @return string[]
function M.fold(text, width)
  local out, line = {}, ''
  for word in text:gmatch('%S+') do
    if line ~= '' and api.nvim_strwidth(line) + 1 + api.nvim_strwidth(word) > width then
      out[#out + 1], line = line, word
    else
      line = line == '' and word or line .. ' ' .. word
    end
  end
  out[#out + 1] = line
  return out
end

--- The first line of a message, with what to do from the second one. That is first if there is no room for both: the end is
--- cut.
--- @param text string
--- @param width integer
--- @return string line
--- @return string rest what the line lacks
local function in_one(text, width)
  local line, rest = text:match('^([^\n]*)(.*)$')
  line = line:gsub('%c', ' ')
  local way = rest:match('^\n  ([^\n]+)$')
  local bare = line:gsub('^cursord: ', '')
  if way and api.nvim_strwidth(bare .. way) + 2 <= width then
    return line .. '; ' .. way, ''
  elseif way and api.nvim_strwidth(way) <= width / 2 then
    return way .. ': ' .. bare, rest
  end
  return line, rest
end

--- Makes one line of all waiting messages: the most severe, and of equals the latest.
--- @return cursord.Message
local function gravest()
  local out = table.remove(queue)
  local more = 0
  for i = #queue, 1, -1 do
    if queue[i].lasting then
      more = more + 1
    end
    if queue[i].level > out.level then
      out = queue[i]
    end
  end
  queue = {}
  local width = vim.v.echospace + (math.max(vim.o.cmdheight, 1) - 1) * vim.o.columns
  local line, rest = in_one(out.text, width)
  if api.nvim_strwidth(line) > width then
    line = line:gsub('^cursord: ', '') -- the room is for what is said
  end
  local hint = ' … :Cursord messages'
  if (rest ~= '' or more > 0 or api.nvim_strwidth(line) > width) and width > 3 * #hint then
    line = (M.cut(line, width - #hint + 2) .. hint):gsub('… …', ' …', 1)
  end
  return { text = M.cut(line, width), level = out.level, lasting = out.lasting }
end

local function show()
  local mode = api.nvim_get_mode()
  if mode.blocking or mode.mode:find('^[cr]') then
    vim.defer_fn(show, 100) -- the person types a command, or answers a question
    return
  end
  waiting = false
  local others = before
  before = {}
  for _, act in ipairs(others) do
    act()
  end
  if #queue > 0 then
    local message = gravest()
    vim.cmd.redraw() -- the message overwrites the last line, and does not scroll the screen
    api.nvim_echo({ { message.text, highlights[message.level] } }, message.lasting, {})
  end
end

local function show_soon()
  if not waiting then
    waiting = true
    vim.schedule(show)
  end
end

--- Keeps a text for ":Cursord messages".
--- @param text string
local function keep(text)
  kept[#kept + 1] = #text > text_most and text:sub(1, text_most) .. '…' or text
  if #kept > kept_most then
    table.remove(kept, 1)
  end
end

--- Says something that goes into Neovim's own history of messages, too.
--- @param text string
--- @param level? integer
function M.say(text, level)
  text, level = 'cursord: ' .. text, level or vim.log.levels.INFO
  keep(text)
  if not is_own_notify() then
    vim.notify(text, level)
    return
  end
  queue[#queue + 1] = { text = text, level = level, lasting = true }
  show_soon()
end

local noted = { text = '', at = -math.huge } --- what was done last, and when

--- Says what was done.
--- @param text string
function M.note(text)
  noted = { text = text, at = vim.uv.now() }
  keep('cursord: ' .. text)
  queue[#queue + 1] = { text = text, level = vim.log.levels.INFO, lasting = false }
  show_soon()
end

--- Says what has followed from what was just done, behind the words about that. Returns false, and says nothing, if nothing was.
--- @param text string
--- @return boolean
function M.note_more(text)
  local fresh = vim.uv.now() - noted.at < 1000
  if fresh then
    M.note(noted.text .. '; ' .. text)
  end
  return fresh
end

--- Runs act before the next message is shown. It writes to the last line of the screen, too.
--- @param act fun()
function M.show_first(act)
  before[#before + 1] = act
  show_soon()
end

--- Shows all messages, the latest at the end. The cursor is on the first line of the latest, and as much of it is shown as
--- half of the screen has room for.
function M.open()
  if #kept == 0 then
    return api.nvim_echo({ { 'nothing was said' } }, false, {})
  end
  local lines = vim.split(table.concat(kept, '\n'), '\n', { plain = true })
  local first = #lines - select(2, kept[#kept]:gsub('\n', ''))
  local from = api.nvim_get_current_win()
  vim.cmd('botright ' .. math.min(#lines, 10) .. 'new')
  require('cursord.windows').back_to(from)
  local buf = api.nvim_get_current_buf()
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'wipe', false
  api.nvim_buf_set_name(buf, ('cursord://messages/%d'):format(buf))
  vim.wo[0][0].statusline = ' Cursor: messages%=%l,%c '
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.wo[0][0].wrap = false, true
  vim.keymap.set('n', 'q', '<C-w>c', { buffer = buf, desc = 'cursord: close' })
  vim.wo[0][0].scrolloff = 0
  local all = api.nvim_win_text_height(0, {}).all
  local latest = api.nvim_win_text_height(0, { start_row = first - 1 }).all
  local height = math.min(all, math.max(latest, 10), math.max(math.floor(vim.o.lines / 2), 1))
  api.nvim_win_set_height(0, height)
  api.nvim_win_set_cursor(0, { latest > height and first or #lines, 0 })
  vim.cmd('normal! ' .. (latest > height and 'zt' or 'zb'))
  api.nvim_win_set_cursor(0, { first, 0 })
end

return M
