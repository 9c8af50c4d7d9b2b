--- What agents ask: a float that does not take the focus, a list, and the answers. Nothing is answered by itself.
local answers = require('cursord.answers')
local asked = require('cursord.asked')
local askfloat = require('cursord.askfloat')
local keys = require('cursord.keys')
local message = require('cursord.message')
local notify = require('cursord.notify')
local reading = require('cursord.reading')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_approvals')

local list_buf --- @type integer?
local list_lines = {} --- @type table<integer, cursord.ApprovalLine>
local list_of = {} --- @type table<integer, string> the ids of the approvals, by line
local listed = {} --- @type table<string, cursord.Listed> by the approvals' ids

--- How long a question must be on the screen before a key or a command may answer it, in milliseconds. Tests set this.
M.reading = 500

--- The pending approvals, in the order in which they were asked.
--- @return cursord.Approval[]
function M.pending()
  local list = {}
  for _, one in pairs(workspace.all()) do
    vim.list_extend(list, vim.tbl_values(one.approvals))
  end
  table.sort(list, function(a, b)
    return a.createdAt < b.createdAt or a.createdAt == b.createdAt and a.id < b.id
  end)
  return list
end

--- Answers an approval. The daemon's notification takes it off the screen, also if somebody else was first.
--- @param a cursord.Approval
--- @param option string its id; '' for a text alone
--- @param text? string
function M.answer(a, option, text)
  rpc.request(
    'approval/answer',
    { approvalId = a.id, optionId = option, text = text },
    function(err)
      if err and not (err.data and err.data.kind == 'conflict') then
        rpc.say_error(err)
      end
    end
  )
end

--- Says why there is no answer. A key that repeats must not give one only because it has been held for long enough.
--- @param shown cursord.Listed|cursord.Asking
--- @param text string
local function refuse(shown, text)
  shown.drawn = shown.drawn and askfloat.now()
  rpc.say(text, vim.log.levels.WARN)
end

--- Whether a question on the screen takes an answer. One that is no no must have been there for long enough, all of it.
--- @param shown cursord.Listed|cursord.Asking
--- @param at number when the person began to answer, in milliseconds
--- @param win? integer the window of the list, if the answer has to be read first
--- @return boolean
local function is_ready(shown, at, win)
  if win and not reading.is_read(shown) then
    refuse(shown, 'there is more to read before you answer')
    reading.go_on(win, shown)
  elseif not shown.drawn or at - shown.drawn < M.reading then
    refuse(shown, 'this question has just come: read it, then answer')
  else
    return true
  end
  return false
end

--- Gives the answer in a line of the list.
--- @param line cursord.ApprovalLine
local function choose(line)
  local no = answers.is_no(line.approval, line.option and line.option.id or '')
  local win = not no and api.nvim_get_current_win() or nil
  if not is_ready(listed[line.approval.id], askfloat.now(), win) then
    return
  elseif line.option then
    return M.answer(line.approval, line.option.id)
  end
  local plan = line.approval.kind == 'plan'
  vim.ui.input({ prompt = plan and 'No to the plan, because: ' or 'The answer: ' }, function(text)
    if text and text ~= '' then
      M.answer(line.approval, '', text)
    end
  end)
end

--- The window of the list in this tab page.
--- @return integer?
local function list_window()
  local win = list_buf and api.nvim_buf_is_valid(list_buf) and vim.fn.bufwinid(list_buf) or -1
  return win > 0 and win or nil
end

