--- A buffer with the attempts at a prompt beside each other ("cursord run --attempts"), and its keys.
local keys = require('cursord.keys')
local message = require('cursord.message')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_attempts')

--- @class cursord.AttemptCheck
--- @field turnId string
--- @field command string
--- @field status string
--- @field error? { message: string }
--- @field exitCode? integer
--- @field output string
--- @field stale? boolean

--- @class cursord.Attempt
--- @field number integer
--- @field sessionId string
--- @field turnId string
--- @field status string
--- @field waiting? boolean
--- @field error? { message: string }
--- @field answer string
--- @field files integer
--- @field hunks integer
--- @field added integer
--- @field removed integer
--- @field beside? integer
--- @field check? cursord.AttemptCheck

--- @class cursord.AttemptGroup
--- @field group string
--- @field prompt string
--- @field of integer
--- @field attempts cursord.Attempt[]

--- @class cursord.AttemptList
--- @field ws cursord.Workspace
--- @field rows table<integer, { group: cursord.AttemptGroup, attempt?: cursord.Attempt }> by row
--- @field reading? true
--- @field again? true something has changed since

local none = 'no attempts here; in a terminal: cursord run --attempts 3 "…"'

local shown = {} --- @type table<integer, cursord.AttemptList> by buffer

--- @param check? cursord.AttemptCheck
--- @return string
local function check_text(check)
  if not check then
    return ''
  end
  local text = check.status == 'completed' and 'passed' or check.status
  if check.status == 'failed' and check.exitCode then
    text = 'exit ' .. check.exitCode
  end
  return text .. (check.stale and ', stale' or '')
end

--- @param a cursord.Attempt
--- @return string
local function change_text(a)
  if a.hunks == 0 then
    return 'nothing'
  end
  local files = ('%d file%s'):format(a.files, a.files == 1 and '' or 's')
  local beside = (a.beside or 0) > 0 and (', %d beside yours'):format(a.beside) or ''
  return ('%s +%d -%d%s'):format(files, a.added, a.removed, beside)
end

--- @param text string
--- @return string
local function first_line(text)
  return (vim.trim(text):gsub('%s*\n.*', ' …'))
end

