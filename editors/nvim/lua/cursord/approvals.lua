--- What agents ask: a float that does not take the focus, a list, and the answers. Nothing is answered by itself.
local keys = require('cursord.keys')
local message = require('cursord.message')
local notify = require('cursord.notify')
local rpc = require('cursord.rpc')
local workspace = require('cursord.workspace')

local api = vim.api
local M = {}

local ns = api.nvim_create_namespace('cursord_approvals')

--- @class cursord.ApprovalLine what a line of the list answers
--- @field approval cursord.Approval
--- @field option? cursord.ApprovalOption
--- @field text? boolean it asks for a text

--- @type { buf: integer, win: integer, id: string, cut: boolean, since: integer }?
local float
local list_buf --- @type integer?
local list_lines = {} --- @type table<integer, cursord.ApprovalLine>

--- How long a question must be on the screen before a key may answer it, if it took the place of another one, in milliseconds.
local settle = 300

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

--- Characters that change the direction of text, or are not seen, in words.
--- @param text string
--- @return string[] lines
local function lines_of(text)
  for _, pattern in ipairs({
    '\226\128[\139-\143\168-\174]',
    '\226\129[\160-\175]',
    '\239\187\191',
    '\194\173',
  }) do
    text = text:gsub(pattern, function(char)
      return ('<U+%04X>'):format(vim.fn.char2nr(char))
    end)
  end
  return vim.split(text:gsub('%z', '^@'):gsub('\n+$', ''), '\n', { plain = true })
end

local heads = {
  permission = 'The agent asks for permission: ',
  question = 'The agent asks: ',
  plan = 'The agent has a plan: ',
}