local function draw_list()
  if not list_buf or not api.nvim_buf_is_valid(list_buf) then
    return
  end
  local lines, old = {}, list_of --- @type string[], table<integer, string>
  list_lines, list_of, listed = {}, {}, {}
  for _, a in ipairs(M.pending()) do
    local of, gives = asked.lines(a)
    lines[#lines + 1] = asked.who(a)
    list_of[#lines] = a.id
    listed[a.id] = { first = #lines, last = #lines + #of, text = table.concat(of, '\n'), read = {} }
    for i, line in ipairs(of) do
      lines[#lines + 1] = line
      list_lines[#lines], list_of[#lines] = gives[i], a.id
    end
    lines[#lines + 1] = ''
  end
  reading.take(list_buf, listed)
  local views = {} --- @type table<integer, table> by window
  for _, win in ipairs(vim.fn.win_findbuf(list_buf)) do
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    local row = view.lnum
    local id, from = old[row], row
    while id and old[from - 1] == id do
      from = from - 1
    end
    local one = id and listed[id]
    if one then
      local to = one.first + row - from
      view.lnum, view.topline = to, math.max(view.topline + to - row, 1)
      views[win] = view
    else -- a key or a command for a question that has gone must not answer another one: a first line is no answer
      views[win] = { lnum = 1, col = 0, topline = 1, skipcol = 0 }
      local top = listed[list_of[1]] or {}
      top.drawn = nil
    end
  end
  vim.bo[list_buf].modifiable = true
  lines = #lines > 0 and lines or { 'No agent asks anything.' }
  api.nvim_buf_set_lines(list_buf, 0, -1, false, lines)
  vim.bo[list_buf].modifiable = false
  api.nvim_buf_clear_namespace(list_buf, ns, 0, -1)
  for _, one in pairs(listed) do
    local opts = { end_row = one.first, hl_group = 'CursordFile' }
    api.nvim_buf_set_extmark(list_buf, ns, one.first - 1, 0, opts)
    opts = { end_row = one.first + 1, hl_group = 'CursordMaybe' }
    api.nvim_buf_set_extmark(list_buf, ns, one.first, 0, opts)
  end
  for win, view in pairs(views) do
    api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- Shows the first question, or in its place the list where that is open: the float would hide a part of it.
local function refresh()
  local pending = M.pending()
  if pending[1] and not list_window() then
    askfloat.open(pending[1], #pending - 1)
  else
    askfloat.close()
  end
  draw_list()
end

--- For 'winbar'.
--- @return string
function M.winbar()
  local width = api.nvim_win_get_width(vim.g.statusline_winid or 0)
  return require('cursord.winbar').keys(
    'Approvals',
    { '<CR> give this answer', 'q close', 'g?' },
    width
  )
end

--- Opens the list of what is pending: <CR> on an answer gives it.
function M.open()
  local win = list_window()
  if win then
    api.nvim_set_current_win(win)
    return draw_list()
  elseif #M.pending() == 0 then
    return message.note('no agent asks anything')
  end
  local from = api.nvim_get_current_win()
  vim.cmd('botright 12split')
  require('cursord.windows').back_to(from)
  local fresh = not list_buf or not api.nvim_buf_is_valid(list_buf) -- it may be in another tab page
  if fresh then
    list_buf = api.nvim_create_buf(false, true)
  end
  local buf = list_buf --[[@as integer]]
  api.nvim_win_set_buf(0, buf)
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    winbar = "%{%v:lua.require'cursord.approvals'.winbar()%}",
    statusline = ' Cursor: what agents ask%=%l/%L ',
  }) do
    api.nvim_set_option_value(name, value, { win = 0, scope = 'local' })
  end
  reading.show_plain(0)
  if not fresh then
    return refresh()
  end
  vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'wipe', 'cursordapprovals'
  keys.map(buf, {
    {
      'give this answer',
      '<CR>',
      'n',
      function()
        local line = list_lines[api.nvim_win_get_cursor(0)[1]]
        if line then
          choose(line)
        else
          message.note('no answer in this line')
        end
      end,
    },
    { 'close', 'q', 'n', '<C-w>c' },
    { 'these keys', 'g?', 'n', keys.help },
  })
  refresh()
end

--- The question that a command answers: in the list the one at the cursor, else the first.
--- @return cursord.Approval?
local function aimed()
  local pending, win = M.pending(), list_window()
  local id = win == api.nvim_get_current_win() and list_of[api.nvim_win_get_cursor(0)[1]]
  for _, a in ipairs(id and pending or {}) do
    if a.id == id then
      return a
    end
  end
  return pending[1]
end

--- The command line that the person types, or has just ended: when it was opened, and the question on the screen then.
local typing --- @type { at: number, id?: string }?

local function to_list(a, text)
  rpc.say(text)
  M.open()
  listed[a.id].drawn = nil
end

--- The approval that a key or a command answers, if the person has seen it before they began to type.
--- @param typed? string the answer; nil: it is a no
--- @return cursord.Approval?
local function seen(typed)
  local a, float = aimed(), askfloat.shown()
  local at, id = typing and typing.at or askfloat.now(), typing and typing.id
  local win = list_window()
  if id and not (a and a.id == id) then
    return rpc.say('that question has ended: nothing was answered', vim.log.levels.WARN)
  elseif not a then
    return rpc.say('no agent asks anything')
  elseif win and win ~= api.nvim_get_current_win() and #M.pending() > 1 then
    return to_list(a, 'several questions wait: go to the one that you answer, and say it here')
  end
  local shown = win and listed[a.id] or not win and float and float.id == a.id and float or nil
  local read = typed and answers.read(a, typed)
  local yes = typed and not (read and answers.is_no(a, read))
  if yes and not win and shown and shown.cut then
    to_list(a, 'read all of it; <CR> answers')
  elseif shown and is_ready(shown, at, yes and win or nil) then
    return a
  elseif not shown then
    rpc.say('this question has just come: read it, then answer', vim.log.levels.WARN)
    refresh()
  end
end

--- Says which words answer a question.
--- @param a cursord.Approval
--- @param text string what stands before them
--- @param typed? string an answer that was none
local function say_words(a, text, typed)
  local words = answers.words(a)
  if a.text and a.kind == 'question' then
    words[#words + 1] = typed and ('"%s" in quotes'):format(typed) or 'a text'
  end
  local last = table.remove(words)
  local all = #words > 0 and table.concat(words, ', ') .. ' or ' .. last or last
  rpc.say(text .. ' ' .. all, vim.log.levels.WARN)
end

--- Answers the question on the screen: with yes, the word of an answer, or a text.
--- @param arg string
function M.approve(arg)
  local a = seen(arg)
  if not a then
    return
  end
  local option, text = answers.read(a, arg)
  if arg == '' then
    option = (answers.option(a, { 'allowOnce' }) or {}).id
  end
  if option then
    M.answer(a, option, text)
  elseif arg == '' then
    say_words(a, 'say which answer:')
  elseif a.kind == 'plan' and (arg:find('"') or not answers.meant(arg)) then
    text = 'a yes to a plan takes no text; :Cursord deny TEXT says no with it'
    rpc.say(text, vim.log.levels.WARN)
  elseif a.text and not answers.meant(arg) then
    M.answer(a, '', arg)
  else
    say_words(a, arg .. ' is no answer: say', arg)
  end
end

--- Says no to the question on the screen, which may be longer than the screen. The agent gets a text with a no to its plan.
--- @param text string
function M.deny(text)
  local a = seen()
  local option = a and answers.no(a)
  if not a then
    return
  elseif not option then
    say_words(a, 'no answer here means no: cancel, or :Cursord approve')
  elseif text == '' or a.text and option ~= answers.none then
    M.answer(a, option.id, text ~= '' and text or nil)
  elseif a.text then
    rpc.say(
      'the question is still open: :Cursord deny takes no text here, :Cursord approve TEXT answers',
      vim.log.levels.WARN
    )
  else
    rpc.say('this no takes no text; :Cursord deny says it', vim.log.levels.WARN)
  end
end

workspace.on('approval', function(_, a, before)
  if a.status == 'pending' and not before then
    local ws = workspace.at(a.workspace)
    local session = ws and ws.sessions[a.sessionId]
    notify.away((session and session.title .. ': ' or '') .. 'asks: ' .. (a.command or a.title))
  end
  refresh()
end)
workspace.on('reset', refresh)
workspace.on('session', function(_, session, before) -- it is named with its questions
  if #M.pending() > 0 and session.title ~= (before or {}).title then
    refresh()
  end
end)

local group = api.nvim_create_augroup('cursord_approvals', {})
api.nvim_create_autocmd('CmdlineEnter', {
  group = group,
  pattern = ':',
  callback = function()
    local a = (list_window() or askfloat.shown()) and aimed()
    typing = { at = askfloat.now(), id = a and a.id or nil }
  end,
})
api.nvim_create_autocmd('CmdlineLeave', {
  group = group,
  pattern = ':',
  callback = function()
    local line = typing
    vim.schedule(function() -- its command runs before this
      typing = typing ~= line and typing or nil
    end)
  end,
})
api.nvim_create_autocmd('WinClosed', {
  group = group,
  callback = function(args)
    local win = tonumber(args.match) --[[@as integer]]
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == list_buf then
      vim.schedule(refresh)
    end
  end,
})
api.nvim_create_autocmd({ 'BufWinEnter', 'BufWinLeave' }, {
  group = group,
  callback = function(args)
    if args.buf == list_buf then
      vim.schedule(refresh)
    end
  end,
})
api.nvim_create_autocmd({ 'TabEnter', 'VimResized', 'CmdwinLeave' }, {
  group = group,
  callback = function()
    if #M.pending() > 0 then
      vim.schedule(refresh)
    end
  end,
})

return M
