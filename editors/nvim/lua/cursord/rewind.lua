--- Takes turns back: a session goes back to before one, with what it changed in files. The person sees the patch first.
local message = require('cursord.message')
local rpc = require('cursord.rpc')
local ways = require('cursord.ways')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local prompts_most, lines_most = 10, 10000

--- @class cursord.Rewound
--- @field turns string[]
--- @field applied integer
--- @field skipped? { path: string, kind: string, message?: string }[]
--- @field patch? string

--- @class cursord.Rewinding
--- @field ws cursord.Workspace
--- @field session string
--- @field turn cursord.Turn|{ id: string } the first turn to take back
--- @field put? fun(): string? has the person edit the prompt, when it is taken back; says more
--- @field after fun() called after that was said

local kinds = {
  changedSince = 'changed since',
  forgotten = 'too long ago',
  imported = 'imported',
  maybeYours = 'may be yours',
  conflict = 'cannot be written now',
}

--- @param n integer
--- @param word string
local function count(n, word)
  return ('%d %s%s'):format(n, word, n == 1 and '' or 's')
end

--- @param out cursord.Rewound
--- @return string[] # "f (changed since)"
local function kept(out)
  local list, known = {}, {}
  for _, one in ipairs(out.skipped or {}) do
    local short = kinds[one.kind]
    local why = one.kind ~= 'conflict' and short or one.message or short or one.kind
    if vim.startswith(why, one.path .. ' ') then
      why = why:sub(#one.path + 2)
    end
    local text = ('%s (%s)'):format(one.path, why)
    list[#list + 1] = not known[text] and text or nil
    known[text] = true
  end
  return list
end

--- @param of cursord.Rewinding
--- @param files boolean
--- @param last string the last turn that the person was shown
local function take(of, files, last)
  local params = { sessionId = of.session, turnId = of.turn.id, lastTurnId = last, files = files }
  require('cursord.review.decide').rewind(of.ws, params, function(err, out)
    if err then
      return rpc.say_error(err)
    end
    local more = of.put and of.put()
    local parts, left = { 'taken back: ' .. count(#out.turns, 'turn') }, kept(out)
    if out.applied > 0 then
      parts[1] = parts[1] .. ', ' .. count(out.applied, 'change')
    end
    parts[#parts + 1] = more
    if #left > 0 then
      parts[#parts + 1] = 'stays: ' .. table.concat(left, ', ')
    end
    if out.applied > 0 and not more then -- a line of 80 columns has no room for both
      parts[#parts + 1] = ways.to('undo') .. ' brings files back'
    end
    local level = #left > 0 and vim.log.levels.WARN or vim.log.levels.INFO
    rpc.say(table.concat(parts, '; '), level)
    of.after()
  end)
end

--- What a person reads before saying yes.
--- @param dry cursord.Rewound
--- @param prompts string[] the oldest first
--- @return string[]
local function text_of(dry, prompts)
  local lines, left = { count(#dry.turns, 'turn') .. ' will leave the session:' }, kept(dry)
  for _, prompt in ipairs(prompts) do
    lines[#lines + 1] = '  ' .. message.cut(vim.trim(prompt):gsub('%s*\n.*', ' …'), 300)
  end
  if #dry.turns > #prompts then
    lines[#lines + 1] = ('  … and %d more'):format(#dry.turns - #prompts)
  end
  if #left > 0 then
    vim.list_extend(lines, { '', 'These stay as they are:' })
    for _, one in ipairs(left) do
      lines[#lines + 1] = '  ' .. one
    end
  end
  local patch = vim.split((dry.patch or ''):gsub('\n$', ''), '\n', { plain = true })
  if (dry.patch or '') == '' then
    return vim.list_extend(lines, { '', 'No file will change.' })
  end
  vim.list_extend(lines, { '', 'In files:', '' })
  vim.list_extend(lines, patch, 1, math.min(#patch, lines_most))
  if #patch > lines_most then
    lines[#lines + 1] = ('… and %d more lines'):format(#patch - lines_most)
  end
  return lines
end

--- Shows what would be taken back, and asks. Only "y" and "t" are a yes.
--- @param of cursord.Rewinding
--- @param dry cursord.Rewound
--- @param prompts string[]
local function ask(of, dry, prompts)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.b[buf].cursord_root = of.ws.root
  local lines = vim.tbl_map(function(line)
    return (line:gsub('\r$', ''):gsub('%z', '\n'))
  end, text_of(dry, prompts))
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].filetype, vim.bo[buf].modifiable = 'diff', false -- the syntax looks at the lines for the kind of diff
  local some = (dry.patch or '') ~= '' or #(dry.skipped or {}) > 0
  local keys = some and ' y yes · t not the files · q no ' or ' y yes · q no '
  local width = math.max(math.min(vim.o.columns - 4, 90), 1)
  local height = math.max(math.min(#lines, vim.o.lines - 6), 1)
  local win = api.nvim_open_win(buf, true, {
    relative = 'editor',
    row = math.max(math.floor((vim.o.lines - height) / 2) - 2, 0),
    col = math.max(math.floor((vim.o.columns - width) / 2) - 1, 0),
    width = width,
    height = height,
    style = 'minimal',
    border = 'single',
    title = message.cut(' Take back? ', width),
    footer = message.cut(keys, width),
  })
  vim.wo[win][0].wrap = false
  local function close()
    pcall(api.nvim_win_close, win, true)
  end
  local function yes(files)
    return function()
      close()
      M.look(of, function(now, now_prompts)
        local same = vim.deep_equal(now.turns, dry.turns)
        if same and (not files or now.patch == dry.patch) then
          return take(of, files, now.turns[#now.turns])
        end
        rpc.say('it has changed meanwhile; look at it again', vim.log.levels.WARN)
        ask(of, now, now_prompts)
      end)
    end
  end
  require('cursord.keys').map(buf, {
    { 'take it back', 'y', 'n', yes(true) },
    { 'leave it', { 'q', '<Esc>' }, 'n', close },
    {
      'no answer',
      '<CR>',
      'n',
      function()
        message.note('y takes it back, q leaves it')
      end,
    },
    { 'these keys', 'g?', 'n', require('cursord.keys').help },
  })
  if some then
    require('cursord.keys').map(buf, { { 'leave the files as they are', 't', 'n', yes(false) } })
  end
  api.nvim_create_autocmd(
    'WinLeave',
    { buffer = buf, once = true, callback = vim.schedule_wrap(close) }
  )
end

--- Asks the daemon what would be taken back.
--- @param of cursord.Rewinding
--- @param done fun(dry: cursord.Rewound, prompts: string[])
function M.look(of, done)
  local params = { sessionId = of.session, turnId = of.turn.id, dryRun = true }
  rpc.request('session/rewind', params, function(err, dry)
    if err then
      return rpc.say_error(err)
    end
    local limit = math.min(#dry.turns, 1000)
    rpc.request('turn/list', { sessionId = of.session, limit = limit }, function(fails, list)
      if fails then
        return rpc.say_error(fails)
      end
      local prompts = {}
      for i = #list.turns, math.max(#list.turns - prompts_most + 1, 1), -1 do
        prompts[#prompts + 1] = list.turns[i].prompt
      end
      done(dry, prompts)
    end)
  end)
end

--- Calls done with the last turn of a session, unless one runs or waits.
--- @param session string
--- @param done fun(turn: cursord.Turn)
local function last_turn(session, done)
  rpc.request('turn/list', { sessionId = session, limit = 1 }, function(err, list)
    local turn = list and list.turns and list.turns[1]
    if err then
      rpc.say_error(err)
    elseif not turn then
      rpc.say('the session has no turn to take back')
    elseif not workspace.ended(turn) then
      rpc.say('a turn runs or waits here; end it first: ' .. ways.to('cancel'), vim.log.levels.WARN)
    else
      done(turn)
    end
  end)
end

--- Takes a turn and the later ones of its session back, after a question.
--- @param ws cursord.Workspace
--- @param session string
--- @param turn? string the last one if it is missing
function M.run(ws, session, turn)
  last_turn(session, function(last)
    local of = {
      ws = ws,
      session = session,
      turn = turn and { id = turn } or last,
      after = function() end,
    }
    M.look(of, function(dry, prompts)
      ask(of, dry, prompts)
    end)
  end)
end

--- Takes the last turn of a session back, after a question, and puts its prompt into the input.
--- @param ws cursord.Workspace
--- @param session string
function M.edit(ws, session)
  last_turn(session, function(last)
    local of = { ws = ws, session = session, turn = last }
    local chat = require('cursord.chat')
    function of.put()
      chat.switch(ws, ws.sessions[session] or { id = session })
      local said = require('cursord.drafts').put(chat.input(ws), session, last.prompt)
      chat.focus(ws)
      return said
    end
    function of.after()
      require('cursord.images').again(ws, last)
    end
    M.look(of, function(dry, prompts)
      ask(of, dry, prompts)
    end)
  end)
end

--- The session and the turn that the person is at: those at a row of the transcript, else the chat's session.
--- @param ws cursord.Workspace
--- @param row integer
--- @param done fun(session: string, turn?: string)
function M.here(ws, row, done)
  local id = api.nvim_buf_get_name(0):match('^cursord://chat/(.*)$')
  local shown = id and require('cursord.transcript').of(id)
  if shown then
    return done(shown.session, shown:turn_at(row))
  end
  ws:choose(function()
    if ws.current then
      done(ws.current)
    else
      rpc.say('the chat has no session yet', vim.log.levels.WARN)
    end
  end)
end

--- Adds a text to the running turn of the chat. Where the agent takes none, it waits as the next prompt.
--- @param ws cursord.Workspace
--- @param text string
function M.steer(ws, text)
  local running --- @type cursord.Turn?
  for _, turn in ipairs(ws:busy()) do
    running = turn.sessionId == ws.current and turn.status == 'running' and turn or running
  end
  if not running then
    return rpc.say('no turn of the chat runs; :Cursord ask begins one', vim.log.levels.WARN)
  end
  rpc.request('turn/steer', { turnId = running.id, text = text }, function(err, result)
    if err then
      rpc.say_error(err)
    elseif result.queuedTurnId then
      local before = 0
      for _, turn in ipairs(ws:busy()) do
        local waits = turn.sessionId == running.sessionId and turn.status == 'queued'
        before = before + (waits and turn.id ~= result.queuedTurnId and 1 or 0)
      end
      local place = before == 0 and 'is the next prompt'
        or ('waits behind %d prompt%s'):format(before, before == 1 and '' or 's')
      rpc.say('the agent takes nothing while it works: this ' .. place)
    else
      rpc.say('the agent has this with its running turn')
    end
  end)
end

return M
