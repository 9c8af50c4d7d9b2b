--- Keys of the chat.
local floats = require('cursord.floats')
local message = require('cursord.message')
local recall = require('cursord.recall')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_input')

--- @return cursord.Workspace?
local function here()
  return workspace.find()
end

local function close()
  local ws = here()
  if ws then
    require('cursord.chat').hide(ws)
  end
end

--- Goes to the next prompt of the transcript, or to the one before.
--- @param flags string of search()
local function prompt(flags)
  return function()
    for _ = 1, vim.v.count1 do
      if vim.fn.search('^## You$', flags .. 'W') == 0 then
        return message.note(flags == '' and 'this is the last prompt' or 'this is the first prompt')
      end
    end
  end
end

--- Where the link under the cursor leads, as in "[text](path:12)".
--- @return string?
local function destination()
  local line, col = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2] + 1
  for from, to, last in line:gmatch('()%[[^%]]*%]%(<?([^%s)>]+)[^)]*%)()') do
    if from <= col and col < last then
      return to
    end
  end
end

--- The file that a word names, as "path" or "path:12". Marks of bold and italics around it are no part of the name, unless a file
--- is called so.
--- @param ws cursord.Workspace
--- @param word string
--- @return string? path
--- @return integer line from 1
local function named(ws, word)
  local name, line = word:match('^(.-):(%d+)')
  name = name or word
  local before, behind = #name:match('^[*_~]*'), line and 0 or #name:match('[*_~]*$')
  for from = 1, before + 1 do
    for to = #name, #name - behind, -1 do
      local path = name:sub(from, to)
      if vim.startswith(path, ws.root .. '/') then
        path = path:sub(#ws.root + 2)
      end
      local stat = path ~= '' and vim.uv.fs_stat(vim.fs.joinpath(ws.root, path))
      if stat and stat.type == 'file' then
        return path, tonumber(line) or 1
      end
    end
  end
  return nil, 1
end

--- Goes to the file whose name is under the cursor, or opens the web page.
local function go_to_file()
  local ws = here()
  local word = (destination() or vim.fn.expand('<cWORD>'))
    :gsub('^[*_~]*[`\'"(%[<]+', '')
    :gsub('[`\'")%]>,;.][`\'")%]>,;.*_~]*$', '')
  local url = word:match('^[*_~]*(https?://.*)$')
  if url then
    local _, problem = vim.ui.open(url)
    return problem and message.note(problem)
  end
  local path, line = nil, 1
  if ws then
    path, line = named(ws, (word:gsub('file://', '', 1):gsub('#L(%d+)', ':%1')))
  end
  if not ws or not path then
    return message.note('there is nothing to open here; i goes to the input, g? shows the keys')
  end
  require('cursord.review.nav').go(ws, path, line - 1)
end

--- @return cursord.Transcript?
local function shown_here()
  local session = api.nvim_buf_get_name(0):match('^cursord://chat/(.*)$')
  return session and require('cursord.transcript').of(session)
end

--- The row of a call's first pending hunk; with a row, of the hunk nearest to it.
--- @param diff? cursord.Diff
--- @param item string
--- @param row? integer
--- @return integer?
local function row_of_hunk(diff, item, row)
  local marks, best = require('cursord.review.marks'), nil
  for _, hunk in ipairs(diff and diff.hunks or {}) do
    for _, source in ipairs(hunk.sources or {}) do
      local at = source.itemId == item and marks.row(hunk)
      if at and (not best or row and math.abs(at - row) < math.abs(best - row)) then
        best = at
      end
    end
  end
  return best
end

--- Acts on the line of the cursor: goes to the hunk of an edit or to a file that is named, or unfolds a call.
local function follow()
  local ws, shown = here(), shown_here()
  local block, n = nil, 0
  if shown then
    block, n = shown:call_at(api.nvim_win_get_cursor(0)[1] - 1)
  end
  local path = block and (block.tool.paths[n] or block.tool.path)
  if not ws or not block then
    return go_to_file()
  elseif not path then
    return #block.tool.lines > 1 and pcall(vim.cmd.normal, { 'za', bang = true }) or go_to_file()
  end
  if vim.startswith(path, ws.root .. '/') then
    path = path:sub(#ws.root + 2)
  end
  local row = block.tool.rows[n]
  local at = row_of_hunk(ws.diffs[path], block.item, row) or row or 0
  if not vim.uv.fs_stat(vim.fs.joinpath(ws.root, path)) and not ws.diffs[path] then
    return message.note('there is no file of that name any more: ' .. path)
  end
  require('cursord.review.nav').go(ws, path, at)
end

--- Folds or unfolds the call under the cursor. The daemon sends the details that it has left out.
local function unfold()
  local function see()
    local at = vim.fn.line('.')
    local last = at
    while vim.fn.foldlevel(last + 1) > 0 do
      last = last + 1
    end
    local hidden = vim.fn.foldclosed(at) == -1 and last - vim.fn.line('w$') or 0
    local by = math.min(hidden, at - vim.fn.line('w0'))
    if by > 0 then
      vim.cmd.normal({ by .. vim.keycode('<C-e>'), bang = true })
    end
  end
  local shown = shown_here()
  local block = shown and shown:call_at(api.nvim_win_get_cursor(0)[1] - 1)
  if shown and block and block.tool.cut then
    shown:read_whole(block, function()
      pcall(vim.cmd.normal, { 'zo', bang = true })
      see()
    end)
  else
    pcall(vim.cmd.normal, { 'za', bang = true })
    see()
  end
end

--- Yanks the block of code around the cursor.
local function yank_block()
  local row, last = api.nvim_win_get_cursor(0)[1], api.nvim_buf_line_count(0)
  local lines, open, first = api.nvim_buf_get_lines(0, 0, last, false), nil, nil
  for i, line in ipairs(lines) do
    local fence = line:match('^%s*(```+)') or line:match('^%s*(~~~+)')
    if fence and not open then
      open, first = fence, i
    elseif fence and vim.startswith(fence, open) and line:match('^%s*[`~]+%s*$') then
      if row >= first and row <= i then
        local block = vim.list_slice(lines, first + 1, i - 1)
        vim.fn.setreg(vim.v.register, block, 'l')
        return message.note(('%d line%s yanked'):format(#block, #block == 1 and '' or 's'))
      end
      open = nil
    end
  end
  message.note('there is no block of code here')
end

--- @param buf integer
--- @param keys { [1]: string, [2]: string|string[], [3]: string, [4]: fun()|string }[] what, key, modes, act
function M.map(buf, keys)
  for _, key in ipairs(keys) do
    local about, lhs, modes, act = unpack(key)
    for _, one in
      ipairs(type(lhs) == 'table' and lhs or { lhs } --[[@as string[] ]])
    do
      vim.keymap.set(vim.split(modes, ''), one, act, {
        buffer = buf,
        nowait = true,
        desc = 'cursord: ' .. about,
      })
    end
  end
end

--- @param lines string[]
--- @return integer
local function width_of(lines)
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, api.nvim_strwidth(line))
  end
  return width
end

--- Puts the second half of some lines beside the first.
--- @param lines string[]
--- @param column integer where the second half begins
--- @return string[]
local function in_two(lines, column)
  local out, half = {}, math.ceil(#lines / 2)
  for i = 1, half do
    local room = (' '):rep(column - api.nvim_strwidth(lines[i]))
    out[i] = lines[i] .. (lines[half + i] and room .. lines[half + i] or '')
  end
  return out
end

--- Lists the keys of this buffer in a float; "q" and <Esc> close it.
--- @param more? table<string, string> what else can be typed, by key
function M.help(more)
  local of = {} --- @type table<string, string[]> the keys of each action
  for _, mode in ipairs({ 'n', 'i' }) do
    for _, one in ipairs(api.nvim_buf_get_keymap(0, mode)) do
      local about = one.desc and one.desc:match('^cursord: (.*)$')
      of[about or ''] = of[about or ''] or {}
      if about and not vim.list_contains(of[about], one.lhs) then
        table.insert(of[about], one.lhs)
      end
    end
  end
  of[''] = nil
  for key, about in pairs(more or {}) do
    of[about] = { key }
  end
  local keys = {} --- @type table<string, string>
  for about, list in pairs(of) do
    table.sort(list)
    keys[about] = table.concat(list, ' ')
  end
  local lines, column = {}, width_of(vim.tbl_values(keys)) + 1
  for about, list in pairs(keys) do
    lines[#lines + 1] = list .. (' '):rep(column - #list) .. about
  end
  table.sort(lines)
  local most, width = vim.o.lines - 4, width_of(lines)
  if #lines > most and 2 * width + 4 <= vim.o.columns then
    lines = in_two(lines, width + 2)
    width = width_of(lines)
  end
  local opts = { focus_id = 'cursord_keys', border = 'single', wrap = false }
  opts.close_events = { 'InsertCharPre' }
  local ok, _, win = pcall(vim.lsp.util.open_floating_preview, lines, '', opts)
  if not ok or not win then
    return message.note('the screen is too small for the list of keys')
  end
  if win ~= api.nvim_get_current_win() then -- called a second time, it moves the cursor into the float
    floats.closed_by(win, { 'q', '<Esc>' })
    floats.closed_by_moves(win)
  end
  -- The float shows all keys, wherever the cursor is.
  local height = math.max(math.min(#lines, most), 1)
  local left = math.min(vim.fn.win_screenpos(0)[2] - 1, vim.o.columns - width - 2)
  api.nvim_win_set_config(win, {
    relative = 'editor',
    row = math.max(math.floor((vim.o.lines - height) / 2) - 1, 0),
    col = math.max(left, 0),
    width = math.max(math.min(width, vim.o.columns - 2), 1),
    height = height,
    footer = #lines > height and ' more: g? again, then j ' or nil,
  })
end

local function ask_again()
  require('cursord.again').send()
end

--- @param buf integer a transcript
function M.transcript(buf)
  M.map(buf, {
    { 'close the chat', 'q', 'n', close },
    { 'end the turn', '<C-c>', 'n', '<Cmd>Cursord cancel<CR>' },
    { 'take this turn and later back', 'X', 'n', '<Cmd>Cursord rewind<CR>' },
    { 'fork at this turn', 'F', 'n', '<Cmd>Cursord fork<CR>' },
    { 'fork at it, in a copy', 'C', 'n', '<Cmd>Cursord fork copy<CR>' },
    { 'edit the last prompt', 'e', 'n', '<Cmd>Cursord edit<CR>' },
    { 'ask again with the transcript', 'R', 'n', ask_again },
    { 'the next prompt', ']]', 'n', prompt('') },
    { 'the prompt before', '[[', 'n', prompt('b') },
    { 'go to the file at the cursor', { 'gd', 'gf' }, 'n', go_to_file },
    { 'go to the hunk or file', '<CR>', 'n', follow },
    { 'unfold, or fold', { '<Tab>', 'za' }, 'n', unfold },
    { 'yank the block of code', 'gy', 'n', yank_block },
    { 'these keys', 'g?', 'n', M.help },
  })
end

--- Shows in an empty input which keys send and help, as far as there is room.
--- @param buf integer
local function hint(buf)
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  local lines = api.nvim_buf_get_lines(buf, 0, 2, false)
  if #lines ~= 1 or lines[1] ~= '' then
    return
  end
  local insert = api.nvim_get_mode().mode == 'i'
  local all = { insert and '<C-s> sends' or '<CR> sends', '@ adds files', '/ prompts' }
  if not insert then
    table.insert(all, 2, 'g? shows keys')
  end
  local win = vim.fn.bufwinid(buf)
  local room = win > 0 and api.nvim_win_get_width(win) or vim.o.columns
  local text, sep = 'Ask the agent', '; '
  for _, more in ipairs(all) do
    local longer = text .. sep .. more
    if #longer > room then
      break
    end
    text, sep = longer, ', '
  end
  api.nvim_buf_set_extmark(buf, ns, 0, 0, {
    virt_text = { { text, 'CursordNote' } },
    virt_text_pos = 'overlay',
  })
end

--- @param buf integer an input
function M.input(buf)
  M.map(buf, {
    { 'close the chat', 'q', 'n', close },
    { 'end the turn', '<C-c>', 'n', '<Cmd>Cursord cancel<CR>' },
    { 'what was sent before', '<Up>', 'ni', recall.key(buf, -1, '<Up>') },
    { 'what was sent after', '<Down>', 'ni', recall.key(buf, 1, '<Down>') },
    {
      'these keys',
      'g?',
      'n',
      function()
        M.help({
          ['@'] = 'a file, symbol, selection …',
          ['/'] = 'a saved prompt, if first',
        })
      end,
    },
  })
  local hint_soon = vim.schedule_wrap(function()
    if api.nvim_buf_is_valid(buf) then
      hint(buf)
    end
  end)
  hint_soon()
  api.nvim_create_autocmd({ 'InsertEnter', 'InsertLeave', 'BufWinEnter' }, {
    buffer = buf,
    callback = function()
      hint_soon()
    end,
  })
  api.nvim_create_autocmd('WinResized', {
    callback = function()
      if not api.nvim_buf_is_valid(buf) then
        return true
      end
      hint_soon()
    end,
  })
  api.nvim_buf_attach(buf, false, {
    on_lines = function()
      hint_soon()
    end,
    on_detach = function()
      recall.forget(buf)
    end,
  })
end

return M
