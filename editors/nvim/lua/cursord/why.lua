--- Which prompt lines come from, in a float.
local message = require('cursord.message')
local rpc = require('cursord.rpc')
local times = require('cursord.times')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_why')
local prompt_most, turns_most, tries_most = 5, 20, 3

--- @class cursord.Source
--- @field sessionId string
--- @field turnId string
--- @field prompt string "" if the session was deleted, or a rewind has removed the turn
--- @field at? string
--- @field state 'pending'|'accepted'
--- @field byText? boolean a guess: only the text of the lines tells it
--- @field maybeYours? boolean no call of the agent explains the lines for certain

--- Lines with the same answer.
--- @class cursord.Because
--- @field source? cursord.Source
--- @field commit? string without a source: a command of an agent brought it
--- @field unsaved? boolean the file on the disk has no such lines
--- @field rows integer[] in the buffer

--- The lines of a buffer's file as Neovim would read them; nil if there is no file.
--- @param buf integer
--- @param path string
--- @return string?
local function on_disk(buf, path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  if not text then
    return nil
  end
  local encoding = vim.bo[buf].fileencoding
  if vim.bo[buf].bomb then
    text = text:gsub('^\239\187\191', '')
  end
  if encoding ~= '' and encoding ~= 'utf-8' then
    text = vim.iconv(text, encoding, 'utf-8') or text
  end
  if vim.bo[buf].fileformat == 'dos' then
    text = text:gsub('\r\n', '\n')
  end
  return (text:gsub('\n?$', '\n', 1))
end

--- Adds to a map the key of a line that says something; of a text that has come twice, false.
--- @param rows table<string, integer|false>
--- @param lines string[]
--- @param from integer row from 0
--- @param n integer
local function note_lines(rows, lines, from, n)
  for row = from, from + n - 1 do
    local line = lines[row + 1] or ''
    if line:find('%w') then
      rows[line] = rows[line] == nil and row
    end
  end
end

--- The rows of the disk's text that a range of the buffer has, by row of the buffer.
--- @param buf integer
--- @param disk string
--- @param first integer
--- @param last integer
--- @return table<integer, integer>
local function rows_on_disk(buf, disk, first, last)
  local here, there_all = api.nvim_buf_get_lines(buf, 0, -1, false), vim.split(disk, '\n')
  local text = table.concat(here, '\n') .. '\n'
  local out, row, behind = {}, first, 0
  local come, gone = {}, {} --- @type table<string, integer|false>, table<string, integer|false>
  local function same_until(to)
    while row <= math.min(to, last) do
      out[row], row = row + behind, row + 1
    end
  end
  local hunks = vim.diff(text, disk, { result_type = 'indices' }) --[[@as integer[][] ]]
  for _, hunk in ipairs(hunks) do
    local from, n, there, m = unpack(hunk)
    -- An empty side stands behind its line.
    local start, other = from - (n > 0 and 1 or 0), there - (m > 0 and 1 or 0)
    same_until(start - 1)
    row, behind = math.max(row, start + n), other + m - start - n
    note_lines(come, here, start, n)
    note_lines(gone, there_all, other, m)
  end
  same_until(last)
  for line, at in pairs(come) do
    if at and gone[line] and at >= first and at <= last then
      out[at] = gone[line] -- it has moved
    end
  end
  return out
end

--- @param rows integer[]
--- @return string # "3–5, 9"
local function in_words(rows)
  local parts, from = {}, rows[1]
  for i, row in ipairs(rows) do
    if rows[i + 1] ~= row + 1 then
      parts[#parts + 1] = from == row and tostring(row + 1) or ('%d–%d'):format(from + 1, row + 1)
      from = rows[i + 1]
    end
  end
  local more = #parts - 6
  if more > 0 then
    parts = vim.list_slice(parts, 1, 6)
    parts[7] = ('… %d more'):format(more)
  end
  return (#rows == 1 and 'line ' or 'lines ') .. table.concat(parts, ', ')
end

--- Groups rows by their turn.
--- @param at table<integer, integer> rows of the disk
--- @param runs { from: integer, to: integer, source?: cursord.Source, commit?: string }[]
--- @return cursord.Because[]
local function group(at, first, last, runs)
  local out, by, i = {}, {}, 1
  for row = first, last do
    local there, source, commit = at[row], nil, nil
    i = there and runs[i - 1] and runs[i - 1].to > there and 1 or i
    while there and runs[i] and runs[i].to <= there do
      i = i + 1
    end
    if there and runs[i] and runs[i].from <= there then
      source, commit = runs[i].source, runs[i].commit
    end
    local key = not there and 'unsaved'
      or source and source.turnId .. source.state .. tostring(source.byText or false) .. tostring(
        source.maybeYours or false
      )
      or commit
      or ''
    if not by[key] then
      by[key] = { source = source, commit = commit, unsaved = not there, rows = {} }
      out[#out + 1] = by[key]
    end
    table.insert(by[key].rows, row)
  end
  return out
end

--- Calls done with the titles of the sessions that the daemon still has.
--- @param ws cursord.Workspace
--- @param all cursord.Because[]
--- @param done fun(titles: table<string, string>)
local function titles_of(ws, all, done)
  local titles, asked, left = {}, {}, 1
  local function one_less()
    left = left - 1
    if left == 0 then
      done(titles)
    end
  end
  for _, one in ipairs(all) do
    local id = one.source and one.source.sessionId
    if id and ws.sessions[id] then
      titles[id] = ws.sessions[id].title
    elseif id and not asked[id] then
      asked[id], left = true, left + 1
      rpc.request('session/read', { sessionId = id, limit = 1 }, function(_, result)
        titles[id] = result and result.session and result.session.title
        one_less()
      end)
    end
  end
  one_less()
end

--- @param one cursord.Because
--- @param titles table<string, string>
--- @return string[]
local function about(one, titles)
  local source = one.source
  if one.unsaved then
    return { 'not saved: only this buffer has it' }
  elseif not source and one.commit then
    return { ('of commit %s,'):format(one.commit:sub(1, 10)), "which an agent's command brought" }
  elseif not source then
    return { 'yours, or older than cursord' }
  end
  local facts, title = { source.state }, titles[source.sessionId]
  if source.byText then
    facts[#facts + 1] = 'a guess by the text'
  end
  if type(source.at) == 'string' then
    facts[#facts + 1] = times.age(source.at)
  end
  facts[#facts + 1] = title and ('"%s"'):format(message.cut(title:gsub('%s+', ' '), 40))
    or 'its session was deleted'
  local lines = vim.split(vim.trim(source.prompt), '\n', { plain = true })
  if #lines > prompt_most then
    lines = vim.list_slice(lines, 1, prompt_most)
    lines[prompt_most] = lines[prompt_most] .. ' …'
  end
  for i, line in ipairs(lines) do
    lines[i] = message.cut(line, 300)
  end
  if source.prompt == '' then
    lines = title and { 'its turn was taken back: a rewind has removed it, with its prompt' } or {}
  end
  if source.maybeYours then
    table.insert(lines, 1, require('cursord.review.author').note)
  end
  lines[#lines + 1] = table.concat(facts, ' · ')
  return lines
end

--- Shows a turn in the chat.
--- @param ws cursord.Workspace
--- @param source cursord.Source
local function go(ws, source)
  local params = { sessionId = source.sessionId, limit = 1 }
  rpc.request('session/read', params, function(err, result)
    if err and err.data and err.data.kind == 'notFound' then
      return message.note('its session was deleted')
    elseif err then
      return rpc.say_error(err)
    end
    local chat = require('cursord.chat')
    chat.switch(ws, result.session)
    chat.show(ws)
    local shown = require('cursord.transcript').of(source.sessionId)
    if shown then
      shown:reveal({ turn = source.turnId })
    end
  end)
end

--- Closes the float when the cursor leaves its line. CursorMoved alone says too little: after a command with a range it can
--- come late.
--- @param win integer
local function close_after(win)
  local from, row = api.nvim_get_current_win(), api.nvim_win_get_cursor(0)[1]
  api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'InsertCharPre', 'BufHidden' }, {
    buffer = api.nvim_get_current_buf(),
    callback = function(args)
      local moved = args.event:find('^CursorMoved')
      local stays = moved
        and api.nvim_get_current_win() == from
        and api.nvim_win_get_cursor(from)[1] == row
      if api.nvim_win_is_valid(win) and (stays or api.nvim_get_current_win() == win) then
        return false
      end
      pcall(api.nvim_win_close, win, true)
      return true
    end,
  })
end

--- @param ws cursord.Workspace
--- @param all cursord.Because[]
--- @param titles table<string, string>
--- @param id string of the question: asked again, it moves the cursor into the float
local function float(ws, all, titles, id)
  local lines, of, heads, notes = {}, {}, {}, {}
  for i, one in ipairs(vim.list_slice(all, 1, turns_most)) do
    if i > 1 then
      lines[#lines + 1] = ''
    end
    lines[#lines + 1] = in_words(one.rows)
    heads[#heads + 1] = #lines
    vim.list_extend(lines, about(one, titles))
    notes[#notes + 1] = #lines
    for row = heads[#heads], #lines do
      of[row] = one.source
    end
  end
  if #all > turns_most then
    vim.list_extend(lines, { '', ('… and %d more turns'):format(#all - turns_most) })
  end
  local buf, win = vim.lsp.util.open_floating_preview(lines, '', {
    focus_id = id,
    border = 'single',
    max_width = math.min(vim.o.columns - 4, 80),
    max_height = math.max(vim.o.lines - 4, 1),
    close_events = {},
  })
  if win ~= api.nvim_get_current_win() then
    close_after(win)
  end
  for _, row in ipairs(heads) do
    api.nvim_buf_set_extmark(buf, ns, row - 1, 0, { line_hl_group = 'CursordFile' })
  end
  for _, row in ipairs(notes) do
    api.nvim_buf_set_extmark(buf, ns, row - 1, 0, { line_hl_group = 'CursordNote' })
  end
  if next(of) then
    local inside = win == api.nvim_get_current_win()
    local keys = inside and ' <CR> its chat · q ' or ' again, then <CR>: its chat '
    local room = math.min(api.nvim_strwidth(keys), vim.o.columns - 4)
    local width = math.max(api.nvim_win_get_width(win), room)
    api.nvim_win_set_config(win, { footer = message.cut(keys, width), width = width })
  end
  vim.wo[win].linebreak = true -- which may need more lines
  local height = math.min(api.nvim_win_text_height(win, {}).all, math.max(vim.o.lines - 4, 1))
  api.nvim_win_set_config(win, { height = height })
  vim.keymap.set('n', '<CR>', function()
    local source = of[api.nvim_win_get_cursor(0)[1]]
    if not source then
      return message.note('no turn wrote these lines')
    end
    pcall(api.nvim_win_close, 0, true)
    go(ws, source)
  end, { buffer = buf, nowait = true, desc = 'cursord: go to its chat' })
end

--- Says in a float which prompts some lines of the current buffer come from. Lines that are not saved are said to be so.
--- @param ws cursord.Workspace
--- @param first integer row from 0
--- @param last integer row from 0, included
function M.show(ws, first, last)
  local buf, win = api.nvim_get_current_buf(), api.nvim_get_current_win()
  local path = vim.uv.fs_realpath(api.nvim_buf_get_name(buf)) or ''
  local root = ws.root == '/' and '/' or ws.root .. '/'
  if vim.bo[buf].buftype ~= '' or api.nvim_buf_get_name(buf) == '' then
    return rpc.say('this buffer has no file of the workspace', vim.log.levels.WARN)
  elseif path == '' then
    return rpc.say('the file is not on the disk; :write first', vim.log.levels.WARN)
  elseif not vim.startswith(path, root) then
    return rpc.say('this buffer has no file of the workspace', vim.log.levels.WARN)
  elseif vim.bo[buf].fileformat == 'mac' then
    return rpc.say('a file with the line ends "mac" is one line', vim.log.levels.WARN)
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  local cursor = api.nvim_win_get_cursor(win)
  local function try(times_left)
    local disk = on_disk(buf, path)
    local at = disk and rows_on_disk(buf, disk, first, last) or {}
    local from, to = math.huge, 0
    for _, row in pairs(at) do
      from, to = math.min(from, row), math.max(to, row + 1)
    end
    local function answer(runs)
      local all = group(at, first, last, runs)
      titles_of(ws, all, function(titles)
        -- Whoever has gone on, or typed, asks no more about these lines.
        if
          api.nvim_get_current_win() == win
          and api.nvim_get_current_buf() == buf
          and api.nvim_buf_get_changedtick(buf) == tick
          and vim.deep_equal(api.nvim_win_get_cursor(win), cursor)
        then
          float(ws, all, titles, ('cursord_why_%d_%d_%d'):format(first, last, tick))
        end
      end)
    end
    if to == 0 then
      return answer({})
    end
    rpc.request('file/why', {
      workspace = ws.root,
      path = path:sub(#root + 1),
      lines = { from = from, to = to },
    }, function(err, result)
      if err then
        rpc.say_error(err)
      elseif on_disk(buf, path) == disk then
        answer(result.lines)
      elseif times_left > 1 then
        try(times_left - 1)
      else
        rpc.say('the file changes all the time; ask again later', vim.log.levels.WARN)
      end
    end)
  end
  try(tries_most)
end

return M