--- @param buf integer
--- @param groups cursord.AttemptGroup[]
local function draw(buf, groups)
  local lines, rows, heads = {}, {}, {}
  for _, group in ipairs(groups) do
    local of = #group.attempts == group.of and ''
      or (' (%d of %d left)'):format(#group.attempts, group.of)
    lines[#lines + 1] = message.cut(first_line(group.prompt), 80) .. of
    rows[#lines], heads[#heads + 1] = { group = group }, #lines - 1
    for _, a in ipairs(group.attempts) do
      local said = a.error and a.error.message or a.answer
      lines[#lines + 1] = ('%3d  %-11s %-16s %-12s %s'):format(
        a.number,
        a.waiting and 'asks you' or a.status,
        change_text(a),
        check_text(a.check),
        first_line(said)
      )
      rows[#lines] = { group = group, attempt = a }
    end
  end
  if #lines == 0 then
    lines[1] = none
  end
  shown[buf].rows = rows
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for _, row in ipairs(heads) do
    api.nvim_buf_set_extmark(buf, ns, row, 0, { end_col = #lines[row + 1], hl_group = 'Title' })
  end
end

--- Reads the list again. What changes meanwhile is read once more after that.
--- @param buf integer
local function read(buf)
  local list = shown[buf]
  if list.reading then
    list.again = true
    return
  end
  list.reading = true
  rpc.request('attempt/list', { workspace = list.ws.root }, function(err, result)
    list.reading = nil
    if shown[buf] ~= list then
      return -- it has been closed meanwhile
    elseif err then
      return rpc.say_error(err)
    end
    draw(buf, result.groups)
    if list.again then
      list.again = nil
      read(buf)
    end
  end)
end

--- Calls act with the list, and the group and the attempt at the cursor.
--- @param act fun(list: cursord.AttemptList, group: cursord.AttemptGroup, attempt?: cursord.Attempt)
local function with(act)
  return function()
    local list = shown[api.nvim_get_current_buf()]
    local row = list and list.rows[api.nvim_win_get_cursor(0)[1]]
    if row then
      act(list, row.group, row.attempt)
    end
  end
end

--- Calls act with the list and the attempt at the cursor.
--- @param act fun(list: cursord.AttemptList, attempt: cursord.Attempt, group: cursord.AttemptGroup)
local function with_attempt(act)
  return with(function(list, group, attempt)
    if attempt then
      act(list, attempt, group)
    else
      rpc.say('this line is a prompt; its attempts are below it', vim.log.levels.WARN)
    end
  end)
end

--- The hunks that are to be reviewed of an attempt, also those of later turns of its session.
--- @param ws cursord.Workspace
--- @param a cursord.Attempt
--- @return cursord.Part[]
local function hunks_of(ws, a)
  local parts = {}
  for _, diff in pairs(ws.diffs) do
    for _, hunk in ipairs(diff.hunks) do
      for _, source in ipairs(hunk.sources) do
        if source.sessionId == a.sessionId then
          parts[#parts + 1] = { id = hunk.id, hunk = hunk }
          break
        end
      end
    end
  end
  return parts
end

--- Drops all attempts of a group but those to keep, once the person agrees.
--- @param list cursord.AttemptList
--- @param group cursord.AttemptGroup
--- @param keeps fun(a: cursord.Attempt): boolean
local function drop(list, group, keeps)
  local keep, gone, hunks = {}, 0, 0
  for _, a in ipairs(group.attempts) do
    if keeps(a) then
      keep[#keep + 1] = a.sessionId
    else
      gone, hunks = gone + 1, hunks + a.hunks
    end
  end
  local question = ('Drop %d attempt%s with %d hunk%s to review?'):format(
    gone,
    gone == 1 and '' or 's',
    hunks,
    hunks == 1 and '' or 's'
  )
  vim.ui.select({ 'Drop', 'Keep all' }, { prompt = question }, function(choice)
    if choice ~= 'Drop' then
      return
    end
    local params = { workspace = list.ws.root, group = group.group }
    if #keep > 0 then
      params.keep = keep
    end
    rpc.request('attempt/drop', params, function(err, result)
      if err then
        return rpc.say_error(err)
      end
      rpc.say(('dropped %d'):format(#result.dropped))
      M.refresh(list.ws)
    end)
  end)
end

--- Shows what the check of an attempt printed.
--- @param a cursord.Attempt
local function show_check(a)
  local check = a.check
  if not check then
    return rpc.say('this attempt was not checked; c does it')
  end
  local lines = { '$ ' .. first_line(check.command), check_text(check) }
  if check.error and not check.exitCode then
    lines[2] = first_line(check.error.message)
  end
  vim.list_extend(lines, vim.split(check.output, '\n'))
  local _, win = vim.lsp.util.open_floating_preview(lines, '', {
    focus_id = 'cursord_check',
    border = 'single',
    wrap = false,
  })
  if win ~= api.nvim_get_current_win() then
    require('cursord.floats').closed_by(win, { 'q', '<Esc>' })
  end
end

--- Reads the lists of a workspace again.
--- @param ws cursord.Workspace
function M.refresh(ws)
  for buf, list in pairs(shown) do
    if list.ws == ws then
      read(buf)
    end
  end
end

--- @param ws cursord.Workspace
local function open(ws)
  local from = api.nvim_get_current_win()
  vim.cmd('botright 12split')
  require('cursord.windows').back_to(from)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, buf)
  vim.bo[buf].bufhidden = 'wipe'
  vim.b[buf].cursord_root = ws.root
  shown[buf] = { ws = ws, rows = {} }
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    wrap = false,
    cursorline = true,
    statusline = ' Cursor: attempts%=%l/%L ',
  }) do
    api.nvim_set_option_value(name, value, { win = 0, scope = 'local' })
  end
  keys.map(buf, {
    {
      'review what it has changed',
      '<CR>',
      'n',
      with_attempt(function(list, a)
        require('cursord.review.buffer').open(list.ws, a.turnId)
      end),
    },
    {
      'accept all that it has changed',
      'A',
      'n',
      with_attempt(function(list, a)
        local parts = hunks_of(list.ws, a)
        if #parts == 0 then
          return rpc.say('this attempt has nothing to review')
        end
        require('cursord.review.decide').parts('accept', list.ws, parts)
      end),
    },
    {
      'check it again',
      'c',
      'n',
      with_attempt(function(list, a)
        rpc.request('attempt/check', { sessionId = a.sessionId }, function(err)
          if err then
            return rpc.say_error(err)
          end
          M.refresh(list.ws)
        end)
      end),
    },
    {
      'what its check printed',
      'K',
      'n',
      with_attempt(function(_, a)
        show_check(a)
      end),
    },
    {
      'drop it',
      'D',
      'n',
      with_attempt(function(list, a, group)
        drop(list, group, function(other)
          return other.number ~= a.number
        end)
      end),
    },
    {
      'drop the others',
      'O',
      'n',
      with_attempt(function(list, a, group)
        drop(list, group, function(other)
          return other.number == a.number
        end)
      end),
    },
    {
      'drop all at this prompt',
      'X',
      'n',
      with(function(list, group)
        drop(list, group, function()
          return false
        end)
      end),
    },
    {
      'read the list again',
      '<C-l>',
      'n',
      function()
        read(buf)
      end,
    },
    { 'close', 'q', 'n', '<C-w>c' },
    { 'these keys', 'g?', 'n', keys.help },
  })
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      shown[buf] = nil
    end,
  })
  read(buf)
end

--- Opens the list of a workspace, or goes to it. If it would be empty, a message says so.
--- @param ws cursord.Workspace
function M.open(ws)
  for buf, list in pairs(shown) do
    local win = list.ws == ws and vim.fn.bufwinid(buf) or -1
    if win ~= -1 then
      api.nvim_set_current_win(win)
      return read(buf)
    end
  end
  rpc.request('attempt/list', { workspace = ws.root }, function(err, result)
    if err then
      rpc.say_error(err)
    elseif #result.groups == 0 then
      message.note(none)
    else
      open(ws)
    end
  end)
end

for _, event in ipairs({ 'session', 'turn', 'diff' }) do
  workspace.on(event, function()
    for buf in pairs(shown) do
      read(buf)
    end
  end)
end

return M