--- @param a cursord.Approval
--- @return string[] lines
--- @return table<integer, cursord.ApprovalLine> what they answer, by line
local function render(a)
  local lines, answers = {}, {}
  local title = a.title == a.command and '' or table.concat(lines_of(a.title), ' ')
  lines[1] = vim.trim((heads[a.kind] or 'The agent asks: ') .. title)
  for _, text in ipairs({ a.detail or '', a.command or '', table.concat(a.paths or {}, '\n') }) do
    if text ~= '' then
      for _, line in ipairs(lines_of(text)) do
        lines[#lines + 1] = '  ' .. line
      end
    end
  end
  for i, option in ipairs(a.options) do
    lines[#lines + 1] = ('%d %s'):format(i, table.concat(lines_of(option.label), ' '))
    answers[#lines] = { approval = a, option = option }
  end
  if a.text then
    lines[#lines + 1] = 't a text of yours'
    answers[#lines] = { approval = a, text = true }
  end
  return lines, answers
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

--- @param line cursord.ApprovalLine
local function choose(line)
  if line.option then
    return M.answer(line.approval, line.option.id)
  end
  vim.ui.input({ prompt = 'The answer: ' }, function(text)
    if text and text ~= '' then
      M.answer(line.approval, '', text)
    end
  end)
end

local function close_float()
  if float and api.nvim_win_is_valid(float.win) then
    api.nvim_win_close(float.win, true)
  end
  float = nil
end

--- @param a cursord.Approval
--- @param more integer how many others are pending
local function open_float(a, more)
  local replaced = float and float.id ~= a.id
  local since = float and float.id == a.id and float.since or replaced and vim.uv.now() or 0
  close_float()
  local lines = render(a)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  api.nvim_buf_set_extmark(buf, ns, 0, 0, { end_row = 1, hl_group = 'CursordMaybe' })
  local width = math.max(math.min(80, vim.o.columns - 4), 10)
  local most = math.max(math.floor(vim.o.lines / 2), 3)
  local opened, win = pcall(api.nvim_open_win, buf, false, {
    relative = 'editor',
    anchor = 'NE',
    row = 1,
    col = vim.o.columns - 1,
    width = width,
    height = 1,
    style = 'minimal',
    border = 'single',
    zindex = 60,
    noautocmd = true,
    title = message.cut(
      ' :Cursord approve · deny · approvals' .. (more > 0 and (' (%d more) '):format(more) or ' '),
      width
    ),
  })
  if not opened then
    return -- the command line window is open: its end shows it
  end
  vim.wo[win].wrap, vim.wo[win].linebreak = true, true
  local height = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_config(win, { height = math.min(height, most) })
  float = { buf = buf, win = win, id = a.id, cut = height > most, since = since }
end

local function draw_list()
  if not list_buf or not api.nvim_buf_is_valid(list_buf) then
    return
  end
  local lines = {}
  list_lines = {}
  for _, a in ipairs(M.pending()) do
    local of, answers = render(a)
    for i, line in ipairs(of) do
      lines[#lines + 1] = line
      list_lines[#lines] = answers[i]
    end
    lines[#lines + 1] = ''
  end
  vim.bo[list_buf].modifiable = true
  api.nvim_buf_set_lines(
    list_buf,
    0,
    -1,
    false,
    #lines > 0 and lines or { 'No agent asks anything.' }
  )
  vim.bo[list_buf].modifiable = false
end

--- Shows the first question, and the list where it is open.
local function refresh()
  local pending = M.pending()
  if pending[1] then
    open_float(pending[1], #pending - 1)
  else
    close_float()
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
  if list_buf and api.nvim_buf_is_valid(list_buf) and vim.fn.bufwinid(list_buf) > 0 then
    api.nvim_set_current_win(vim.fn.bufwinid(list_buf))
    return draw_list()
  elseif #M.pending() == 0 then
    return message.note('no agent asks anything')
  end
  local from = api.nvim_get_current_win()
  vim.cmd('botright 12split')
  require('cursord.windows').back_to(from)
  list_buf = api.nvim_create_buf(false, true)
  api.nvim_win_set_buf(0, list_buf)
  vim.bo[list_buf].bufhidden, vim.bo[list_buf].filetype = 'wipe', 'cursordapprovals'
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    wrap = true,
    linebreak = true,
    winbar = "%{%v:lua.require'cursord.approvals'.winbar()%}",
    statusline = ' Cursor: what agents ask%=%l/%L ',
  }) do
    api.nvim_set_option_value(name, value, { win = 0, scope = 'local' })
  end
  keys.map(list_buf, {
    {
      'give this answer',
      '<CR>',
      'n',
      function()
        local line = list_lines[api.nvim_win_get_cursor(0)[1]]
        if line then
          choose(line)
        end
      end,
    },
    { 'close', 'q', 'n', '<C-w>c' },
    { 'these keys', 'g?', 'n', keys.help },
  })
  draw_list()
end

--- The approval that a key or a command answers, if the person has seen all of it.
--- @return cursord.Approval?
local function seen()
  local a = M.pending()[1]
  if not a then
    rpc.say('no agent asks anything')
  elseif not float or float.id ~= a.id or float.cut then
    rpc.say('read the whole question here, and answer with <CR>')
    M.open()
  elseif vim.uv.now() - float.since < settle then
    rpc.say('another question has just come: look at it first', vim.log.levels.WARN)
  else
    return a
  end
end

--- @param a cursord.Approval
--- @param kinds string[]
--- @return cursord.ApprovalOption?
local function of_kind(a, kinds)
  for _, kind in ipairs(kinds) do
    for _, option in ipairs(a.options) do
      if option.kind == kind then
        return option
      end
    end
  end
end

--- Answers the question on the screen: with yes, the number of an answer, or a text.
--- @param arg string
function M.approve(arg)
  local a = seen()
  if not a then
    return
  end
  local option = arg == '' and of_kind(a, { 'allowOnce' }) or a.options[tonumber(arg) or 0]
  if option then
    M.answer(a, option.id)
  elseif a.text and arg ~= '' and not tonumber(arg) then
    M.answer(a, '', arg)
  elseif arg ~= '' then
    local text = 'there is no answer %s: say a number from 1 to %d'
    rpc.say(text:format(arg, #a.options), vim.log.levels.WARN)
  else
    rpc.say('say which answer: :Cursord approve NUMBER', vim.log.levels.WARN)
  end
end

--- Says no to the question on the screen.
function M.deny()
  local a = seen()
  local option = a and of_kind(a, { 'rejectOnce', 'rejectAlways' })
  if option then
    M.answer(a --[[@as cursord.Approval]], option.id)
  elseif a then
    rpc.say('no answer here means no: :Cursord approve NUMBER, or cancel', vim.log.levels.WARN)
  end
end

workspace.on('approval', function(_, a, before)
  if a.status == 'pending' and not before then
    notify.away('The agent asks: ' .. (a.command or a.title))
  end
  refresh()
end)
workspace.on('reset', refresh)

api.nvim_create_autocmd({ 'TabEnter', 'VimResized', 'CmdwinLeave' }, {
  group = api.nvim_create_augroup('cursord_approvals', {}),
  callback = function()
    if #M.pending() > 0 then
      vim.schedule(refresh)
    end
  end,
})

return M
